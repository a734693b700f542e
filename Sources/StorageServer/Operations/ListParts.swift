internal import SyncModel

extension OperationContext {
    func listParts() throws -> Answer {
        try checkEncodingType()
        let limit = try number("max-parts", default: 1_000, in: 1...1_000)
        let marker = try number("part-number-marker", default: 0, in: 0...10_000)
        let (upload, parts) = try core.metadata.transaction { transaction in
            let upload = try self.upload(transaction, ec: "0042-00000104")
            return (upload, try transaction.parts(upload.id, after: marker, limit: limit + 1))
        }
        let page = parts.prefix(limit)
        var xml = document("ListPartsResult")
        if wantsEncodedKeys { xml.element("EncodingType", "url") }
        xml.element("Bucket", bucketName)
        xml.element("Key", encodedForXML(key.bytes))
        xml.element("UploadId", upload.id)
        xml.element("StorageClass", StorageClassNames.shown(upload.storageClass.name, in: dialect))
        xml.element("PartNumberMarker", String(marker))
        xml.element(
            "NextPartNumberMarker",
            page.last.map { String($0.number) } ?? (dialect == .oss ? "" : "0")
        )
        xml.element("MaxParts", String(limit))
        xml.element("IsTruncated", parts.count > limit ? "true" : "false")
        if dialect == .s3, let plan = upload.checksumPlan {
            xml.element("ChecksumAlgorithm", plan.algorithm.rawValue.uppercased())
            xml.element("ChecksumType", plan.isComposite ? "COMPOSITE" : "FULL_OBJECT")
        }
        for part in page {
            xml.group("Part") { xml in
                xml.element("PartNumber", String(part.number))
                xml.element("LastModified", xmlTime(part.modifiedMilliseconds))
                xml.element("ETag", quoted(part.etag))
                if dialect == .oss { xml.element("HashCrc64ecma", String(part.crc64.value)) }
                xml.element("Size", String(part.size))
                guard dialect == .s3, let checksum = part.checksum else { return }
                xml.element(checksum.algorithm.elementName, checksum.value)
            }
        }
        return .xml(xml)
    }

    func listMultipartUploads() throws -> Answer {
        try checkEncodingType()
        let limit = try number("max-uploads", default: 1_000, in: 1...1_000)
        let prefix = [UInt8]((request.parameter("prefix") ?? "").utf8)
        let delimiter = [UInt8]((request.parameter("delimiter") ?? "").utf8)
        let keyMarker = [UInt8]((request.parameter("key-marker") ?? "").utf8)
        let idMarker = request.parameter("upload-id-marker") ?? ""
        let uploads = try core.metadata.transaction { transaction in
            _ = try bucket(transaction)
            // Without an id, everything of the marker's key was listed.
            var position = (key: keyMarker, sequence: keyMarker.isEmpty ? -1 : Int64.max)
            if !idMarker.isEmpty,
                let last = try transaction.upload(bucketName, ObjectKey(keyMarker), id: idMarker)
            {
                position.sequence = last.sequence
            }
            return try transaction.uploads(
                bucketName,
                after: position.key,
                sequence: position.sequence,
                limit: 100_000
            )
        }
        var entries = GroupedEntries<UploadRecord>(
            prefix: prefix,
            delimiter: delimiter,
            limit: limit
        )
        for upload in uploads {
            guard entries.add(upload, key: upload.key.bytes) else { break }
        }
        return .xml(document(entries, limit: limit, keyMarker: keyMarker, idMarker: idMarker))
    }

    private func document(
        _ entries: GroupedEntries<UploadRecord>,
        limit: Int,
        keyMarker: [UInt8],
        idMarker: String
    ) -> XMLWriter {
        var xml = document("ListMultipartUploadsResult")
        if wantsEncodedKeys { xml.element("EncodingType", "url") }
        xml.element("Bucket", bucketName)
        xml.element("KeyMarker", encodedForXML(keyMarker))
        xml.element("UploadIdMarker", idMarker)
        let last = entries.items.last
        xml.element("NextKeyMarker", encodedForXML(last?.key.bytes ?? []))
        xml.element("NextUploadIdMarker", last?.id ?? "")
        optionalElement("Delimiter", encodedForXML(entries.delimiter), in: &xml)
        xml.element("Prefix", encodedForXML(entries.prefix))
        xml.element("MaxUploads", String(limit))
        xml.element("IsTruncated", entries.isTruncated ? "true" : "false")
        for upload in entries.items {
            xml.group("Upload") { xml in
                xml.element("Key", encodedForXML(upload.key.bytes))
                xml.element("UploadId", upload.id)
                xml.element(
                    "StorageClass",
                    StorageClassNames.shown(upload.storageClass.name, in: dialect)
                )
                xml.element("Initiated", xmlTime(upload.initiatedMilliseconds))
            }
        }
        for prefix in entries.commonPrefixes {
            xml.group("CommonPrefixes") { $0.element("Prefix", encodedForXML(prefix)) }
        }
        return xml
    }
}
