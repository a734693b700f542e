internal import ObjectTransfer
internal import SyncEngine
internal import SyncModel

/// What is known of the run that goes on, or went last.
///
/// Unchecked, because a simulation has one thread.
final class RunState: @unchecked Sendable {
    let options: ToolRun
    let number: Int
    let dice: FaultDice
    /// What it is limited to; nil for the whole mirror, for which "." stands, too.
    let paths: [Name]?
    var requests = 0
    var calls = 0
    var changes = 0
    /// Calls that change names, and writes.
    var names = 0
    var writes = 0
    /// It dies before whatever it does next: the name of the crash point.
    var isDyingAt: String?
    /// Reads that the disk refused.
    var readFailures = 0
    /// A write was refused because the disk, or what the user may take of it, is full.
    var hadFullDisk = false
    /// The key of the last request that was for one, relative to the prefix.
    var askedLast: ObjectKey?
    /// Keys whose transfer was begun and has not ended.
    var underWay: Set<String> = []
    /// There was nothing in the directory when it began.
    var isDirectoryEmpty = false
    /// The other start of the program.
    var rival: RivalRun?
    /// The remote's host as the manifest had it when the run began; nil if that is not known.
    var recordedHost: String?
    /// True once the process is gone, although its code may still run.
    var isDead = false
    /// Set where the task is to be cancelled when its present piece has ended.
    var wantsCancel = false
    var cancelledAt: Duration?
    var isFinished = false
    var summary: RunSummary?
    /// True if it only asks what there is to do.
    let isStatus: Bool
    /// What it saw then.
    var report: StatusReport?
    /// Objects whose files were equal when it began, with their serial numbers, by whole keys.
    var equalAtStart: [ObjectKey: Int] = [:]
    /// What was at their paths then.
    var treeAtStart: [ObjectKey: DiskEntry] = [:]
    var failure: TransferError?
    var items: [ItemEvent] = []
    var warnings: [String] = []
    /// The directory is not where it was any more.
    var rootIsGone = false
    /// The last request that was under way by then.
    var lastRequestWithRoot: Int?
    /// The request that the service carries out.
    var answering = 0
    /// Files that it said to be damaged.
    var foundDamaged: Set<String> = []
    /// Files that grew while it went on.
    var grown: Set<ObjectKey> = []
    /// What it leaves alone by the user's own rules.
    var rules = Rules()
    /// Names that the ignore file hid when it began.
    var ignored: Set<String> = []
    /// Names that it hid by the will of users, or of what was used before.
    var hidden: Set<String> = []
    /// The versions that were seen last when each object was asked for.
    var lastSeen: [ObjectKey: Int] = [:]
    /// Keys that a listing had, and their versions in the last listing that had them again.
    var listed: Set<ObjectKey> = []
    var lastListed: [ObjectKey: Int] = [:]
    var hadStaleListing = false
    /// The world changed while it went on.
    var hadCompany = false
    var served = Served()
    /// Something was deleted in this run, here or there.
    var deletions = 0
    /// A directory of the mirror could not be read when its files were looked for.
    var hasMissedFiles = false
    /// How often the run has begun to read a directory: the walk does so once, and first.
    var readings: [String: Int] = [:]
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
    /// What the directory had when it began.
    var entriesAtStart: Set<ObjectKey> = []
    /// Of a limited run: what it must leave as it was.
    var outside = Outside()
    /// Objects that this run wrote or deleted, by their whole keys.
    var written: Set<ObjectKey> = []
    var startOfRun = Duration.zero

    let storeObserver = StoreObserver()
    var task: Task<Void, Never>?

    init(_ options: ToolRun, number: Int, isStatus: Bool) {
        self.options = options
        self.isStatus = isStatus || options.tool == .status
        self.number = number
        dice = FaultDice(options.faults)
        let isWhole = options.paths?.contains { [".", "./"].contains($0.key) } ?? true
        paths = isWhole ? nil : options.paths?.map(Self.withoutDot)
    }

    /// A path as users type it, as what it stands for.
    private static func withoutDot(_ path: Name) -> Name {
        var bytes = path.key.bytes[...]
        while bytes.starts(with: "./".utf8) { bytes = bytes.dropFirst(2) }
        return Name(ObjectKey(bytes))
    }

    /// True if it changes nothing on either side.
    var isLooking: Bool { options.isDryRun || isStatus }
    var writesFiles: Bool {
        if options.tool == .repair { return true }
        return !isLooking && options.tool == nil && options.direction != .push
    }
    var writesObjects: Bool { !isLooking && options.tool == nil && options.direction != .pull }

    var deletes: Bool { options.deletesKnown || options.deletesExtra }

    /// True if a flag allows to replace or remove what the user changed; a sync knows one of them.
    var mayTakeUserData: Bool {
        if options.conflicts == .remote { return true }
        return options.direction != .sync
            && (options.replacesLocalChanges || options.deletesExtra)
    }

    /// True if it was told to leave alone what has this path.
    func excludes(_ path: ObjectKey) -> Bool {
        path.hasNameOfOurOwn || leavesOut(path) || hasExcludedName(path)
    }

    /// The same of its name, or that of a directory above it.
    func hasExcludedName(_ path: ObjectKey) -> Bool {
        let excluded = ignored.union(options.excluded ?? [])
        guard !excluded.isEmpty else { return false }
        return path.bytes.split(separator: UInt8(ascii: "/")).contains { segment in
            excluded.contains { segment.elementsEqual($0.utf8) }
        }
    }

    /// True if it is limited to paths and this is none of them.
    func isOutside(_ path: ObjectKey) -> Bool {
        guard let paths else { return false }
        return !paths.contains { name in
            let beneath = ObjectKey(name.key.bytes + [UInt8(ascii: "/")])
            return path == name.key || path.hasPrefix(beneath)
        }
    }

    /// The same but for what a conflict keeps, which lies beside its file.
    func leavesOut(_ path: ObjectKey) -> Bool {
        guard isOutside(path) else { return false }
        return paths?.contains { Model.isNameOfConflict(path, of: $0.key) } != true
    }

    /// True if every page came of the keys that begin with `prefix`, but for what is left out.
    func sawAll(beneath prefix: ObjectKey) -> Bool {
        served.isComplete(prefix) { directory in
            let inside = ObjectKey(directory.bytes + [UInt8]("/x".utf8))
            return excludes(directory) || rules.hides(inside, size: 0)
        }
    }

    /// Takes note of how far an item is.
    func follow(_ item: ItemEvent) {
        items.append(item)
        switch item.state {
        case .started, .resumed: underWay.insert(item.displayKey)
        case .done, .failed, .skipped: underWay.remove(item.displayKey)
        case .planned: break
        }
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
        return items.contains { $0.displayKey == name && isMeant($0) }
    }
}

extension ObjectKey {
    /// True for names of osssync's own files, which every run leaves out of both sides.
    var hasNameOfOurOwn: Bool {
        bytes.split(separator: UInt8(ascii: "/")).contains { segment in
            let lowered = segment.map { (65...90).contains($0) ? $0 + 32 : $0 }
            if lowered.elementsEqual(".osssync".utf8) { return true }
            let mark = [UInt8](".osssync-".utf8)
            return lowered.starts(with: mark) && lowered.count == mark.count + 32
                && lowered.dropFirst(mark.count).allSatisfy {
                    (48...57).contains($0) || (97...102).contains($0)
                }
        }
    }
}
