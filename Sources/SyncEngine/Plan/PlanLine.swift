internal import ObjectStorage
internal import SyncModel
internal import SyncPlanner

/// One item of a saved plan: a key, what is done about it, and the facts that this rests on.
///
/// `{"key":…,"action":…,"size":…,"decision":…,"here":…,"there":…,"recorded":…,"outcome":…}`: the
/// facts are compared as they are written, and nothing but the first two is ever read back. The
/// outcome is that of a comparison.
struct PlanLine: Sendable, Hashable {
    let key: ObjectKey
    let action: ItemAction
    /// What follows the action.
    let facts: [UInt8]

    private static let start = [UInt8]("{\"key\":\"".utf8)
    private static let middle = [UInt8]("\",\"action\":\"".utf8)
    private static let end = UInt8(ascii: "}")
    private static let quote = UInt8(ascii: "\"")

    /// The action that a dry run reports, and the outcome of a comparison that it made.
    init(_ item: PlannedItem, _ action: ItemAction, outcome: Decision?) {
        key = item.entry.key
        self.action = action
        facts = Self.facts(of: item) + Self.text(of: outcome) + [Self.end]
    }

    /// Nil for what ``bytes`` never is.
    init?(parsing line: some Collection<UInt8>) {
        let line = [UInt8](line)
        guard line.starts(with: Self.start), line.last == Self.end,
            let keyEnd = line[Self.start.count...].firstIndex(of: Self.quote),
            let key = percentDecode([UInt8](line[Self.start.count..<keyEnd])),
            line[keyEnd...].starts(with: Self.middle)
        else { return nil }
        let word = line[(keyEnd + Self.middle.count)...]
        guard let wordEnd = word.firstIndex(of: Self.quote),
            let action = ItemAction(rawValue: String(decoding: word[..<wordEnd], as: UTF8.self))
        else { return nil }
        self.key = ObjectKey(key)
        self.action = action
        facts = [UInt8](line[(wordEnd + 1)...])
    }

    /// As it stands in the file, with the end of the line.
    var bytes: [UInt8] {
        Self.start + percentEncoded(key.bytes) + Self.middle
            + [UInt8](action.rawValue.utf8) + [Self.quote] + facts + [UInt8(ascii: "\n")]
    }

    var isDeletion: Bool { action == .deleteLocal || action == .deleteRemote }

    /// True if the bytes of the item are transferred.
    var movesBytes: Bool { action == .download || action == .upload }

    /// What is to be done about `item`, if the plan has the same decision on the same facts.
    ///
    /// Of a comparison, only the outcome that was planned is left.
    func decision(on item: PlannedItem) -> Decision? {
        let expected = Self.facts(of: item)
        guard facts.starts(with: expected) else { return nil }
        let rest = facts.dropFirst(expected.count)
        if rest.elementsEqual([Self.end]) { return item.decision }
        guard case .compare = item.decision else { return nil }
        let planned = item.decision.outcomes.first { outcome in
            rest.elementsEqual(Self.text(of: outcome) + [Self.end])
        }
        return planned.map { planned in
            let text = Self.text(of: planned)
            return item.decision.keeping({ Self.text(of: $0) == text }, else: .skip(.notInPlan))
        }
    }

    private static func text(of outcome: Decision?) -> [UInt8] {
        outcome.map { [UInt8](",\"outcome\":\"\($0.name)\"".utf8) } ?? []
    }

    static func size(of item: PlannedItem) -> Int64 {
        let (local, remote) = (item.entry.local?.identity?.size, item.entry.remote?.size)
        let isOfFile = item.decision.sendsFile || item.decision.clearsLocal
        return (isOfFile ? local ?? remote : remote ?? local) ?? 0
    }

    private static func facts(of item: PlannedItem) -> [UInt8] {
        let entry = item.entry
        let mode = entry.local?.permissions.map { ",\"mode\":\"\(String($0, radix: 8))\"" } ?? ""
        var text = ",\"size\":\(size(of: item)),\"decision\":\"\(item.decision.name)\""
        switch entry.local?.kind {
        case .file(let file)?:
            text += ",\"here\":{\(form(file.size, file.modified, file.inode))\(mode)}"
        case .directory(let isEmpty)?:
            text += ",\"here\":{\"directory\":true,\"empty\":\(isEmpty)\(mode)}"
        case nil: break
        }
        if let object = entry.remote {
            text += ",\"there\":{\"size\":\(object.size),\(form(object.etag))"
            // Permissions that change there leave the tag as it is.
            if item.decision.outcomes.contains(.carryMode(.file)), let time = object.lastModified {
                text += ",\"written\":\"\(time.seconds)\""
            }
            text += "}"
        }
        if let row = entry.base {
            text +=
                ",\"recorded\":{\(form(row.size, row.localModified, row.inode)),"
                + "\(form(row.etag))}"
        }
        return [UInt8](text.utf8)
    }

    private static func form(_ size: Int64, _ modified: Timestamp, _ inode: UInt64) -> String {
        let digits = String(Int64(1_000_000_000) + Int64(modified.nanoseconds)).dropFirst()
        return "\"size\":\(size),\"modified\":\"\(modified.seconds).\(digits)\","
            + "\"inode\":\"\(inode)\""
    }

    private static func form(_ etag: ETag) -> String {
        let text = percentEncoded([UInt8](etag.text.utf8))
        return "\"etag\":\"\(String(decoding: text, as: UTF8.self))\""
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

/// Bytes as one line of JSON has them between quotes: text as it is if it is safe to print, else
/// with `%XX` for all but printable ASCII.
private func percentEncoded(_ bytes: [UInt8]) -> [UInt8] {
    let isSafe = !bytes.contains { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "\"") }
    if isSafe, displayText(bytes).utf8.elementsEqual(bytes) { return bytes }
    let digits = [UInt8]("0123456789ABCDEF".utf8)
    let special = [UInt8]("%\"\\".utf8)
    return bytes.flatMap { byte in
        (0x20...0x7E).contains(byte) && !special.contains(byte)
            ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
}
