internal import SyncModel

extension OperationContext {
    func appendObject() throws -> Answer {
        let key = try checkedKey()
        guard let text = request.parameter("position") else {
            throw ServiceError(
                400,
                "MissingArgument",
                "Missing Some Required Arguments.",
                details: [("ArgumentName", "position")]
            )
        }
        guard let position = parseDecimal(text.utf8) else {
            throw ServiceError.invalidArgument(
                "The position must be a whole number.",
                name: "position",
                value: text
            )
        }
        try checkContentMD5()
        let blob = try receivedBlob()
        let headers = try storedHeaders()
        let storageClass = try storageClass()
        let (content, bucket, version) = try core.metadata.transaction { transaction in
            let bucket = try self.bucket(transaction)
            let found = try transaction.object(bucket.name, key, version: nil)
            let existing = found?.isMarker == true ? nil : found
            try checkAppend(existing, position: position)
            let old = existing?.content ?? .none
            let crc64 = (old.crc64 ?? CRC64()).combined(with: blob.crc64, length: blob.size)
            let etag = hexadecimal(
                Digests.md5([UInt8]("\(old.etag)/\(blob.id)".utf8)),
                uppercase: true
            )
            let content = ObjectContent(
                size: old.size + blob.size,
                etag: etag,
                crc64: crc64,
                md5: nil
            )
            let segments = try existing.map { try transaction.segments(of: $0) } ?? []
            let version = try transaction.publish(
                NewObject(
                    key: key,
                    content: content,
                    segments: segments + blob.segments,
                    kind: .appendable,
                    storageClass: existing?.storageClass ?? storageClass,
                    headers: existing?.headers ?? headers
                ),
                in: bucket,
                nowMilliseconds: core.nowMilliseconds
            )
            return (content, bucket, version)
        }
        var answer = writtenHeaders(content, bucket: bucket, version: version)
        answer.append(("x-oss-next-append-position", String(content.size)))
        return Answer(200, headers: answer)
    }

    private func checkAppend(_ existing: ObjectRecord?, position: Int64) throws {
        if let existing, existing.kind != .appendable {
            throw ServiceError(
                409,
                "ObjectNotAppendable",
                "The object is not appendable",
                details: [("Key", keyText)]
            )
        }
        let length = existing?.content.size ?? 0
        guard position != length else { return }
        var error = ServiceError(
            409,
            "PositionNotEqualToLength",
            "Position is not equal to file length",
            ec: "0026-00000016"
        )
        error.headers = [
            ("x-oss-next-append-position", String(length)),
            ("x-oss-object-type", "Appendable"),
        ]
        throw error
    }
}
