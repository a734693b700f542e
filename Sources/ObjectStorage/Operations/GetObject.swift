package import SyncModel
internal import Synchronization

package struct GetRequest: Sendable {
    package var key: ObjectKey
    /// Nil for the whole object, as it must be of an empty one.
    package var range: ByteRange?
    package var versionID: VersionID?
    package var conditions: ReadConditions
    /// A range whose bytes depend on the object's size, instead of `range`; for reads into memory.
    package var form: RangeForm?
    /// The size that the whole object must have; nil if any will do.
    package var totalSize: Int64?

    package init(
        key: ObjectKey,
        range: ByteRange? = nil,
        ifMatch: ETag? = nil,
        versionID: VersionID? = nil,
        totalSize: Int64? = nil
    ) {
        self.key = key
        self.range = range
        self.versionID = versionID
        conditions = ReadConditions(ifMatch: ifMatch)
        self.totalSize = totalSize
    }

    package init(key: ObjectKey, form: RangeForm?, conditions: ReadConditions) {
        self.key = key
        self.form = form
        self.conditions = conditions
    }

    var ifMatch: ETag? { conditions.ifMatch }
}

extension StorageClient {
    package func get(
        _ request: GetRequest,
        into sink: FileSink
    ) async throws(StorageError) -> ObjectMetadata {
        if let range = request.range, range.isEmpty || range.length != sink.expectedLength {
            throw StorageError(
                kind: .invalidRequest("a range has at least a byte and is as long as its sink"),
                operation: "GetObject",
                key: request.key
            )
        }
        let download = Download(request: request, sink: sink)
        return try await repeating(received: sink.received) { (context) throws(StorageError) in
            if let metadata = download.finished { return metadata }
            return try await self.attempt(download, &context)
        }
    }

    /// Asks for the content as it is stored; of what was packed on the way the checks find out.
    static let acceptedEncoding = ("accept-encoding", "gzip")

    func attempt(
        _ download: Download,
        _ context: inout AttemptContext
    ) async throws(StorageError) -> ObjectMetadata {
        let expectation = download.beginAttempt()
        var wire = download.request.wire(dialect, range: expectation.range, etag: expectation.etag)
        wire.answerLength = expectation.length
        if context.isRepetition {
            // A proxy's stale answer must not be the answer again.
            wire.headers.append(("cache-control", "no-cache"))
        }
        let isPacked = isPacked(wire.key ?? "")
        if isPacked { wire.headers.append(Self.acceptedEncoding) }
        let share = try await beginBody(expectation.length)
        defer { endBody(share) }
        let response = try await send(wire, &context) { [self] head in
            guard let length = try? expectation.validate(head) else { return .reject }
            download.begin(head, dialect)
            return .file(download.sink, length: length)
        }
        if let metadata = download.accepted { return metadata }
        if try wire.lacksLength(response.head, isPacked: isPacked), let key = wire.key {
            notePacked(key)
            return try await attempt(download, &context)
        }
        do throws(ContentFailure) {
            _ = try expectation.validate(response.head)
        } catch {
            throw wire.failure(error.kind, head: response.head)
        }
        return ObjectMetadata(
            response.head,
            size: download.totalSize(response.head),
            dialect: dialect
        )
    }

    package func read(
        _ request: GetRequest,
        limit: Int
    ) async throws(StorageError) -> (metadata: ObjectMetadata, bytes: [UInt8]) {
        let wire = request.wire(dialect, range: request.range, etag: request.ifMatch)
        let expectation = ContentExpectation(
            range: request.range,
            length: nil,
            etag: request.ifMatch,
            totalSize: nil,
            form: request.form
        )
        return try await repeating { (context) throws(StorageError) in
            let response = try await self.send(wire, &context) { head in
                guard let length = try? expectation.validate(head) ?? 0, length <= limit else {
                    return .reject
                }
                return .memory(limit: limit, truncates: false)
            }
            return try self.validate(response, wire, expectation, limit: limit)
        }
    }

    private func validate(
        _ response: HTTPResponse,
        _ wire: StorageRequest,
        _ expectation: ContentExpectation,
        limit: Int
    ) throws(StorageError) -> (metadata: ObjectMetadata, bytes: [UInt8]) {
        let length: Int64?
        do throws(ContentFailure) {
            length = try expectation.validate(response.head)
        } catch {
            throw wire.failure(error.kind, head: response.head)
        }
        guard length ?? 0 <= limit else {
            throw wire.failure(.invalidRequest("the object is larger than \(limit) bytes"))
        }
        if expectation.range == nil, expectation.form == nil,
            let checksum = dialect.checksum(response.head)
        {
            let received = CRC64(of: response.body)
            guard received == checksum else {
                throw wire.failure(
                    .integrity(.wrongChecksum(sent: checksum, received: received)),
                    head: response.head
                )
            }
        }
        let total = response.head["content-range"].flatMap(ContentRange.init(headerValue:))?
            .totalSize
        let metadata = ObjectMetadata(
            response.head,
            size: total ?? Int64(response.body.count),
            dialect: dialect
        )
        return (metadata, response.body)
    }
}

extension StorageRequest {
    /// True for an answer that has lost the length of what is stored, if the request did not accept
    /// its encoding: some stores and caches unpack the content for those.
    fileprivate func isUnpacked(_ head: ResponseHead) -> Bool {
        head.status == 200 && head.contentLength == nil && !head.has("content-range")
    }

    /// True if the object is to be asked for once more, as it is stored.
    ///
    /// - Throws: If it was, and the store unpacks it all the same.
    func lacksLength(_ head: ResponseHead, isPacked: Bool) throws(StorageError) -> Bool {
        guard isUnpacked(head) else { return false }
        guard isPacked else { return true }
        let varies = head["vary"]?.lowercased().utf8.firstIndex(ofBytes: "accept-encoding".utf8)
        guard varies == nil else { throw failure(.integrity(.unpacked), head: head) }
        return false
    }
}

extension GetRequest {
    func wire(
        _ dialect: StorageDialect,
        range: ByteRange?,
        etag: ETag?
    ) -> StorageRequest {
        var wire = StorageRequest("GetObject", .get, key)
        wire.headers.reserveCapacity(4)
        if let versionID { wire.query.append(("versionId", versionID.text)) }
        if let behavior = dialect.rangeBehavior {
            wire.headers.append((behavior.name, behavior.value))
        }
        if let range = range?.headerValue ?? form?.headerValue {
            wire.headers.append(("range", range))
        }
        var conditions = conditions
        conditions.ifMatch = etag
        wire.headers += conditions.headers
        wire.isConditional = conditions.allowNotModified
        return wire
    }
}

// MARK: - Content that the transport would decode

extension StorageClient {
    /// What an object is stored with, if the transport would decode it.
    func decodedCoding(of request: StorageRequest) -> String? {
        guard request.operation == "GetObject", let key = request.key else { return nil }
        return codings.withLock { $0[key] }
    }

    /// False if no other answer can be asked for: what was signed elsewhere is sent unchanged.
    func noteCoding(_ name: String, of request: StorageRequest) -> Bool {
        guard request.operation == "GetObject", let key = request.key, configuration.urls == nil,
            configuration.signing == nil
        else { return false }
        codings.withLock { codings in
            // One that is forgotten is found again by its next answer.
            if codings.count >= Self.packedLimit { _ = codings.popFirst() }
            codings[key] = name
        }
        return true
    }

    /// What the user can do about it.
    var codingAdvice: String {
        configuration.urls == nil
            ? "; store it without"
            : "; sign the URL with response-content-encoding=identity, or store it without"
    }
}

extension StorageRequest {
    /// The same for an answer that names no coding, so that nothing decodes what is stored.
    var asStored: StorageRequest {
        var request = self
        request.query.append(("response-content-encoding", "identity"))
        return request
    }
}

extension ResponseHead {
    /// With the coding that was left out of the answer, if one was.
    func naming(_ coding: String?) -> ResponseHead {
        guard let coding else { return self }
        let others = headers.filter { $0.name != "content-encoding" }
        return ResponseHead(status: status, headers: others + [("content-encoding", coding)])
    }
}

/// One object or range on its way into a sink, over all attempts.
final class Download: Sendable {
    let request: GetRequest
    let sink: FileSink
    /// What the first accepted answer said: every other one must be of the same version.
    private let first: Mutex<ObjectMetadata?>
    private let current = Mutex<ObjectMetadata?>(nil)

    init(request: GetRequest, sink: FileSink, first: ObjectMetadata? = nil) {
        self.request = request
        self.sink = sink
        self.first = Mutex(first)
    }

    var remaining: Int64 { sink.expectedLength - sink.received }

    /// What is still missing, and of which version.
    func beginAttempt() -> ContentExpectation {
        current.withLock { $0 = nil }
        let received = sink.received
        let known = first.withLock { $0 }
        // The sink may want less by now than was asked for at first.
        var range = request.range.map {
            ByteRange(offset: $0.offset + received, length: remaining)
        }
        if request.range == nil, received > 0 {
            range = ByteRange(offset: received, length: remaining)
        }
        return ContentExpectation(
            range: range,
            length: range?.length ?? sink.expectedLength,
            etag: request.ifMatch ?? known?.etag,
            totalSize: request.range == nil ? sink.expectedLength : request.totalSize ?? known?.size
        )
    }

    /// Set if all bytes came although the attempt that brought them failed.
    var finished: ObjectMetadata? {
        guard remaining == 0 else { return nil }
        return first.withLock { $0 }
    }

    func begin(_ head: ResponseHead, _ dialect: StorageDialect) {
        let metadata = ObjectMetadata(head, size: totalSize(head), dialect: dialect)
        first.withLock { $0 = $0 ?? metadata }
        current.withLock { $0 = metadata }
    }

    /// What the answer to this attempt said, if it was accepted.
    var accepted: ObjectMetadata? { current.withLock { $0 } }

    /// The size of the whole object.
    func totalSize(_ head: ResponseHead) -> Int64 {
        // What an answer says is held against what is known.
        if let known = request.totalSize { return known }
        let range = head["content-range"].flatMap(ContentRange.init(headerValue:))
        return range?.totalSize ?? sink.expectedLength
    }
}
