internal import ObjectStorage
internal import SyncModel
internal import SyncPlanner

/// One item of a saved plan: a key, what is done about it, and the facts that this rests on.
///
/// The facts are compared with those of the run that carries the plan out. The outcome is that of a
/// comparison.
struct PlanLine: Sendable, Hashable {
    let key: ObjectKey
    let action: ItemAction
    let size: Int64
    private let decision: String
    private let here: Facts?
    private let there: Facts?
    private let recorded: Facts?
    private var outcome: String?

    /// What is known of one side of a key.
    struct Facts: Sendable, Hashable {
        var isDirectory: Bool?
        var isEmpty: Bool?
        var size: Int64?
        var modified: String?
        var inode: UInt64?
        var mode: String?
        var etag: PercentText?
        var written: String?

        init() {}

        init(_ local: LocalEntry) {
            mode = local.permissions.map { String($0, radix: 8) }
            switch local.kind {
            case .file(let file):
                (size, inode) = (file.size, file.inode)
                modified = Self.text(file.modified)
            case .directory(let isEmpty): (isDirectory, self.isEmpty) = (true, isEmpty)
            }
        }

        /// Permissions that change there leave the tag as it is.
        init(_ object: RemoteObject, carriesMode: Bool) {
            size = object.size
            etag = PercentText(object.etag.text.utf8)
            written = carriesMode ? object.lastModified.map { String($0.seconds) } : nil
        }

        init(_ row: ManifestEntry) {
            (size, inode) = (row.size, row.inode)
            modified = Self.text(row.localModified)
            etag = PercentText(row.etag.text.utf8)
        }

        private static func text(_ time: Timestamp) -> String {
            let digits = String(Int64(1_000_000_000) + Int64(time.nanoseconds)).dropFirst()
            return "\(time.seconds).\(digits)"
        }
    }

    var isDeletion: Bool { action == .deleteLocal || action == .deleteRemote }

    /// True if the bytes of the item are transferred.
    var movesBytes: Bool { action == .download || action == .upload }

    /// What is to be done about `item`, if the plan has the same decision on the same facts.
    ///
    /// Of a comparison, only the outcome that was planned is left.
    func decision(on item: PlannedItem) -> Decision? {
        var expected = PlanLine(item, action, outcome: nil)
        expected.outcome = outcome
        guard self == expected else { return nil }
        guard let outcome else { return item.decision }
        guard case .compare = item.decision, item.decision.outcomes.contains(where: isPlanned)
        else { return nil }
        return item.decision.keeping(isPlanned, else: .skip(.notInPlan))
        func isPlanned(_ decision: Decision) -> Bool { decision.name == outcome }
    }
}

extension PlanLine {
    /// The action that a dry run reports, and the outcome of a comparison that it made.
    init(_ item: PlannedItem, _ action: ItemAction, outcome: Decision?) {
        let entry = item.entry
        let (local, remote) = (entry.local?.identity?.size, entry.remote?.size)
        let isOfFile = item.decision.sendsFile || item.decision.clearsLocal
        self.init(
            key: entry.key,
            action: action,
            size: (isOfFile ? local ?? remote : remote ?? local) ?? 0,
            decision: item.decision.name,
            here: entry.local.map { Facts($0) },
            there: entry.remote.map {
                Facts($0, carriesMode: item.decision.outcomes.contains(.carryMode(.file)))
            },
            recorded: entry.base.map { Facts($0) },
            outcome: outcome?.name
        )
    }

    /// Nil for what ``bytes`` never is.
    init?(parsing line: some Collection<UInt8>) {
        let line = [UInt8](line)
        guard let json = try? JSONText(parsing: line, maximumSize: line.count) else { return nil }
        self.init(json: json)
    }

    /// As it stands in the file, with the end of the line.
    var bytes: [UInt8] { [UInt8]((json.text + "\n").utf8) }
}

extension PlanLine: JSONObject {
    static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
        PlanLine(
            key: try fields("key", value?.key),
            action: try fields("action", value?.action),
            size: try fields("size", value?.size),
            decision: try fields("decision", value?.decision),
            here: try fields.optional("here", value?.here),
            there: try fields.optional("there", value?.there),
            recorded: try fields.optional("recorded", value?.recorded),
            outcome: try fields.optional("outcome", value?.outcome)
        )
    }
}

extension PlanLine.Facts: JSONObject {
    static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
        var facts = Self()
        facts.isDirectory = try fields.optional("directory", value?.isDirectory)
        facts.isEmpty = try fields.optional("empty", value?.isEmpty)
        facts.size = try fields.optional("size", value?.size)
        facts.modified = try fields.optional("modified", value?.modified)
        facts.inode = try fields.optional("inode", value?.inode)
        facts.mode = try fields.optional("mode", value?.mode)
        facts.etag = try fields.optional("etag", value?.etag)
        facts.written = try fields.optional("written", value?.written)
        return facts
    }
}

extension Decision {
    /// What it is called in a plan.
    fileprivate var name: String {
        switch self {
        case .nothing: "nothing"
        case .download, .downloadAfterDeletions: "download"
        case .upload: "upload"
        case .compare: "compare"
        case .adopt: "adopt"
        case .refresh: "refresh"
        case .carryMode(.object): "mode-of-object"
        case .carryMode(.file): "mode-of-file"
        case .makeDirectory: "make-directory"
        case .uploadMarker: "upload-marker"
        case .deleteLocal: "delete-local"
        case .deleteRemote: "delete-remote"
        case .forget: "forget"
        case .keepLocalChange, .carryMode(.neither): "keep-local-change"
        case .conflict(_, let resolution): "conflict-" + resolution.name
        case .skip: "skip"
        }
    }

    /// True if nothing is left to do for a key that both sides have.
    var isDone: Bool {
        switch self {
        case .nothing(.unchanged), .nothing(.impliedDirectory), .refresh(.unchanged): true
        default: false
        }
    }

    /// What its comparisons can end in.
    fileprivate var outcomes: [Decision] {
        if case .compare(_, let same, let different) = self {
            same.outcomes + different.outcomes
        } else {
            [self]
        }
    }

    /// The decision with `other` for the outcomes of comparisons that `isKept` refuses.
    func keeping(_ isKept: (Decision) -> Bool, else other: Decision) -> Decision {
        guard case .compare(let comparison, let same, let different) = self else {
            return isKept(self) ? self : other
        }
        return .compare(
            comparison,
            same: same.keeping(isKept, else: other),
            different: different.keeping(isKept, else: other)
        )
    }
}

extension ConflictResolution {
    fileprivate var name: String {
        switch self {
        case .downloadKeepingLocal: "keep-both"
        case .download: "download"
        case .upload: "upload"
        case .deleteLocal: "delete-local"
        case .deleteRemote: "delete-remote"
        case .leaveBoth: "leave-both"
        case .stopRun: "stop"
        }
    }
}
