package import ObjectStorage
package import SyncModel
internal import Synchronization

/// The first request for an object that nothing is known of: its answer says what the object is,
/// and its body waits until there is a place for it.
///
/// One task sends the request by ``send(_:to:)``; another one reads ``opened()``, prepares, and
/// calls ``receive(into:)``. If the first task is cancelled, both ends return.
final class ObjectOpening: Sendable {
    private typealias Outcome = Result<ObjectMetadata, StorageError>

    private let heads = ConflatedValue<OpenedObject>()
    private let sinks = ConflatedValue<FileSink>()
    private let outcomes = ConflatedValue<Outcome>()
    private let isUnderWay = Atomic<Bool>(true)
    /// What the answer brings until a range takes it.
    private let unclaimed = Mutex<ByteRange?>(nil)

    /// Asks for the first `length` bytes of an object, or for all of it.
    static func request(_ key: ObjectKey, length: Int64?) -> GetRequest {
        GetRequest(
            key: key,
            form: length.map { .bounded(ByteRange(offset: 0, length: $0)) },
            conditions: ReadConditions()
        )
    }

    /// Sends the request and returns when its answer has ended.
    func send(_ request: GetRequest, to store: any ObjectReader) async {
        let outcome: Outcome
        do throws(StorageError) {
            let metadata = try await store.open(request) { opened in
                self.unclaimed.withLock { $0 = opened.range }
                self.heads.offer(opened)
                guard !opened.range.isEmpty else { return nil }
                return await withTaskCancellationHandler {
                    await self.sinks.next()
                } onCancel: {
                    self.sinks.finish()
                }
            }
            outcome = .success(metadata)
        } catch {
            outcome = .failure(error)
        }
        isUnderWay.store(false, ordering: .releasing)
        outcomes.offer(outcome)
        heads.finish()
        outcomes.finish()
    }

    /// What the store says of the object.
    func opened() async throws(StorageError) -> OpenedObject {
        if let opened = await heads.next() { return opened }
        _ = try await outcome()
        throw StorageError(kind: .cancelled, operation: "GetObject")
    }

    /// True until the request has ended.
    var hasNotEnded: Bool { isUnderWay.load(ordering: .acquiring) }

    /// The bytes that the answer brings, if `rest` begins with them, and none has claimed them.
    ///
    /// An answer that brings more than `rest` is ended.
    func claim(_ rest: ByteRange) -> ByteRange? {
        let claimed = unclaimed.withLock { range in
            guard let found = range, found.offset == rest.offset else { return ByteRange?.none }
            range = nil
            return found
        }
        guard let claimed, claimed.length > rest.length else { return claimed }
        sinks.finish()
        return nil
    }

    /// Lets the body come and returns when it has.
    func receive(into sink: FileSink) async throws(StorageError) -> ObjectMetadata {
        sinks.offer(sink)
        return try await outcome()
    }

    private func outcome() async throws(StorageError) -> ObjectMetadata {
        guard let outcome = await outcomes.next() else {
            throw StorageError(kind: .cancelled, operation: "GetObject")
        }
        return try outcome.get()
    }
}

extension ObjectReader {
    /// The current object, where something else says that it has `knownSize` bytes.
    ///
    /// Some gateways send 0 as the size of every HEAD, and a file made of that would be empty: a
    /// size of 0 that nothing else says is proven by a GET.
    package func head(
        _ key: ObjectKey,
        knownSize: Int64
    ) async throws(StorageError) -> ObjectMetadata {
        let found = try await head(key, versionID: nil)
        guard found.size == 0, knownSize > 0 else { return found }
        return try await provingEmptiness(of: key, found)
    }

    /// What a GET says of an object that a HEAD calls empty: `metadata` if that has no byte, else
    /// the metadata of the GET.
    package func provingEmptiness(
        of key: ObjectKey,
        _ metadata: ObjectMetadata
    ) async throws(StorageError) -> ObjectMetadata {
        do throws(StorageError) {
            let read = try await open(ObjectOpening.request(key, length: 1)) { _ in nil }
            return read.size > 0 ? read : metadata
        } catch {
            guard error.isRangeNotSatisfiable else { throw error }
            return metadata
        }
    }
}
