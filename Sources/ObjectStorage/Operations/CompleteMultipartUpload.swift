package import SyncModel

package struct CompleteRequest: Sendable {
    package var key: ObjectKey
    package var upload: UploadID
    /// By ascending number.
    package var parts: [UploadedPart]
    package var forbidsOverwrite: Bool
    /// It is unknown whether the object exists: if the service does not support conditions, a HEAD
    /// request checks first.
    package var existenceIsUnknown = false
    /// The version that is replaced; any other is an error if the service supports the check.
    package var replaced: ETag?
    package var callback: UploadCallback?
    package var accessControl: String?

    package init(
        key: ObjectKey,
        upload: UploadID,
        parts: [UploadedPart],
        forbidsOverwrite: Bool = false,
        replaced: ETag? = nil,
        callback: UploadCallback? = nil
    ) {
        self.key = key
        self.upload = upload
        self.parts = parts
        self.forbidsOverwrite = forbidsOverwrite
        self.replaced = replaced
        self.callback = callback
    }
}

extension StorageClient {
    package func completeMultipartUpload(
        _ request: CompleteRequest
    ) async throws(StorageError) -> PutResult {
        var wire = StorageRequest("CompleteMultipartUpload", .post, request.key)
        wire.query = [("uploadId", request.upload.text)] + documentEncoding
        wire.headers = [("content-type", "application/xml")]
        wire.headers += callbackHeaders(request.callback)
        if dialect.isOSS { wire.headers += accessControlHeaders(request.accessControl) }
        guard !request.parts.isEmpty,
            zip(request.parts, request.parts.dropFirst()).allSatisfy({ $0.number < $1.number })
        else { throw wire.failure(.invalidRequest("an upload has parts with ascending numbers")) }
        wire.body = .bytes(encodeCompleteUpload(request.parts))
        wire.isRepeatable = false
        wire.replaced = request.replaced.map { etag in
            ReplacedVersion(etag: etag, keepsMetadata: false, keepsType: false)
        }
        wire.isSlow = true
        let result = try await conditionally(
            wire,
            forbidsOverwrite: request.forbidsOverwrite,
            existenceIsUnknown: request.existenceIsUnknown,
            replaced: request.replaced
        ) { (wire) throws(StorageError) in
            try await self.complete(wire, hasCallback: request.callback != nil)
        }
        partChecksums.remove(request.upload)
        return result
    }

    private func complete(
        _ completing: StorageRequest,
        hasCallback: Bool
    ) async throws(StorageError) -> PutResult {
        var wire = completing
        return try await repeating(isRepeatable: false) { (context) throws(StorageError) in
            try await self.inspect(&wire, &context)
            let response = try await self.send(completing, &context)
            guard !hasCallback, response.head.status != callbackFailureStatus else {
                return try self.result(completing, response, sent: nil, hasCallback: true)
            }
            let document = try completing.decoding(response, self) { (body) throws(XMLFailure) in
                try decodeCompleteUpload(body, style: self.dialect.keyEncoding)
            }
            return PutResult(
                etag: document.etag,
                crc64: self.dialect.checksum(response.head),
                versionID: self.dialect.versionID(response.head),
                requestID: self.dialect.requestID(response.head)
            )
        }
    }
}
