internal import SyncModel

/// The headers of a writing request that stay with the object.
extension OperationContext {
    private static let storedNames: Set<String> = [
        "content-type", "cache-control", "content-disposition", "content-encoding",
        "content-language", "expires",
    ]

    /// Sorted out of the request; without a type, the default one.
    func storedHeaders() throws -> [(name: String, value: String)] {
        var result: [(name: String, value: String)] = []
        var metadataSize = 0
        for header in request.headers {
            if header.name.hasPrefix("x-oss-meta-") {
                metadataSize += header.name.utf8.count - 11 + header.value.utf8.count
                result.append(header)
            } else if Self.storedNames.contains(header.name) {
                result.append(header)
            }
        }
        guard metadataSize <= 8_192 else {
            throw ServiceError(
                400,
                "MetadataTooLarge",
                "Your metadata headers exceed the maximum allowed metadata size."
            )
        }
        if !result.contains(where: { $0.name == "content-type" }) {
            result.append(("content-type", "application/octet-stream"))
        }
        return result
    }

    func storageClass() throws -> StorageClass {
        let name = request.header("x-oss-storage-class") ?? "Standard"
        let known = ["Standard", "IA", "Archive", "ColdArchive", "DeepColdArchive"]
        guard known.contains(name) else {
            throw ServiceError.invalidArgument(
                "The storage class you specified is invalid.",
                name: "x-oss-storage-class",
                value: name
            )
        }
        return StorageClass(name: name)
    }

    /// Writes know no conditions but `x-oss-forbid-overwrite`; the service refuses the others.
    func refuseConditions() throws {
        let names = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"]
        for name in names where request.header(name) != nil {
            throw ServiceError.notImplemented(header: name)
        }
    }

    /// Throws if the key exists and the request forbids to replace it.
    func checkOverwrite(_ transaction: Transaction, bucket: BucketRecord) throws {
        guard request.header("x-oss-forbid-overwrite") == "true", !bucket.hasVersions,
            try transaction.object(bucket.name, key, version: nil) != nil
        else { return }
        throw ServiceError.fileAlreadyExists(keyText)
    }

    /// The headers of an answer to a write.
    func writtenHeaders(
        _ content: ObjectContent,
        bucket: BucketRecord,
        version: String
    ) -> [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = [("ETag", "\"\(content.etag)\"")]
        if let md5 = content.md5 { headers.append(("Content-MD5", md5)) }
        if let crc64 = content.crc64 {
            headers.append(("x-oss-hash-crc64ecma", String(crc64.value)))
        }
        if bucket.hasVersions { headers.append(("x-oss-version-id", version)) }
        return headers
    }
}
