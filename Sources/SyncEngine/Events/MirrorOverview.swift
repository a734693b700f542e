internal import SyncModel

/// What is known of a mirror and its runs without asking the bucket: what a page on it shows.
public struct MirrorOverview: Sendable, Hashable {
    /// Files of a directory at the top of the mirror that a run transferred.
    public struct Directory: Sendable, Hashable {
        /// Safe to print, with a "/" at its end; "./" for files at the top.
        public var name: String
        /// How many files.
        public var files: Int
        /// Their bytes.
        public var bytes: Int64
    }

    /// A file that a run transferred.
    public struct File: Sendable, Hashable {
        /// Safe to print.
        public var name: String
        /// In bytes.
        public var size: Int64
    }

    private static let mostFiles = 10
    private static let mostProblems = 100

    /// The latest first, at most 1,000.
    public var runs: [PastRun] = []
    /// What the last run that ended left undone: items that failed, were skipped or are conflicts;
    /// at most 100.
    public var problems: [PastItem] = []
    /// Those that are beyond them.
    public var furtherProblems = 0
    /// The largest files that the last run that ended transferred, the largest first; at most 10.
    public var largest: [File] = []
    /// Where the files were that it transferred, as far as the journal has them, by name.
    public var directories: [Directory] = []
    /// What both sides have in all; nil if that is not known.
    public var totals: MirrorTotals?
    /// How much of the files a `verify` with a budget has read since the last complete one, from 0
    /// to 1; nil if none is unfinished.
    public var verifiedShare: Double?

    /// Makes an overview of a mirror without runs.
    public init() {}

    /// Adds an item of the last run.
    mutating func add(_ item: PastItem, size: Int64?) {
        if item.state != ItemState.done.rawValue || item.action == ItemAction.conflict.rawValue {
            if problems.count < Self.mostProblems {
                problems.append(item)
            } else {
                furtherProblems += 1
            }
        }
        guard let size else { return }
        largest.append(File(name: item.displayKey, size: size))
        if largest.count > 2 * Self.mostFiles { keepLargest() }
        let end = item.displayKey.firstIndex(of: "/")
        let name = end.map { String(item.displayKey[...$0]) } ?? "./"
        // The journal is in no order, and has at most 5,000 items.
        if let index = directories.firstIndex(where: { $0.name == name }) {
            directories[index].files += 1
            directories[index].bytes = directories[index].bytes.addingClamped(size)
        } else {
            directories.append(Directory(name: name, files: 1, bytes: size))
        }
    }

    mutating func sort() {
        keepLargest()
        directories.sort { $0.bytes > $1.bytes }
    }

    private mutating func keepLargest() {
        largest = [File](largest.sorted { $0.size > $1.size }.prefix(Self.mostFiles))
    }
}
