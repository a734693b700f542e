internal import SyncModel

extension OperationContext {
    /// What S3's listings say of an object besides its time and tag.
    func describeInS3(_ object: ObjectRecord, in xml: inout XMLWriter) {
        if let kind = object.checksumKind {
            xml.element("ChecksumAlgorithm", kind.algorithm.rawValue.uppercased())
            xml.element("ChecksumType", kind.type)
        }
        xml.element("Size", String(object.content.size))
        xml.element("StorageClass", StorageClassNames.shown(object.storageClass.name, in: .s3))
        let attributes = request.header("x-amz-optional-object-attributes") ?? ""
        guard attributes.split(separator: ",").contains(where: { $0 == "RestoreStatus" }),
            object.storageClass.isArchived, let restore = object.restore
        else { return }
        xml.group("RestoreStatus") { xml in
            xml.element("IsRestoreInProgress", restore.pollsLeft > 0 ? "true" : "false")
            guard restore.pollsLeft == 0 else { return }
            xml.element("RestoreExpiryDate", xmlTime(restore.expiryMilliseconds))
        }
    }

    func headBucket() throws -> Answer {
        _ = try core.metadata.withDatabase { try bucket($0) }
        return Answer(200, headers: [("x-amz-bucket-region", core.configuration.region)])
    }

    /// The region as the root's text, which the first region of all does not have.
    func s3Location() -> Answer {
        let region = core.configuration.region
        let namespace = dialect.namespace ?? ""
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <LocationConstraint xmlns="\(namespace)">\(region == "us-east-1" ? "" : region)\
            </LocationConstraint>

            """
        return Answer(
            200,
            headers: [("Content-Type", "application/xml")],
            body: .bytes([UInt8](text.utf8))
        )
    }

    /// Why one key of many is not deleted, in S3.
    func refusal(
        _ transaction: Transaction,
        _ key: ObjectKey,
        version: String?
    ) throws -> ServiceError? {
        guard dialect == .s3 else { return nil }
        if key.bytes.isEmpty {
            return ServiceError(400, "UserKeyMustBeSpecified", "The key must not be empty.")
        }
        if key.bytes.count > dialect.maximumKeyLength { return .keyTooLong(key.bytes.count) }
        guard let version, try transaction.object(bucketName, key, version: version) == nil else {
            return nil
        }
        return .noSuchVersion(String(decoding: key.bytes, as: UTF8.self), version)
    }

    func append(
        _ failure: ServiceError,
        _ key: ObjectKey,
        version: String?,
        to xml: inout XMLWriter
    ) {
        xml.group("Error") { xml in
            xml.element("Key", key.bytes)
            if let version { xml.element("VersionId", version) }
            xml.element("Code", failure.code)
            xml.element("Message", failure.message)
        }
    }
}
