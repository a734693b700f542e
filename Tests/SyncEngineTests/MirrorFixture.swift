import Foundation
import LocalStorage
import ManifestStore
import ObjectStorage
import StorageServer
import StoreFixture
import SyncModel
import Synchronization
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

/// A storage server in this process and mirrors of it.
final class MirrorFixture: Sendable {
    static let bucket = "fixture"

    let folder: URL
    let server: StorageServer
    private let dialect: StorageDialect

    /// `keepsVersions`: the bucket has versioning.
    init(dialect: StorageDialect = .oss, keepsVersions: Bool = false) throws {
        self.dialect = dialect
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("osssync-engine-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        server = try StorageServer(
            configuration: ServerConfiguration(
                root: folder.appendingPathComponent("server").path,
                buckets: keepsVersions ? [] : [Self.bucket],
                versionedBuckets: keepsVersions ? [Self.bucket] : [],
                credentials: [ServerCredentials(accessKeyID: "id", secret: "secret")]
            )
        )
        _ = try server.start()
    }

    deinit {
        server.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    func store(_ storeObserver: StoreObserver) throws -> StorageClient {
        try StorageClient(
            quickTo: server.url,
            bucket: Self.bucket,
            dialect: dialect,
            now: Self.now,
            observe: { storeObserver.observe($0) }
        )
    }

    @Sendable static func now() -> Timestamp {
        let time = Date().timeIntervalSince1970
        let fraction = time.truncatingRemainder(dividingBy: 1)
        return Timestamp(seconds: Int64(time), nanoseconds: Int32(fraction * 1e9))
    }

    /// An engine for a directory of this name beneath the fixture's folder; `through` may put
    /// something between it and the store.
    func engine(
        _ name: String,
        calls: SystemCalls = .standard,
        through: (any ObjectStore) -> any ObjectStore = { $0 }
    ) throws -> MirrorEngine {
        let storeObserver = StoreObserver()
        let start = ContinuousClock.now
        var engine = MirrorEngine(
            settings: MirrorSettings(
                directory: directory(name),
                stateDirectory: nil,
                homeDirectory: nil,
                prefix: "mirror/",
                identity: RemoteIdentity(
                    dialect: dialect.name,
                    endpointHost: "127.0.0.1",
                    bucket: Self.bucket,
                    prefix: "mirror/"
                ),
                displayRemote: "oss://fixture/mirror/",
                store: through(try store(storeObserver)),
                storeObserver: storeObserver,
                environment: EngineEnvironment(
                    now: Self.now,
                    monotonic: { ContinuousClock.now - start },
                    sleep: { try await ContinuousClock().sleep(for: $0) },
                    randomUnit: { Double.random(in: 0..<1) },
                    hostName: "host"
                )
            )
        )
        engine.settings.systemCalls = calls
        // So that small files are enough for renames.
        engine.settings.limits.smallestSearchable = 0
        return engine
    }

    /// Makes the server misbehave as `docs/faults.md` says.
    func setFaults(_ json: String) throws {
        server.setFaults(try FaultScript(json: [UInt8](json.utf8)))
    }

    /// Of another state of the directory, or one that mirrors another prefix.
    func engine(_ name: String, state: String?, prefix: String? = nil) throws -> MirrorEngine {
        var engine = try engine(name)
        engine.settings.stateDirectory = state.map(directory)
        guard let prefix else { return engine }
        let identity = engine.settings.identity
        engine.settings.prefix = ObjectKey(prefix)
        engine.settings.identity = RemoteIdentity(
            dialect: identity.dialect,
            endpointHost: identity.endpointHost,
            bucket: identity.bucket,
            prefix: prefix
        )
        return engine
    }

    /// Runs without faults of the store; an error is the run's.
    @discardableResult
    func run(
        _ name: String,
        _ direction: SyncDirection,
        _ log: EventLog = EventLog(),
        _ change: (inout RunOptions) -> Void = { _ in }
    ) async throws -> RunSummary {
        try await engine(name).run(direction, options: Self.options(change), onEvent: log.add)
    }

    /// The operations that were asked for, without listings.
    var operations: [String] {
        server.requestLog.map(\.operation).filter { $0 != "ListObjectsV2" }
    }

    /// Puts an object beneath the mirrored prefix as another writer would.
    func put(_ key: String, _ content: Data, storageClass: StorageClass? = nil) async throws {
        let request = PutRequest(key: ObjectKey("mirror/" + key), storageClass: storageClass)
        let store = try store(StoreObserver())
        _ = try await store.put(request, body: .bytes([UInt8](content))) { _ in }
    }

    /// Deletes an object beneath the mirrored prefix as another writer would.
    func deleteObject(_ key: String) async throws {
        let store = try store(StoreObserver())
        try await store.delete(ObjectKey("mirror/" + key), versionID: nil)
    }

    /// The keys beneath the mirrored prefix, without it.
    func objects() async throws -> [String] {
        let store = try store(StoreObserver())
        let page = try await store.list(
            ListRequest(prefix: "mirror/", delimiter: nil, maximumKeys: 1_000)
        )
        return page.objects.map { String($0.key.display.dropFirst("mirror/".count)) }
    }

    func object(_ key: String) async throws -> Data {
        let request = GetRequest(key: ObjectKey("mirror/" + key))
        return Data(try await store(StoreObserver()).read(request, limit: 64 << 20).bytes)
    }

    func head(_ key: String) async throws -> ObjectMetadata {
        try await store(StoreObserver()).head(ObjectKey("mirror/" + key), versionID: nil)
    }

    func setModified(_ path: String, _ date: Date) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: date],
            ofItemAtPath: folder.appendingPathComponent(path).path
        )
    }

    func setMode(_ path: String, _ mode: Int) throws {
        try FileManager.default.setAttributes(
            [.posixPermissions: mode],
            ofItemAtPath: directory(path)
        )
    }

    func mode(_ path: String) throws -> Int? {
        let found = try FileManager.default.attributesOfItem(atPath: directory(path))
        return (found[.posixPermissions] as? NSNumber)?.intValue
    }

    func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder.appendingPathComponent(path).path,
            withDestinationPath: target
        )
    }

    func makeDirectory(_ path: String) throws {
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent(path),
            withIntermediateDirectories: true
        )
    }

    /// Copies as a backup does, with all times.
    func copy(_ source: String, _ target: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/cp")
        process.arguments = ["-a", directory(source), directory(target)]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    func remove(_ path: String) throws {
        try FileManager.default.removeItem(at: folder.appendingPathComponent(path))
    }

    func rename(_ source: String, to target: String) throws {
        try FileManager.default.moveItem(atPath: directory(source), toPath: directory(target))
    }

    /// What a directory holds, by name.
    func names(in path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory(path)).sorted()
    }

    func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: folder.appendingPathComponent(path).path)
    }

    /// Every file beneath a directory but osssync's own, by its path.
    func tree(_ name: String) throws -> [String: Data] {
        let root = folder.appendingPathComponent(name).path
        var files: [String: Data] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: root)
        where !path.hasPrefix(".osssync") {
            files[path] = FileManager.default.contents(atPath: root + "/" + path)
        }
        return files
    }

    /// Bytes with a prime period, so that a misplaced block shows.
    static func ramp(_ count: Int, _ seed: Int = 0) -> Data {
        let period = Data((0..<251).map { UInt8(($0 + seed) % 251) })
        var data = Data(capacity: count + period.count)
        while data.count < count { data.append(period) }
        return data.prefix(count)
    }

    func engineOrTrap(_ name: String) -> MirrorEngine {
        do {
            return try engine(name)
        } catch {
            preconditionFailure("the fixture makes engines: \(error)")
        }
    }

    func localMirror(_ name: String) throws -> LocalMirror {
        let settings = try engine(name).settings
        return LocalMirror(
            directory: settings.directory,
            stateDirectory: nil,
            homeDirectory: nil,
            environment: settings.environment
        )
    }

    func directory(_ name: String) -> String {
        folder.appendingPathComponent(name).path
    }

    func write(_ path: String, _ content: Data) throws {
        let url = folder.appendingPathComponent(path)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try content.write(to: url)
    }

    func content(_ path: String) -> Data? {
        FileManager.default.contents(atPath: folder.appendingPathComponent(path).path)
    }

    static func options(_ change: (inout RunOptions) -> Void = { _ in }) -> RunOptions {
        var options = RunOptions.standard
        options.partSize = 1 << 20
        change(&options)
        return options
    }
}

/// Collects the events of a run.
final class EventLog: Sendable {
    private let events = Mutex<[SyncEvent]>([])

    @Sendable func add(_ event: SyncEvent) {
        events.withLock { $0.append(event) }
    }

    /// What `take` makes of the events, without nil.
    func events<Value>(_ take: (SyncEvent) -> Value?) -> [Value] {
        events.withLock { $0 }.compactMap(take)
    }

    var items: [ItemEvent] {
        events.withLock { events in
            events.compactMap { if case .item(let item) = $0 { item } else { nil } }
        }
    }

    var summary: RunSummary? {
        events.withLock { events in
            events.lazy.compactMap {
                if case .finished(let summary) = $0 { summary } else { nil }
            }.first
        }
    }

    var lastProgress: RunProgress? {
        events.withLock { events in
            events.lazy.reversed().compactMap {
                if case .progress(let progress) = $0 { progress } else { nil }
            }.first
        }
    }

    func skipped(_ key: String) -> String? {
        items.last { $0.key == key && $0.state == .skipped }?.message
    }

    var warnings: [String] {
        events.withLock { events in
            events.compactMap { if case .warning(let message) = $0 { message } else { nil } }
        }
    }
}

/// Opens when a run has moved so many bytes.
final class ProgressGate: Sendable {
    private struct State {
        var isOpen = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let bytes: Int64
    private let state = Mutex(State())

    init(bytes: Int64) {
        self.bytes = bytes
    }

    @Sendable func see(_ event: SyncEvent) {
        guard case .progress(let progress) = event, progress.bytesFinished >= bytes else { return }
        open()
    }

    func open() {
        let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
            state.isOpen = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiter = continuation }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}
