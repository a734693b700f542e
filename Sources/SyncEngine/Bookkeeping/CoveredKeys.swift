internal import LocalStorage
internal import SyncModel
internal import SyncPlanner

/// Which links, special files and tags hide what is recorded, and how much of it.
///
/// They are named in every run until they are gone or excluded: what is beneath them is not
/// mirrored any more, and whoever watches the runs of a backup is to learn of it.
struct CoveredKeys: Sendable {
    /// Paths that are named one by one.
    private static let namedLimit = 20

    fileprivate struct Cover: Sendable {
        let issue: WalkIssue
        var recorded = 0
        var others = 0
        var isCopiedTag = false
    }

    private var covers: [[UInt8]: Cover] = [:]
    /// What more of them hide.
    private var rest = 0

    /// Counts a key at or beneath the path of `issue`.
    mutating func add(_ entry: JoinedEntry, _ issue: WalkIssue) {
        guard covers[issue.path] != nil || covers.count < Self.namedLimit else {
            rest += 1
            return
        }
        // A directory stands for what is in it.
        let isFile = !RelativePath.isDirectory(entry.key)
        covers[issue.path, default: Cover(issue: issue)].recorded +=
            entry.base != nil && isFile ? 1 : 0
        covers[issue.path, default: Cover(issue: issue)].others +=
            entry.base == nil && isFile ? 1 : 0
    }

    /// Adds a directory that is left out because of a copy of a tag from the bucket.
    mutating func addCopiedTag(_ issue: WalkIssue) {
        guard covers[issue.path] != nil || covers.count < Self.namedLimit else {
            rest += 1
            return
        }
        covers[issue.path, default: Cover(issue: issue)].isCopiedTag = true
    }

    /// A message for each of them.
    var messages: [String] {
        let named = covers.values.sorted { bytesPrecede($0.issue.path, $1.issue.path) }
        let more =
            rest == 0
            ? []
            : [
                Self.counted(rest, "more file") + (rest == 1 ? " is" : " are")
                    + " at or beneath other links, special files or tagged directories and not "
                    + "mirrored"
            ]
        return named.map(\.message) + more
    }

    fileprivate static func counted(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }
}

extension CoveredKeys.Cover {
    fileprivate var message: String {
        let name = displayText(issue.path)
        let key = ObjectKey(issue.path)
        let directory = ObjectKey(issue.path + [UInt8(ascii: "/")])
        switch issue.reason {
        case .tagged(let tag) where isCopiedTag && recorded + others == 0:
            return "'\(name)' is left out because of '\(displayText(tag.utf8))' in it, which has "
                + "the content of one that came from the bucket: nothing in '\(name)' is "
                + "mirrored; remove that file"
                + (FilterHint(directory, isFileOnly: false)?.text ?? "")
        case .tagged(let tag):
            return "'\(name)' is left out because of '\(displayText(tag.utf8))' in it; \(what) "
                + "not mirrored any more: remove that file"
                + (FilterHint(directory, isFileOnly: false)?.text ?? "")
        case .unreadableTag:
            return "\(issue.message); \(what) not mirrored any more: make that file readable"
                + (FilterHint(directory, isFileOnly: false)?.text ?? "")
        case .special(let kind):
            return "'\(name)' is \(kind.description) now; \(what) not mirrored: remove it"
                + (FilterHint(key, isFileOnly: false)?.text ?? "")
        case .state:
            return "'\(name)' is the state of a mirror now; \(what) not mirrored: move that state"
                + (FilterHint(directory, isFileOnly: false)?.text ?? "")
        case .pseudoFileSystem(let kind):
            return "a file system of the kernel (\(kind)) is mounted on '\(name)' now; \(what) "
                + "not mirrored: unmount it"
                + (FilterHint(directory, isFileOnly: false)?.text ?? "")
        case .excludedEntry:
            return "\(issue.message); \(what) not mirrored: remove it"
                + (FilterHint(directory, isFileOnly: false)?.text ?? "")
        default:
            return "'\(name)' is a symbolic link now; \(what) not mirrored: use --links follow or "
                + "store, or mirror what it leads to separately"
                + (FilterHint(key, isFileOnly: false)?.text ?? "")
        }
    }

    /// What it hides, with the verb.
    private var what: String {
        var parts: [String] = []
        if recorded > 0 { parts.append(CoveredKeys.counted(recorded, "recorded file")) }
        if others > 0 { parts.append(CoveredKeys.counted(others, "object")) }
        guard !parts.isEmpty else { return "the recorded directory is" }
        return parts.joined(separator: " and ") + " at or beneath it "
            + (recorded + others == 1 ? "is" : "are")
    }
}

extension WalkIssue {
    /// True for the state of another mirror, and a directory that is one.
    var isOfMirror: Bool { reason == .state || reason == .nestedMirror }

    /// True for what is no user's file: such a state, and what the kernel shows.
    var isNoUsersFile: Bool {
        if case .pseudoFileSystem = reason { true } else { isOfMirror }
    }

    /// What it is counted as where only the directory has it; nil for what is not counted: the
    /// state of a mirror within this one and what the kernel shows are no user's files.
    var notMirroredKind: NotMirroredKind? {
        switch reason {
        case .symbolicLink, .unfollowedLink: .symbolicLink
        case .special: .specialFile
        case .reservedName, .noEscapedName: .reservedName
        default: nil
        }
    }
}
