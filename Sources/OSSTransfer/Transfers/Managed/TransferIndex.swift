internal import LocalStorage
package import ObjectStorage
internal import ObjectTransfer

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
    /// Over one without these traits it always may run.
    var networks: TransferJob.NetworkTraits
    /// Where it is.
    public internal(set) var state = TransferState.ready
    /// Bytes that are where they belong.
    public internal(set) var completedBytes: Int64 = 0
    /// Bytes of the whole; nil before anything is known of it.
    public internal(set) var totalBytes: Int64?
    /// True if it failed for want of a connection, or of something else that may come back.
    var mayRetry = false
    /// Why it failed, also in an earlier process; nil if it did not, or was started again since.
    public internal(set) var errorCode: TransferError.Code?
    /// What failed and what to do, in English, for logs and support.
    public internal(set) var errorMessage: String?
    /// Bytes that move in a second, by the last five seconds; nil while it does not run, and before
    /// that can be said.
    public internal(set) var bytesPerSecond: Int64?
    /// What it waits for; nil if it moves, or was not started.
    public internal(set) var waitingFor: Wait?

    /// What a transfer waits for.
    @nonexhaustive
    public enum Wait: Sendable, Hashable {
        /// Its turn: as many run as the manager's limit allows, or no task runs the manager.
        case turn
        /// A connection: it was lost, or the provider's server can't be reached. The transfer
        /// tries again by itself, and at once after ``TransferManager/networkChanged()``.
        case network
        /// A network over which it may run, such as Wi-Fi.
        case allowedNetwork
    }

    /// True if it failed and ``TransferManager/networkChanged()`` starts it again: another attempt
    /// may succeed.
    public var isRetryable: Bool { state == .failed && mayRetry }
    /// The part that is where it belongs, from 0 to 1; nil before anything is known of the whole.
    public var fraction: Double? {
        totalBytes.map { TransferProgress.fraction(completedBytes, of: $0) }
    }
    /// How long the rest takes at the pace of ``bytesPerSecond``; nil if that is not known.
    public var timeLeft: Duration? {
        guard let totalBytes, let bytesPerSecond, bytesPerSecond > 0 else { return nil }
        return .seconds(Double(max(0, totalBytes - completedBytes)) / Double(bytesPerSecond))
    }

    /// Whether it may run over a network on which bytes cost money.
    public var allowsExpensiveNetwork: Bool { networks.contains(.expensive) }
    /// Whether it may run over a network on which little is to be moved.
    public var allowsConstrainedNetwork: Bool { networks.contains(.constrained) }

    mutating func fail(_ error: TransferError) {
        state = .failed
        mayRetry = error.isRetryable
        (errorCode, errorMessage) = (error.code, error.message)
    }

    /// It is started again.
    mutating func forgetError() {
        (mayRetry, errorCode, errorMessage) = (false, nil, nil)
    }
}

extension ManagedTransfer {
    /// Makes a row of a list, for tests and previews.
    public init(
        id: String,
        kind: TransferJob.Kind,
        path: String,
        state: TransferState = .ready,
        completedBytes: Int64 = 0,
        totalBytes: Int64? = nil,
        priority: Int = 0,
        context: String = ""
    ) {
        self.init(
            id: id,
            kind: kind,
            path: path,
            context: context,
            pauseReason: nil,
            priority: priority,
            networks: [.expensive, .constrained],
            state: state,
            completedBytes: completedBytes,
            totalBytes: totalBytes
        )
    }
}

/// The transfers of a ``TransferManager`` on disk: a file for each, without secrets.
///
/// The records of the transfers themselves are other files, which are written far more often.
final class TransferIndex: Sendable {
    /// A transfer, and the one path of a download's file.
    typealias Found = (number: Int64, transfer: ManagedTransfer, file: String?)

    private static let suffix = ".transfer"

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
                let record = ManagedRecord(content: bytes),
                Self.name(record.transfer.id) == name
            else { continue }
            var transfer = record.transfer
            transfer.path = record.path(base)
            try removeUseless(transfer)
            let file =
                transfer.kind == .download
                ? try? RecordPlace.relative(transfer.path, to: nil) : nil
            found.append((record.number, transfer, file))
        }
        return found.sorted { $0.number < $1.number }
    }

    func save(_ transfer: ManagedTransfer, number: Int64) throws(LocalError) {
        let record = ManagedRecord(
            number: number,
            relative: relative(transfer.path),
            transfer: transfer
        )
        try directory.write(Self.name(transfer.id), record.content)
        try removeUseless(transfer)
    }

    /// By the record of a transfer the next process would find that it has finished, until that is
    /// written down here.
    private func removeUseless(_ transfer: ManagedTransfer) throws(LocalError) {
        if transfer.state == .finished { try directory.remove(Self.record(of: transfer)) }
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

struct ManagedRecord: StateFile, Hashable {
    static let heading = "osssync-managed 1"

    let number: Int64
    /// The path below the base; nil for one elsewhere.
    let relative: String?
    let transfer: ManagedTransfer

    static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
        let known = value?.transfer
        return ManagedRecord(
            number: try fields("number", value?.number),
            relative: try fields.optional("below_base", value?.relative),
            transfer: ManagedTransfer(
                id: try fields("identifier", known?.id),
                kind: try fields("kind", known?.kind),
                path: try fields("path", known?.path),
                context: try fields("context", known?.context),
                pauseReason: try fields.optional("pause_reason", known?.pauseReason),
                priority: try fields("priority", known?.priority),
                networks: TransferJob.NetworkTraits(
                    rawValue: try fields("networks", known?.networks.rawValue)
                ),
                state: try fields("state", known?.state),
                completedBytes: try fields("completed", known?.completedBytes),
                totalBytes: try fields.optional("total", known?.totalBytes),
                mayRetry: try fields("may_retry", known?.mayRetry),
                errorCode: try fields.optional("error", known?.errorCode?.description)
                    .flatMap(TransferError.Code.init(named:)),
                errorMessage: try fields.optional("error_message", known?.errorMessage)
            )
        )
    }

    /// The path as it was given, or where it is since its base was moved.
    func path(_ base: String?) -> String {
        guard let relative, let base else { return transfer.path }
        return base + "/" + relative
    }
}

extension TransferJob.Kind: JSONValue {}

extension TransferState: JSONValue {
    private static let names: [(TransferState, String)] = [
        (.ready, "ready"), (.waiting, "waiting"), (.paused, "paused"), (.failed, "failed"),
        (.finished, "finished"), (.cancelled, "cancelled"),
    ]

    package init?(json: JSONText) {
        guard let (state, _) = Self.names.first(where: { json == .string($0.1) }) else {
            return nil
        }
        self = state
    }

    /// A transfer that runs or waits when its process ends resumes in the next process.
    package var json: JSONText {
        let name = Self.names.first { $0.0 == self }?.1
        return .string(name ?? "waiting")
    }
}
