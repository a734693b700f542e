public import OSSTransfer
internal import ObjectStorage
internal import SyncModel

extension BucketClient {
    /// A method that a signed URL can allow.
    @nonexhaustive
    public enum Method: Sendable, Hashable {
        /// Reads the object or a range of it.
        case get
        /// Asks for the object's headers; a URL for `get` does not allow it.
        case head
        /// Writes the object.
        case put
        /// Deletes the object.
        case delete

        var wire: HTTPMethod {
            switch self {
            case .get: .get
            case .head: .head
            case .put: .put
            case .delete: .delete
            }
        }
    }

    /// A URL that allows its holder one kind of request until `lifetime` has passed.
    ///
    /// No request is made, except to the source of credentials.
    ///
    /// - Parameters:
    ///   - method: What is allowed.
    ///   - key: The whole key of the one object it is allowed for.
    ///   - lifetime: 1 s to 7 days; with temporary keys at most 12 hours, and never longer than the
    ///     keys live.
    ///   - query: More query parameters by name, such as `response-content-type`; they are signed.
    ///   - headers: Headers by name that the request must then have, with exactly these values.
    /// - Returns: The whole URL; it grants the permission to anyone who has it.
    /// - Throws: `TransferError`: `configuration` for a lifetime out of bounds, `credentials` if
    ///   there are none.
    public func presignedURL(
        _ method: Method,
        key: String,
        lifetime: Duration,
        query: [String: String] = [:],
        headers: [String: String] = [:]
    ) async throws(TransferError) -> String {
        try await call { () throws(StorageError) in
            try await store.presignedURL(
                method: method.wire,
                key: ObjectKey(key),
                query: query.sorted { $0.key < $1.key },
                headers: headers.sorted { $0.key < $1.key },
                expires: lifetime
            )
        }
    }

    /// Signs a request of an upload for a device that has no keys.
    ///
    /// No request is made, except to the source of credentials. The method and the query follow
    /// from the operation; nothing else can be had by it. Before, the app's server has to decide
    /// whether this device may write this key, and with these headers: they are the device's own
    /// words, and so is the length of the body.
    ///
    /// - Parameters:
    ///   - request: What the device asks for.
    ///   - lifetime: 1 s to 7 days; with temporary keys at most 12 hours, and never longer than the
    ///     keys live. A few minutes are enough: it counts when the request begins.
    /// - Returns: What the device sends, with the headers of the request.
    /// - Throws: `TransferError`: `configuration` for a lifetime out of bounds and for a request
    ///   that lacks what its operation needs; `credentials` if there are none.
    public func sign(
        _ request: UploadRequest,
        lifetime: Duration
    ) async throws(TransferError) -> SignedRequest {
        let query = try request.query(store.documentEncoding)
        let url = try await call { () throws(StorageError) in
            try await store.presignedURL(
                method: request.operation.method,
                key: ObjectKey(request.key),
                query: query,
                headers: request.headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) },
                expires: lifetime
            )
        }
        return SignedRequest(url: url, headers: request.headers)
    }
}

extension UploadRequest.Operation {
    fileprivate var method: HTTPMethod {
        switch self {
        case .put, .uploadPart: .put
        case .initiate, .complete: .post
        case .listParts: .get
        case .abort: .delete
        case .head: .head
        }
    }

    fileprivate var needsUpload: Bool {
        switch self {
        case .uploadPart, .listParts, .complete, .abort: true
        case .put, .initiate, .head: false
        }
    }
}

extension UploadRequest {
    /// What the URL says beside the key; `encoding` asks for encoded keys in answers.
    fileprivate func query(_ encoding: [(String, String)]) throws(TransferError) -> [(
        String, String
    )] {
        guard operation.needsUpload == (uploadID?.isEmpty == false),
            (operation == .uploadPart) == (partNumber != nil)
        else {
            throw TransferError(
                code: .configuration,
                message: "a request for \(operation.rawValue) must have the id of its upload and "
                    + "the number of its part if the operation needs them, and otherwise neither"
            )
        }
        let upload = uploadID.map { [("uploadId", $0)] } ?? []
        switch operation {
        case .put, .head: return []
        case .initiate: return [("uploads", "")] + encoding
        case .uploadPart: return upload + [("partNumber", String(partNumber ?? 0))]
        case .listParts:
            let marker = partNumberMarker.map { [("part-number-marker", String($0))] } ?? []
            return upload + [("max-parts", "1000")] + marker + encoding
        case .complete: return upload + encoding
        case .abort: return upload
        }
    }
}
