package import SyncModel
internal import Synchronization

/// What the head of the first answer says of an object.
package struct OpenedObject: Sendable, Hashable {
    package let metadata: ObjectMetadata
    /// The bytes that follow; empty for an empty object.
    package let range: ByteRange
    /// True if the server sends all of the object whatever is asked for, so that what is missing
    /// after a lost connection cannot be asked for.
    package let ignoresRanges: Bool
}

extension StorageClient {
    package func open(
        _ request: GetRequest,
        into makeSink: @escaping @Sendable (OpenedObject) async -> FileSink?
    ) async throws(StorageError) -> ObjectMetadata {
        let opening = Opening()
        return try await repeating(
            isRepeatable: !opening.isSpent,
            received: opening.received
        ) { (context) throws(StorageError) in
            if let download = opening.download {
                if let metadata = download.finished { return metadata }
                return try await self.attempt(download, &context)
            }
            return try await self.begin(request, opening, &context, makeSink)
        }
    }

    private func begin(
        _ request: GetRequest,
        _ opening: Opening,
        _ context: inout AttemptContext,
        _ makeSink: @escaping @Sendable (OpenedObject) async -> FileSink?
    ) async throws(StorageError) -> ObjectMetadata {
        var wire = request.wire(dialect, range: nil, etag: request.ifMatch)
        if context.isRepetition {
            // A proxy's stale answer must not be the answer again.
            wire.headers.append(("cache-control", "no-cache"))
        }
        let (late, heads, dialect) = (LateSink(), ConflatedValue<OpenedObject>(), dialect)
        let isPacked = isPacked(request.key)
        if isPacked { wire.headers.append(Self.acceptedEncoding) }
        let share = try await beginBody(nil)
        defer { endBody(share) }
        // Beside the exchange, whose thread must not wait.
        async let provision: Void = opening.provide(late, heads, request, makeSink)
        let result: Result<HTTPResponse, StorageError>
        do throws(StorageError) {
            let response = try await send(wire, &context) { head in
                guard let opened = try? request.opened(head, dialect) else { return .reject }
                heads.offer(opened)
                return .later(late, length: opened.range.length)
            }
            result = .success(response)
        } catch {
            result = .failure(error)
        }
        heads.finish()
        await provision
        let response = try result.get()
        if try wire.lacksLength(response.head, isPacked: isPacked) {
            notePacked(request.key)
            return try await begin(request, opening, &context, makeSink)
        }
        do throws(ContentFailure) {
            return try request.opened(response.head, dialect).metadata
        } catch {
            throw wire.failure(error.kind, head: response.head)
        }
    }
}

extension GetRequest {
    fileprivate func opened(
        _ head: ResponseHead,
        _ dialect: StorageDialect
    ) throws(ContentFailure) -> OpenedObject {
        let isWhole = head.status == 200 && !head.has("content-range")
        let expectation = ContentExpectation(
            range: nil,
            length: nil,
            etag: ifMatch,
            totalSize: nil,
            form: isWhole ? nil : form
        )
        guard let length = try expectation.validate(head) else { throw .withoutSize }
        let part = isWhole ? nil : head["content-range"].flatMap(ContentRange.init(headerValue:))
        let size = part?.totalSize ?? length
        return OpenedObject(
            metadata: ObjectMetadata(head, size: size, dialect: dialect),
            range: ByteRange(offset: part?.range.offset ?? 0, length: length),
            ignoresRanges: isWhole && form?.bytes(ofObjectOf: length)?.length ?? 0 < length
        )
    }
}

/// The first request for an object, over all attempts.
private final class Opening: Sendable {
    private struct State {
        var download: Download?
        /// True once the sink was asked for and cannot be fed by another attempt.
        var isSpent = false
    }

    private let state = Mutex(State())

    /// What is to be continued once there is a sink.
    var download: Download? { state.withLock { $0.download } }

    var isSpent: Bool { state.withLock { $0.isSpent } }

    var received: Int64 { download?.sink.received ?? 0 }

    /// Asks for the sink when the head has come.
    func provide(
        _ late: LateSink,
        _ heads: ConflatedValue<OpenedObject>,
        _ request: GetRequest,
        _ makeSink: @Sendable (OpenedObject) async -> FileSink?
    ) async {
        guard let opened = await heads.next() else { return }
        let sink = await makeSink(opened)
        state.withLock { $0.isSpent = true }
        if let sink, !opened.ignoresRanges, opened.metadata.etag?.isWeak == false {
            let rest = GetRequest(
                key: request.key,
                range: opened.range,
                ifMatch: opened.metadata.etag,
                versionID: request.versionID,
                totalSize: opened.metadata.size
            )
            let download = Download(request: rest, sink: sink, first: opened.metadata)
            state.withLock { $0 = State(download: download) }
        }
        late.provide(sink)
    }
}
