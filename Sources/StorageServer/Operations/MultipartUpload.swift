internal import SyncModel

extension OperationContext {
    func initiateMultipartUpload() throws -> Answer {
        let key = try checkedKey()
        let id = hexadecimal((0..<16).map { _ in UInt8.random(in: 0...255) }, uppercase: true)
        let object = NewObject(
            key: key,
            content: .none,
            segments: [],
            kind: .multipart,
            storageClass: try storageClass(),
            headers: try storedHeaders() + (try announcedChecksum()),
            tagging: request.serviceHeader("tagging")
        )
        try core.metadata.transaction { transaction in
            let bucket = try self.bucket(transaction)
            try checkOverwrite(transaction, bucket: bucket)
            try transaction.createUpload(
                id,
                in: bucket.name,
                object,
                isSequential: request.hasParameter("sequential"),
                nowMilliseconds: core.nowMilliseconds
            )
        }
        var xml = document("InitiateMultipartUploadResult")
        if wantsEncodedKeys { xml.element("EncodingType", "url") }
        xml.element("Bucket", bucketName)
        xml.element("Key", encodedForXML(key.bytes))
        xml.element("UploadId", id)
        return .xml(xml, headers: object.checksumHeaders)
    }

    func uploadPart() throws -> Answer {
        let number = try partNumber()
        try checkContentMD5()
        let blob = try receivedBlob()
        try storePart(number, blob, ec: "0042-00000104") { try checkPartChecksum($0) }
        return Answer(
            200,
            headers: [
                ("ETag", "\"\(hexadecimal(blob.md5, uppercase: true))\""),
                ("Content-MD5", Base64.encode(blob.md5)),
                ("x-oss-hash-crc64ecma", String(blob.crc64.value)),
            ] + (checksum.map { [($0.algorithm.headerName, $0.value)] } ?? [])
        )
    }

    /// In OSS a range that exceeds the source is ignored, as the service does: all of it is copied.
    func uploadPartCopy() throws -> Answer {
        let number = try partNumber()
        let source = try CopySource(request)
        let (object, content) = try core.metadata.transaction { transaction in
            _ = try upload(transaction, ec: "0042-00000311")
            let object = try copied(transaction, source)
            return (object, try transaction.pin(object))
        }
        let size = object.content.size
        var range = ByteRange(offset: 0, length: size)
        if let header = request.serviceHeader("copy-source-range") {
            if case .fromTo(let first, let last) = RangeRequest(header), first <= last, last < size
            {
                range = ByteRange(offset: first, length: last - first + 1)
            } else if dialect == .s3 {
                throw ServiceError.invalidArgument(
                    "Range specified is not valid for source object of size: \(size)",
                    name: "x-amz-copy-source-range",
                    value: header
                )
            }
        }
        let writer = try core.metadata.blobs.makeWriter()
        try unsafe content.forEachChunk(of: range) { try unsafe writer.append($0) }
        let blob = writer.finish()
        do {
            try storePart(number, blob, ec: "0042-00000311") { _ in }
        } catch {
            core.metadata.blobs.remove([blob.id])
            throw error
        }
        var xml = document("CopyPartResult")
        xml.element("LastModified", xmlTime(core.nowMilliseconds))
        let etag = quoted(hexadecimal(blob.md5, uppercase: true))
        xml.element("ETag", etag)
        // The classic SDK takes it from the header.
        return .xml(xml, headers: [("ETag", etag)])
    }

    func abortMultipartUpload() throws -> Answer {
        try core.metadata.transaction { transaction in
            let upload = try self.upload(transaction, ec: "0042-00000002")
            try transaction.deleteUpload(upload.id)
        }
        return Answer(204)
    }

    // MARK: - Shared

    var uploadID: String { request.parameter("uploadId") ?? "" }

    func upload(_ transaction: Transaction, ec: String) throws -> UploadRecord {
        let bucket = try self.bucket(transaction)
        guard let upload = try transaction.upload(bucket.name, key, id: uploadID) else {
            throw ServiceError.noSuchUpload(uploadID, ec: ec)
        }
        return upload
    }

    private func partNumber() throws -> Int {
        let text = request.parameter("partNumber") ?? ""
        guard let value = parseDecimal(text.utf8), (1...10_000).contains(value) else {
            throw ServiceError.invalidArgument(
                "Part number must be an integer between 1 and 10000, inclusive.",
                name: "partNumber",
                value: text
            )
        }
        return Int(value)
    }

    private func storePart(
        _ number: Int,
        _ blob: StoredBlob,
        ec: String,
        check: (UploadRecord) throws -> Void
    ) throws {
        try core.metadata.transaction { transaction in
            let upload = try self.upload(transaction, ec: ec)
            try check(upload)
            if upload.isSequential {
                let last = try transaction.parts(upload.id, after: 0, limit: 10_000).last
                guard number == (last?.number ?? 0) + 1 else {
                    throw ServiceError(
                        409,
                        "PartNotSequential",
                        "The part number is not the next one.",
                        details: [("PartNumber", String(number))]
                    )
                }
            }
            try transaction.storePart(
                number,
                blob,
                checksum: checksum,
                of: upload.id,
                nowMilliseconds: core.nowMilliseconds
            )
        }
    }
}
