extension OperationContext {
    func listBuckets() throws -> Answer {
        let buckets = try core.metadata.withDatabase { try $0.buckets() }
        var xml = document("ListAllMyBucketsResult")
        if dialect == .oss { xml.element("IsTruncated", "false") }
        xml.group("Owner") { xml in owner(&xml) }
        xml.group("Buckets") { xml in
            for bucket in buckets {
                xml.group("Bucket") { xml in
                    xml.element("Name", bucket.name)
                    guard dialect == .oss else {
                        xml.element("CreationDate", xmlTime(bucket.createdMilliseconds))
                        return
                    }
                    xml.element("Location", "oss-" + core.configuration.region)
                    xml.element("Region", core.configuration.region)
                    xml.element("CreationDate", xmlTime(bucket.createdMilliseconds))
                    xml.element("StorageClass", "Standard")
                    endpoints(&xml)
                }
            }
        }
        return .xml(xml)
    }

    func putBucket() throws -> Answer {
        guard isValidBucketName(bucketName) else { throw invalidBucketName(bucketName) }
        try core.metadata.transaction { transaction in
            if dialect == .s3, try transaction.bucket(bucketName) != nil {
                throw ServiceError(
                    409,
                    "BucketAlreadyOwnedByYou",
                    "Your previous request to create the named bucket succeeded and you already "
                        + "own it.",
                    details: [("BucketName", bucketName)]
                )
            }
            try transaction.createBucket(bucketName, nowMilliseconds: core.nowMilliseconds)
        }
        return Answer(200, headers: [("Location", "/" + bucketName)])
    }

    func deleteBucket() throws -> Answer {
        try core.metadata.transaction { transaction in
            _ = try bucket(transaction)
            try transaction.deleteBucket(bucketName)
        }
        return Answer(204)
    }

    func getBucketInfo() throws -> Answer {
        let bucket = try core.metadata.withDatabase { try self.bucket($0) }
        var xml = document("BucketInfo")
        xml.group("Bucket") { xml in
            xml.element("AccessMonitor", "Disabled")
            xml.element("CreationDate", xmlTime(bucket.createdMilliseconds))
            endpoints(&xml)
            xml.element("Location", "oss-" + core.configuration.region)
            xml.element("StorageClass", "Standard")
            xml.element("TransferAcceleration", "Disabled")
            xml.element("CrossRegionReplication", "Disabled")
            xml.element("DataRedundancyType", "LRS")
            xml.element("Name", bucket.name)
            xml.element("ResourceGroupId", "")
            if let status = bucket.versioning { xml.element("Versioning", status) }
            xml.group("Owner") { xml in owner(&xml) }
            xml.group("AccessControlList") { xml in xml.element("Grant", "private") }
            xml.group("ServerSideEncryptionRule") { xml in xml.element("SSEAlgorithm", "None") }
            xml.group("BucketPolicy") { xml in
                xml.element("LogBucket", "")
                xml.element("LogPrefix", "")
            }
            xml.element("BlockPublicAccess", "false")
        }
        return .xml(xml)
    }

    func getBucketLocation() throws -> Answer {
        _ = try core.metadata.withDatabase { try bucket($0) }
        guard dialect == .oss else { return s3Location() }
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <LocationConstraint>oss-\(core.configuration.region)</LocationConstraint>

            """
        return Answer(
            200,
            headers: [("Content-Type", "application/xml")],
            body: .bytes([UInt8](text.utf8))
        )
    }

    func getBucketVersioning() throws -> Answer {
        let bucket = try core.metadata.withDatabase { try self.bucket($0) }
        var xml = document("VersioningConfiguration")
        if let status = bucket.versioning { xml.element("Status", status) }
        return .xml(xml)
    }

    func putBucketVersioning() throws -> Answer {
        let status = try bodyDocument(ec: "0016-00000609").first("Status")?.text ?? ""
        guard status == "Enabled" || status == "Suspended" else {
            throw ServiceError.malformedXML("The status is Enabled or Suspended.")
        }
        try core.metadata.transaction { transaction in
            _ = try bucket(transaction)
            try transaction.setVersioning(status, of: bucketName)
        }
        return Answer(200)
    }

    func owner(_ xml: inout XMLWriter) {
        xml.element("ID", "0022012")
        xml.element("DisplayName", "0022012")
    }

    private func endpoints(_ xml: inout XMLWriter) {
        let region = core.configuration.region
        xml.element("ExtranetEndpoint", "oss-\(region).aliyuncs.com")
        xml.element("IntranetEndpoint", "oss-\(region)-internal.aliyuncs.com")
    }
}

func invalidBucketName(_ name: String) -> ServiceError {
    ServiceError(
        400,
        "InvalidBucketName",
        "The specified bucket is not valid.",
        ec: "0015-00000001",
        details: [("BucketName", name)]
    )
}
