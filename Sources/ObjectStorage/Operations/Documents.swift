internal import SyncModel

extension StorageRequest {
    /// Decodes the document that a response must be.
    ///
    /// An error document in place of a result is that error, regardless of the status.
    func decoding<Value>(
        _ response: HTTPResponse,
        _ client: StorageClient,
        _ decode: ([UInt8]) throws(XMLFailure) -> Value
    ) throws(StorageError) -> Value {
        do throws(XMLFailure) {
            return try decode(response.body)
        } catch {
            if case .errorDocument(let document) = error {
                throw failure(
                    document,
                    status: response.head.status,
                    head: response.head,
                    fallbackCode: "",
                    dialect: client.dialect,
                    region: client.endpoint.region,
                    now: client.environment.now()
                )
            }
            throw failure(.protocolViolation(error.message), head: response.head)
        }
    }

    /// The ETag that a response must have.
    func etag(_ head: ResponseHead) throws(StorageError) -> ETag {
        guard let text = head["etag"], !text.isEmpty else {
            throw failure(.protocolViolation("the answer has no ETag"), head: head)
        }
        let etag = ETag(wire: text)
        guard etag.isUsable else {
            throw failure(.protocolViolation("the answer's ETag is too long"), head: head)
        }
        return etag
    }
}

extension StorageClient {
    /// Asks for encoded keys in the answers that are no listings.
    package var documentEncoding: [(String, String)] {
        dialect.encodesAllDocuments ? [("encoding-type", "url")] : []
    }
}

extension StorageDialect {
    func checksum(_ head: ResponseHead) -> CRC64? {
        // A value that is not a number is not a checksum, and must not become 0.
        head[checksumHeader].flatMap { parseUnsignedDecimal($0.utf8) }.map { CRC64(value: $0) }
    }

    /// Checksums of S3, of the whole object and of its parts' checksums: the values of those end in
    /// the parts' number.
    func checksums(_ head: ResponseHead) -> (whole: [String: String], parts: [String: String]) {
        guard checksumMode != nil else { return ([:], [:]) }
        var (whole, parts): ([String: String], [String: String]) = ([:], [:])
        for name in ["sha256", "crc64nvme", "sha1", "crc32c", "crc32"] {
            guard let value = head[headerPrefix, "checksum-" + name] else { continue }
            if value.utf8.contains(UInt8(ascii: "-")) {
                parts[name] = value
            } else {
                whole[name] = value
            }
        }
        // Without the parts' number it is of neither.
        return head[headerPrefix, "checksum-type"] == "COMPOSITE" ? ([:], parts) : (whole, parts)
    }

    /// True if the ETag is not the MD5 of the content even where it looks like one.
    func isEncrypted(_ head: ResponseHead) -> Bool {
        let method = head[headerPrefix, "server-side-encryption"]
        return method.map { $0 != "AES256" } ?? false
            || head[headerPrefix, "server-side-encryption-customer-algorithm"] != nil
    }

    func versionID(_ head: ResponseHead) -> VersionID? {
        head[headerPrefix, "version-id"].map { VersionID($0) }
    }

    func requestID(_ head: ResponseHead) -> String? {
        head[headerPrefix, "request-id"].map(shownRequestID(_:))
    }
}
