internal import SyncModel

extension OperationContext {
    /// The object takes over the parts' files as they are: no byte is copied.
    func completeMultipartUpload() throws -> Answer {
        let callback = try Callback(request)
        try checkContentMD5()
        let listed = try listedParts()
        let (object, bucket, version) = try core.metadata.transaction { transaction in
            let upload = try self.upload(transaction, ec: "0042-00000305")
            let bucket = try self.bucket(transaction)
            let stored = try transaction.parts(upload.id, after: 0, limit: 10_000)
            let parts = try listed.map { try chosenParts($0, among: stored) } ?? stored
            try checkPartSizes(parts)
            try checkOverwrite(transaction, bucket: bucket)
            let object = assembled(upload, parts, try completedChecksum(upload, parts))
            let version = try transaction.publish(
                object,
                in: bucket,
                nowMilliseconds: core.nowMilliseconds
            )
            try transaction.deleteUpload(upload.id)
            return (object, bucket, version)
        }
        let headers = writtenHeaders(object.content, bucket: bucket, version: version)
        if let callback {
            return try callback.answer(self, object: object, headers: headers)
        }
        var xml = document("CompleteMultipartUploadResult")
        if wantsEncodedKeys { xml.element("EncodingType", "url") }
        let host = request.header("host") ?? "localhost"
        xml.element("Location", "http://\(host)/\(percentEncoded(key.bytes, keepingSlash: true))")
        xml.element("Bucket", bucketName)
        xml.element("Key", encodedForXML(key.bytes))
        xml.element("ETag", quoted(object.content.etag))
        for header in object.checksumHeaders {
            xml.element(Self.checksumElement(header.name), header.value)
        }
        return .xml(xml, headers: headers)
    }

    private struct ListedPart {
        let number: Int
        let etag: ETag
        let checksum: Checksum?
    }

    /// The parts of the body; nil if the header asks for all.
    private func listedParts() throws -> [ListedPart]? {
        if request.serviceHeader("complete-all") == "yes" {
            guard bodyBytes.isEmpty else {
                throw ServiceError.invalidArgument(
                    "Should not speficy both complete all header and http body.",
                    ec: "0042-00000216"
                )
            }
            return nil
        }
        let document = try bodyDocument(ec: "0042-00000205")
        guard document.name == "CompleteMultipartUpload" else {
            throw ServiceError.malformedXML("The root is not CompleteMultipartUpload.")
        }
        let parts = try document.all("Part").map { part in
            guard let text = part.first("PartNumber")?.text,
                let number = parseDecimal(text.utf8), (1...10_000).contains(number),
                let etag = part.first("ETag")?.text
            else {
                throw ServiceError.malformedXML("A part has no number or no ETag.")
            }
            let algorithm = ChecksumAlgorithm.allCases.first {
                part.first($0.elementName) != nil
            }
            let checksum = algorithm.flatMap { algorithm in
                part.first(algorithm.elementName).map {
                    Checksum(algorithm: algorithm, value: $0.text)
                }
            }
            return ListedPart(number: Int(number), etag: ETag(wire: etag), checksum: checksum)
        }
        for (previous, next) in zip(parts, parts.dropFirst()) where next.number <= previous.number {
            throw ServiceError(
                400,
                "InvalidPartOrder",
                "The list of parts was not in ascending order. Parts list must specified in order "
                    + "by part number.",
                details: [("PartNumber", String(next.number)), ("UploadId", uploadID)]
            )
        }
        guard dialect == .oss || !parts.isEmpty else {
            throw ServiceError.malformedXML("A completion has at least one part.")
        }
        return parts
    }

    private func chosenParts(
        _ listed: [ListedPart],
        among stored: [PartRecord]
    ) throws -> [PartRecord] {
        let byNumber = Dictionary(
            stored.map { ($0.number, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        return try listed.map { part in
            guard let found = byNumber[part.number], found.etag == part.etag.text.uppercased(),
                dialect == .oss || part.checksum == nil || part.checksum == found.checksum
            else {
                throw ServiceError(
                    400,
                    "InvalidPart",
                    "One or more of the specified parts could not be found or the specified "
                        + "entity tag might not have matched the part's entity tag.",
                    details: [
                        ("ETag", part.etag.quoted), ("PartNumber", String(part.number)),
                        ("UploadId", uploadID),
                    ]
                )
            }
            return found
        }
    }

    private func checkPartSizes(_ parts: [PartRecord]) throws {
        let minimum = dialect == .oss ? PartLayout.minimumPartSize : 5 << 20
        for part in parts.dropLast() where part.size < minimum {
            throw ServiceError(
                400,
                "EntityTooSmall",
                "Your proposed upload smaller than the minimum allowed size.",
                details: [
                    ("ETag", quoted(part.etag)),
                    ("MinSizeAllowed", String(minimum)),
                    ("ProposedSize", String(part.size)), ("PartNumber", String(part.number)),
                ]
            )
        }
    }

    private func assembled(
        _ upload: UploadRecord,
        _ parts: [PartRecord],
        _ checksum: (checksum: Checksum, type: String)?
    ) -> NewObject {
        var crc64 = CRC64()
        var size: Int64 = 0
        for part in parts {
            crc64 = crc64.combined(with: part.crc64, length: part.size)
            size += part.size
        }
        return NewObject(
            key: key,
            content: ObjectContent(
                size: size,
                etag: multipartETag(parts.map(\.etag), in: dialect),
                crc64: crc64,
                md5: nil
            ),
            segments: parts.filter { $0.size > 0 }
                .map { Segment(blob: $0.blob, offset: 0, length: $0.size) },
            kind: .multipart,
            storageClass: upload.storageClass,
            headers: upload.headers.filter { !$0.name.hasPrefix("x-amz-") }
                + (checksum.map { $0.checksum.headers(type: $0.type) } ?? [])
                + [ObjectParts(parts).stored],
            tagging: upload.tagging
        )
    }
}

/// The MD5 of the parts' tags one after the other, with their number: in OSS of their upper-case
/// text, in S3 of the bytes that they stand for.
func multipartETag(_ tags: [String], in dialect: Dialect) -> String {
    let text = [UInt8](tags.joined().utf8)
    let digest = Digests.md5(dialect == .oss ? text : hexadecimalBytes(text))
    return hexadecimal(digest, uppercase: true) + "-\(tags.count)"
}
