import ObjectStorage
import SyncModel
import Synchronization

/// A store that asks a closure before and after each request, and can make pages small.
final class HookedStore: ObjectStore {
    enum Moment: Sendable { case before, after }

    struct Call: Sendable {
        let operation: String
        /// For a listing, its prefix.
        let key: String
        let moment: Moment
        /// Counted from 1 for each operation.
        let number: Int
        /// The version that a GET asks for.
        var ifMatch: ETag?
        /// The part that a request sends.
        var part: PartNumber?
    }

    typealias Hook = @Sendable (Call) async throws(StorageError) -> Void

    private let store: any ObjectReader
    fileprivate let pageSize: Int
    private let hook: Hook
    private let counts = Mutex<[String: Int]>([:])
    private let gauge = Gauge()

    init(_ store: any ObjectReader, pageSize: Int = 1_000, hook: @escaping Hook) {
        self.store = store
        self.pageSize = pageSize
        self.hook = hook
    }

    var dialect: StorageDialect { store.dialect }

    func count(_ operation: String) -> Int {
        counts.withLock { $0[operation, default: 0] }
    }

    /// The largest number of requests that were under way at once.
    var mostAtOnce: Int { gauge.peak }

    func read<Answer>(
        _ call: StoreCall<any ObjectReader, Answer>
    ) async throws(StorageError) -> Answer {
        try await call.body(HookedReader(hooks: self, reader: store))
    }

    func write<Answer>(
        _ call: StoreCall<StorageClient, Answer>
    ) async throws(StorageError) -> Answer {
        let store = try store.writable(for: call)
        return try await around(call.operation, call.key, part: call.part) {
            () throws(StorageError) in
            try await store.write(call)
        }
    }

    fileprivate func around<Answer: Sendable>(
        _ operation: String,
        _ key: ObjectKey?,
        ifMatch: ETag? = nil,
        part: PartNumber? = nil,
        _ body: () async throws(StorageError) -> Answer
    ) async throws(StorageError) -> Answer {
        let number = counts.withLock { counts in
            counts[operation, default: 0] += 1
            return counts[operation, default: 0]
        }
        func call(_ moment: Moment) -> Call {
            Call(
                operation: operation,
                key: key?.display ?? "",
                moment: moment,
                number: number,
                ifMatch: ifMatch,
                part: part
            )
        }
        gauge.enter()
        defer { gauge.leave() }
        try await hook(call(.before))
        let value = try await body()
        try await hook(call(.after))
        return value
    }
}

/// Asks the hook about each reading request, of which a test wants to know more.
private struct HookedReader: ObjectReader {
    let hooks: HookedStore
    let reader: any ObjectReader

    var dialect: StorageDialect { reader.dialect }

    func list(_ request: ListRequest) async throws(StorageError) -> ListPage {
        var request = request
        request.maximumKeys = min(request.maximumKeys, hooks.pageSize)
        let asked = request
        return try await hooks.around("ListObjectsV2", request.prefix) {
            () throws(StorageError) in
            try await reader.list(asked)
        }
    }

    func head(
        _ key: ObjectKey,
        versionID: VersionID?
    ) async throws(StorageError) -> ObjectMetadata {
        try await hooks.around("HeadObject", key) { () throws(StorageError) in
            try await reader.head(key, versionID: versionID)
        }
    }

    func partSize(
        _ key: ObjectKey,
        of etag: ETag,
        versionID: VersionID?
    ) async throws(StorageError) -> Int64? {
        try await hooks.around("HeadObject", key) { () throws(StorageError) in
            try await reader.partSize(key, of: etag, versionID: versionID)
        }
    }

    func get(
        _ request: GetRequest,
        into sink: FileSink
    ) async throws(StorageError) -> ObjectMetadata {
        try await hooks.around("GetObject", request.key, ifMatch: request.conditions.ifMatch) {
            () throws(StorageError) in
            try await reader.get(request, into: sink)
        }
    }

    func open(
        _ request: GetRequest,
        into makeSink: @escaping @Sendable (OpenedObject) async -> FileSink?
    ) async throws(StorageError) -> ObjectMetadata {
        try await hooks.around("GetObject", request.key, ifMatch: request.conditions.ifMatch) {
            () throws(StorageError) in
            try await reader.open(request, into: makeSink)
        }
    }

    func symlinkTarget(_ key: ObjectKey) async throws(StorageError) -> ObjectKey {
        try await hooks.around("GetSymlink", key) { () throws(StorageError) in
            try await reader.symlinkTarget(key)
        }
    }
}
