package import SyncModel
internal import Synchronization

/// What is written with an object, by PutObject or by InitiateMultipartUpload.
package struct PutRequest: Sendable {
    package var key: ObjectKey
    /// Nil: the service's default.
    package var contentType: String?
    /// Names without the dialect's prefix; values in ASCII, not empty.
    package var userMetadata: [(name: String, value: String)]
    /// Nil: the bucket's own.
    package var storageClass: StorageClass?
    /// Headers of HTTP that are stored with the object, by names in lower case.
    package var contentHeaders: [(name: String, value: String)] = []
    package var tags: [(name: String, value: String)] = []
    package var encryption: ObjectProperties.Encryption?
    package var accessControl: String?
    /// True if the type was chosen, and not guessed: it replaces that of an older version.
    package var hasChosenType = false
    /// An object that exists already is an error.
    package var forbidsOverwrite: Bool
    /// It is unknown whether the object exists: if the service does not support conditions, a HEAD
    /// request checks first.
    package var existenceIsUnknown = false
    /// The version that is replaced; any other is an error if the service supports the check.
    package var replaced: ETag?
    /// What other tools put on the replaced version stays.
    package var keepsMetadata = false
    /// The object whose metadata a copy takes over beside these.
    package var source: ObjectMetadata?
    package var callback: UploadCallback?
    /// A multipart upload's parts get a CRC-32C each, if the store supports it.
    package var asksForPartChecksums = false

    package init(
        key: ObjectKey,
        contentType: String? = nil,
        userMetadata: [(name: String, value: String)] = [],
        storageClass: StorageClass? = nil,
        forbidsOverwrite: Bool = false,
        replaced: ETag? = nil,
        callback: UploadCallback? = nil
    ) {
        self.key = key
        self.contentType = contentType
        self.userMetadata = userMetadata
        self.storageClass = storageClass
        self.forbidsOverwrite = forbidsOverwrite
        self.replaced = replaced
        self.callback = callback
    }
}

/// A request that OSS makes to another server once the object is stored.
package struct UploadCallback: Sendable, Hashable {
    /// The value of `x-oss-callback`: a JSON document, not yet in Base64.
    package var parameters: String
    /// The value of `x-oss-callback-var`: a JSON document, not yet in Base64.
    package var variables: String?

    package init(parameters: String, variables: String? = nil) {
        self.parameters = parameters
        self.variables = variables
    }
}

extension PutRequest {
    var replacedVersion: ReplacedVersion? {
        replaced.map { etag in
            ReplacedVersion(
                etag: etag,
                keepsMetadata: keepsMetadata,
                keepsType: !hasChosenType
            )
        }
    }
}

package struct PutResult: Sendable, Hashable {
    package var etag: ETag
    /// The server's, of the whole object; for a put it was already compared with ours.
    package var crc64: CRC64?
    /// Of what was sent; nil if nothing was.
    package var sentChecksum: CRC64?
    package var versionID: VersionID?
    /// What the callback's server answered.
    package var callbackBody: [UInt8]?
    /// The object is stored, but its callback failed: what the service said of it.
    package var callbackFailure: String?
    package var requestID: String?
    /// When the object was written: by the answer's own words, or else by its date, which may be a
    /// moment later.
    package var lastModified: Timestamp?
}

/// The object is stored, and the callback that its upload asked for failed.
let callbackFailureStatus = 203

extension StorageClient {
    package func put(
        _ request: PutRequest,
        body: RequestBody,
        onProgress: @escaping @Sendable (Int) -> Void
    ) async throws(StorageError) -> PutResult {
        var wire = StorageRequest("PutObject", .put, request.key)
        wire.headers =
            objectHeaders(request) + accessControlHeaders(request.accessControl)
            + callbackHeaders(request.callback)
        wire.body = body
        wire.replaced = request.replacedVersion
        if let digest = try await bodyDigest(of: wire) {
            wire.headers.append(("content-md5", Base64.encode(digest)))
        }
        var lookUp: ((inout StorageRequest, ETag?) async -> PutResult?)?
        let name = StorageDialect.tokenMetadataName
        let token = request.userMetadata.first { isSameHeader($0.name, name) }?.value
        if let token, request.callback == nil {
            // Nor is it sent again by the transport, which could not look.
            wire.isRepeatable = false
            lookUp = { wire, refused in await self.made(request.key, token, body, refused, &wire) }
        }
        return try await conditionally(
            wire,
            forbidsOverwrite: request.forbidsOverwrite,
            existenceIsUnknown: request.existenceIsUnknown,
            replaced: request.replaced
        ) { (wire) throws(StorageError) in
            try await self.upload(
                wire,
                onProgress: onProgress,
                lookUp: lookUp
            ) { (sent, response) throws(StorageError) in
                try self.result(
                    wire,
                    response,
                    sent: sent,
                    hasCallback: request.callback != nil
                )
            }
        }
    }

    /// The object that an earlier attempt of a request made whose answer was lost; nil if there is
    /// none, or if that cannot be proved.
    ///
    /// What is put must have a token that nothing else has. Sending again would find the object
    /// that is there already, or replace what another writer has put since, who may have kept our
    /// metadata and with them the token. An object of ours that was damaged on its way, whose tag
    /// `refused` is from the answer, no longer blocks `wire`: the next attempt replaces it.
    private func made(
        _ key: ObjectKey,
        _ token: String,
        _ body: RequestBody,
        _ refused: ETag?,
        _ wire: inout StorageRequest
    ) async -> PutResult? {
        let head = StorageRequest("HeadObject", .head, key)
        var context = AttemptContext()
        // The next attempt of the request itself reports any other failure.
        guard let head = try? await sendHead(head, &context),
            let etag = head["etag"].map({ ETag(wire: $0) }),
            let checksum = try? await body.checksum()
        else { return nil }
        let metadata = ObjectMetadata(head, size: head.contentLength ?? -1, dialect: dialect)
        guard metadata.userMetadata[StorageDialect.tokenMetadataName] == token else { return nil }
        guard metadata.size == body.length, metadata.crc64.map({ $0 == checksum }) ?? true,
            (try? await holds(metadata, etag, body)) == true
        else {
            if etag == refused { allowReplacing(etag, in: &wire) }
            return nil
        }
        return PutResult(
            etag: etag,
            crc64: metadata.crc64,
            sentChecksum: checksum,
            versionID: metadata.versionID,
            requestID: metadata.requestID
        )
    }

    /// True unless the tag of a store that computes no CRC-64 is the MD5 of other content.
    private func holds(
        _ metadata: ObjectMetadata,
        _ etag: ETag,
        _ body: RequestBody
    ) async throws -> Bool {
        guard !dialect.computesChecksum, !metadata.isEncrypted, let digest = etag.md5Digest
        else { return true }
        return try await hexadecimalText(body.md5()) == digest
    }

    /// The headers that an object gets when it is made.
    func objectHeaders(_ request: PutRequest) -> [(String, String)] {
        var headers: [(String, String)] = []
        headers.reserveCapacity(8)
        if let contentType = request.contentType { headers.append(("content-type", contentType)) }
        let prefix = dialect.header("meta-")
        for (name, value) in request.userMetadata {
            headers.append((prefix + name.lowercased(), value))
        }
        if let storageClass = request.storageClass {
            headers.append((dialect.header("storage-class"), storageClass.name))
        }
        for (name, value) in request.contentHeaders { headers.append((name, value)) }
        headers += encryptionHeaders(request.encryption) + tagHeaders(request.tags)
        if let source = request.source {
            _ = dialect.keep(source, in: &headers, keepsType: !request.hasChosenType)
        }
        return headers
    }

    func callbackHeaders(_ callback: UploadCallback?) -> [(String, String)] {
        guard let callback else { return [] }
        var headers = [
            (dialect.header("callback"), Base64.encode([UInt8](callback.parameters.utf8)))
        ]
        if let variables = callback.variables {
            let value = Base64.encode([UInt8](variables.utf8))
            headers.append((dialect.header("callback-var"), value))
        }
        return headers
    }

    /// The result of a request that made an object.
    ///
    /// A callback that failed is no error of the upload.
    func result(
        _ wire: StorageRequest,
        _ response: HTTPResponse,
        sent: SentDigests?,
        hasCallback: Bool
    ) throws(StorageError) -> PutResult {
        let head = response.head
        let didCallbackFail = head.status == callbackFailureStatus
        let document = didCallbackFail ? ServiceErrorDocument(body: response.body) : nil
        return PutResult(
            etag: hasCallback ? ETag(wire: head["etag"] ?? "") : try wire.etag(head),
            crc64: dialect.checksum(head),
            sentChecksum: sent?.checksum,
            versionID: dialect.versionID(head),
            callbackBody: hasCallback && !didCallbackFail ? response.body : nil,
            callbackFailure: didCallbackFail
                ? displayText((document?.serviceMessage ?? "the callback failed").utf8.prefix(256))
                : nil,
            requestID: dialect.requestID(head),
            lastModified: head["date"].flatMap { Timestamp(httpText: $0) }
        )
    }
}

// MARK: - Bodies

extension StorageClient {
    /// Sends a body, holds the answer against what was sent, and repeats what may be repeated.
    ///
    /// `lookUp` is called for the result before another attempt if an earlier one may have
    /// succeeded; its argument is the ETag of the last rejected answer.
    func upload<Value: Sendable>(
        _ wire: StorageRequest,
        onProgress: @escaping @Sendable (Int) -> Void,
        lookUp: ((inout StorageRequest, ETag?) async -> Value?)? = nil,
        _ read: (SentDigests, HTTPResponse) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let progress = UploadProgress(onProgress)
        var request = wire
        request.onSent = { progress.add($0) }
        var refused: ETag?
        return try await repeating { (context) throws(StorageError) in
            if context.mayBeDone, let lookUp, let found = await lookUp(&request, refused) {
                onProgress(Int(wire.body.length))
                return found
            }
            let share = try await self.beginBody(wire.body.length)
            defer { self.endBody(share) }
            // A small body delays no other request, and losing it costs little.
            let isLarge = wire.body.length >= Self.worthwhile
            // Before the object is looked at: nothing is to lie between that and the request.
            let pass = isLarge ? await self.sending.enter() : nil
            var end = SendingGate.End.other
            defer { if let pass { self.sending.leave(pass, end) } }
            try await self.inspect(&request, &context)
            request.computesMD5 = self.needsMD5(of: request)
            do throws(StorageError) {
                let response = try await self.sendBody(&request, &context, progress)
                end = .arrived
                refused = response.head["etag"].map { ETag(wire: $0) }
                let uploading = request
                guard let sent = response.sent else {
                    throw uploading.failure(.transport(.connectionLost))
                }
                try await self.verify(sent, response.head, uploading)
                return try read(sent, response)
            } catch {
                let sent = progress.takeBack()
                if sent >= Self.worthwhile, error.isLoss { end = .lost }
                throw error
            }
        }
    }

    /// Sends a request with a body, once more with its digest if the store asks for that, as it
    /// does for a bucket with Object Lock; what follows then carries it at once.
    private func sendBody(
        _ request: inout StorageRequest,
        _ context: inout AttemptContext,
        _ progress: UploadProgress
    ) async throws(StorageError) -> HTTPResponse {
        let isAsked = needsDigests.load(ordering: .relaxed)
        if isAsked { try await addDigest(to: &request) }
        let hasDigest = request.headers.contains { $0.0 == "content-md5" }
        do throws(StorageError) {
            return try await send(request, &context)
        } catch {
            guard error.asksForDigest, !hasDigest else { throw error }
            needsDigests.store(true, ordering: .relaxed)
            progress.takeBack()
            try await addDigest(to: &request)
            return try await send(request, &context)
        }
    }

    private func addDigest(to request: inout StorageRequest) async throws(StorageError) {
        guard !request.headers.contains(where: { $0.0 == "content-md5" }) else { return }
        request.headers.append(("content-md5", Base64.encode(try await digest(of: request))))
    }
}

/// Reports the bytes of a body once each, also when they are sent again.
private final class UploadProgress: Sendable {
    private let reported = Mutex(0)
    private let report: @Sendable (Int) -> Void

    init(_ report: @escaping @Sendable (Int) -> Void) {
        self.report = report
    }

    func add(_ count: Int) {
        reported.withLock { $0 += count }
        report(count)
    }

    /// What had been reported of the attempt.
    @discardableResult
    func takeBack() -> Int {
        let count = reported.withLock { reported in
            let count = reported
            reported = 0
            return count
        }
        if count != 0 { report(-count) }
        return count
    }
}
