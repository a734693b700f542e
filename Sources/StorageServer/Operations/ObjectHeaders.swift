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
            let prefix = dialect.headerPrefix + "meta-"
            if header.name.hasPrefix(prefix) {
                metadataSize += header.name.utf8.count - 11 + header.value.utf8.count
                // One name for both services.
                result.append(
                    ("x-oss-meta-" + header.name.dropFirst(prefix.utf8.count), header.value)
                )
            } else if header.name == "content-encoding", dialect == .s3 {
                let codings = header.value.split(separator: ",")
                    .map { $0.filter { $0 != " " } }.filter { $0 != "aws-chunked" }
                if !codings.isEmpty {
                    result.append((header.name, codings.joined(separator: ", ")))
                }
            } else if Self.storedNames.contains(header.name) {
                result.append(header)
            }
        }
        guard metadataSize <= dialect.maximumMetadataSize else {
            throw ServiceError(
                400,
                "MetadataTooLarge",
                "Your metadata headers exceed the maximum allowed metadata size."
            )
        }
        if !result.contains(where: { $0.name == "content-type" }) {
            result.append(("content-type", dialect.defaultContentType))
        }
        return result
    }

    func storageClass() throws -> StorageClass {
        guard let name = request.serviceHeader("storage-class") else { return .standard }
        guard let stored = StorageClassNames.stored(name, in: dialect) else {
            guard dialect == .oss else {
                throw ServiceError(
                    400,
                    "InvalidStorageClass",
                    "The storage class you specified is not valid"
                )
            }
            throw ServiceError.invalidArgument(
                "The storage class you specified is invalid.",
                name: "x-oss-storage-class",
                value: name
            )
        }
        return StorageClass(name: stored)
    }

    /// In OSS, writes know no conditions but `x-oss-forbid-overwrite`; the service refuses the
    /// others.
    func refuseConditions() throws {
        guard dialect == .oss else { return }
        let names = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"]
        for name in names where request.header(name) != nil {
            throw ServiceError.notImplemented(header: name)
        }
    }

    /// Throws if the key exists and the request forbids to replace it, or what is to be replaced
    /// is another version.
    func checkOverwrite(_ transaction: Transaction, bucket: BucketRecord) throws {
        guard dialect == .oss else {
            return try checkWriteConditions(transaction, bucket: bucket)
        }
        guard request.serviceHeader("forbid-overwrite") == "true", !bucket.hasVersions,
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
