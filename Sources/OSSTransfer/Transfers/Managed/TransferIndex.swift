internal import LocalStorage
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

/// What a ``TransferManager`` knows of a transfer.
public struct ManagedTransfer: Sendable, Hashable, Identifiable {
    /// The app's own name for it, its ID in all calls.
    public let id: String
    /// Whether it is a download or an upload.
    public let kind: TransferJob.Kind
    /// The file's path.
    public internal(set) var path: String
    /// What the app said of it when it was added.
    public let context: String
    /// Why it was paused, as ``TransferManager/pauseAll(reason:)`` was told.
    public internal(set) var pauseReason: String?
    /// Of those that wait, one with a higher priority starts first.
    public internal(set) var priority: Int
    /// The networks over which it may run; over one without these traits it always may.
    public internal(set) var networks: NetworkTraits
    /// Where it is.
    public internal(set) var state = TransferState.ready
    /// Bytes that are where they belong.
    public internal(set) var completedBytes: Int64 = 0
    /// Bytes of the whole; nil before anything is known of it.
    public internal(set) var totalBytes: Int64?
    /// True if it failed for want of a connection, or of something else that may come back.
    var mayRetry = false
}

/// The transfers of a ``TransferManager`` on disk: a file for each, without secrets.
final class TransferIndex: Sendable {
    /// A transfer, and the one path of a download's file.
    typealias Found = (number: Int64, transfer: ManagedTransfer, file: String?)

    private static let suffix = ".transfer.json"

    private let directory: RecordDirectory
    /// What paths below it are relative to.
    private let base: String?
    /// Two managers would move the same bytes twice.
    private let lock: RecordLock

    init(path: String, base: String?) throws(LocalError) {
        directory = try RecordDirectory(path: path)
        self.base = base
        lock = try directory.lock("manager.lock")
        try RecordSweep.removeLeftovers(in: directory, olderThan: nil)
    }

    /// All that is recorded, in the order in which it was added; what can't be read is left out.
    func load() throws(LocalError) -> [Found] {
        var found: [Found] = []
        for name in try directory.names(endingIn: Self.suffix) {
            guard let bytes = try directory.read(name),
                let json = try? JSONText(parsing: bytes, maximumSize: 1 << 20),
                let number = json["number"]?.decimal, let transfer = ManagedTransfer(json, base),
                Self.name(transfer.id) == name
            else { continue }
            // A process that was killed had written down the end and not yet forgotten how.
            if transfer.state == .finished { try directory.remove(Self.record(of: transfer)) }
            let file =
                transfer.kind == .download
                ? try? RecordPlace.relative(transfer.path, to: nil) : nil
            found.append((number, transfer, file))
        }
        return found.sorted { $0.number < $1.number }
    }

    func save(_ transfer: ManagedTransfer, number: Int64) throws(LocalError) {
        let json = transfer.json(number: number, below: relative(transfer.path))
        try directory.write(Self.name(transfer.id), [UInt8]((json.text + "\n").utf8))
    }

    /// The base, if `path` is below it.
    func base(above path: String) -> String? { relative(path).flatMap { _ in base } }

    /// The path below the base; nil if it is elsewhere.
    private func relative(_ path: String) -> String? {
        guard let base else { return nil }
        return try? RecordPlace.relative(path, to: base)
    }

    func remove(_ id: String) throws(LocalError) {
        try directory.remove(Self.name(id))
    }

    /// Deletes what an unfinished transfer left on this machine.
    func discard(_ transfer: ManagedTransfer) throws(LocalError) {
        let name = Self.record(of: transfer)
        guard transfer.kind == .download, let file = try? FileDestination(transfer.path) else {
            return try directory.remove(name)
        }
        try RecordSweep.discard(name, in: directory, beside: file)
    }

    /// The record of the transfer itself.
    private static func record(of transfer: ManagedTransfer) -> String {
        RecordPlace.name(of: transfer.id, isDownload: transfer.kind == .download)
    }

    private static func name(_ id: String) -> String {
        RecordPlace.digest([id]) + suffix
    }
}

// MARK: - The form of a file

extension ManagedTransfer {
    /// The content of its file; `relative` is the path below the base, nil for one elsewhere.
    fileprivate func json(number: Int64, below relative: String?) -> JSONText {
        .object([
            .init(name: "below_base", value: relative.map { .string($0) } ?? .null),
            .init(name: "number", value: .number(String(number))),
            .init(name: "identifier", value: .string(id)),
            .init(name: "kind", value: .string(kind.rawValue)),
            .init(name: "path", value: .string(path)),
            .init(name: "context", value: .string(context)),
            .init(name: "pause_reason", value: pauseReason.map { .string($0) } ?? .null),
            .init(name: "priority", value: .number(String(priority))),
            .init(name: "networks", value: .number(String(networks.rawValue))),
            .init(name: "state", value: .string(state.recordName)),
            .init(name: "completed", value: .number(String(completedBytes))),
            .init(name: "total", value: totalBytes.map { .number(String($0)) } ?? .null),
            .init(name: "may_retry", value: .bool(mayRetry)),
        ])
    }

    /// Nil if it is not what ``json(number:below:)`` makes.
    fileprivate init?(_ json: JSONText, _ base: String?) {
        guard let id = json["identifier"]?.content,
            let kind = json["kind"]?.content.flatMap(TransferJob.Kind.init),
            let path = json["path"]?.content,
            let priority = json["priority"]?.decimal.flatMap({ Int(exactly: $0) }),
            let networks = json["networks"]?.decimal.flatMap({ Int(exactly: $0) }),
            let state = json["state"]?.content.flatMap(TransferState.init(recordName:)),
            let completed = json["completed"]?.decimal
        else { return nil }
        self.init(
            id: id,
            kind: kind,
            path: Self.path(path, below: json["below_base"]?.content, base),
            context: json["context"]?.content ?? "",
            pauseReason: json["pause_reason"]?.content,
            priority: priority,
            networks: NetworkTraits(rawValue: networks),
            state: state,
            completedBytes: completed,
            totalBytes: json["total"]?.decimal,
            mayRetry: json["may_retry"] == .bool(true)
        )
    }
}

extension ManagedTransfer {
    /// The path as it was given, or where it is since its base was moved.
    private static func path(_ path: String, below relative: String?, _ base: String?) -> String {
        guard let relative, let base else { return path }
        return base + "/" + relative
    }
}

extension TransferState {
    /// A transfer that runs or waits when its process ends resumes in the next process.
    fileprivate var recordName: String {
        switch self {
        case .ready: "ready"
        case .running, .waiting: "waiting"
        case .paused: "paused"
        case .failed: "failed"
        case .finished: "finished"
        case .cancelled: "cancelled"
        }
    }

    fileprivate init?(recordName: String) {
        let all: [TransferState] = [.ready, .waiting, .paused, .failed, .finished, .cancelled]
        guard let state = all.first(where: { $0.recordName == recordName }) else { return nil }
        self = state
    }
}

extension JSONText {
    fileprivate var decimal: Int64? {
        if case .number(let digits) = self { Int64(digits) } else { nil }
    }

    fileprivate var content: String? {
        if case .string(let text) = self { text } else { nil }
    }
}
