internal import SyncEngine
internal import SyncModel

/// What is known of the run that goes on, or went last.
///
/// Unchecked, because a simulation has one thread.
final class RunState: @unchecked Sendable {
    let options: ToolRun
    let number: Int
    let dice: FaultDice
    var requests = 0
    var calls = 0
    var changes = 0
    /// True once the process is gone, although its code may still run.
    var isDead = false
    /// Set where the task is to be cancelled when its present piece has ended.
    var wantsCancel = false
    var cancelledAt: Duration?
    var isFinished = false
    var summary: RunSummary?
    /// True if it only looks.
    var isStatus = false
    /// What it saw then.
    var report: StatusReport?
    /// Objects whose files were equal when it began, with their serial numbers, by whole keys.
    var equalAtStart: [ObjectKey: Int] = [:]
    /// What was at their paths then.
    var treeAtStart: [ObjectKey: DiskEntry] = [:]
    var failure: SyncError?
    var items: [ItemEvent] = []
    var warnings: [String] = []
    /// The world changed while it went on.
    var hadCompany = false
    var served = Served()
    /// Something was deleted in this run, here or there.
    var deletions = 0
    var failuresBeforeDeletion = 0
    /// What the name of the crash point is, once it crashed.
    var crashPoint: String?
    /// Object contents that went out or came in.
    var bytesMoved: Int64 = 0
    /// Versions that were the objects when the run began, by their serial numbers.
    var serialsAtStart: [ObjectKey: Int] = [:]
    var filesAtStart: Set<ObjectKey> = []
    /// When each file had last changed when the run began.
    var changedAtStart: [ObjectKey: Int64] = [:]
    var treeNeedsLook = false
    /// When the machine started, by the wall clock as it was at the run's beginning.
    var bootedAt = Timestamp(seconds: 0)
    /// Objects that this run wrote or deleted, by their whole keys.
    var written: Set<ObjectKey> = []
    var startOfRun = Duration.zero

    let signal = ThrottleSignal()
    var task: Task<Void, Never>?

    init(_ options: ToolRun, number: Int) {
        self.options = options
        self.number = number
        dice = FaultDice(options.faults)
    }

    var deletes: Bool { options.deletesKnown || options.deletesExtra }

    /// True if a flag allows to replace or remove what the user changed.
    var mayTakeUserData: Bool {
        options.replacesLocalChanges || options.conflicts == .remote || options.deletesExtra
    }

    /// How it ended, for the trace.
    var outcome: String {
        if let failure { return "by \(failure.code): \(failure.message)" }
        return summary.map { "with \($0)" } ?? "without a word"
    }

    /// True if it said of a path, or of a directory above it, that it was left out.
    func names(_ path: ObjectKey) -> Bool {
        let ends =
            path.bytes.indices.filter { path.bytes[$0] == UInt8(ascii: "/") }
            + [path.bytes.endIndex]
        return ends.contains { end in
            hasItem(ObjectKey([UInt8](path.bytes[..<end]))) {
                $0.state == .skipped || $0.state == .failed
            }
        }
    }

    func hasItem(_ key: ObjectKey, where isMeant: (ItemEvent) -> Bool) -> Bool {
        let name = key.display
        return items.contains { $0.key == name && isMeant($0) }
    }
}
