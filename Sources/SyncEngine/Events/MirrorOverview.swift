package import SyncModel

/// What is known of a mirror and its runs without asking the bucket: what a page on it shows.
package struct MirrorOverview: Sendable, Hashable {
    /// Files of a directory at the top of the mirror that a run transferred.
    package struct Directory: Sendable, Hashable {
        /// Safe to print, with a "/" at its end; "./" for files at the top.
        package var name: String
        /// How many files.
        package var files: Int
        /// Their bytes.
        package var bytes: Int64
    }

    /// A file that a run transferred.
    package struct File: Sendable, Hashable {
        /// Safe to print.
        package var name: String
        /// In bytes.
        package var size: Int64
    }

    /// How much is read; each depth includes those before.
    package enum Depth: Int, Sendable {
        /// The runs.
        case runs
        /// What costs about nothing.
        case state
        /// What the last run did, for which its items are looked up.
        case items
    }

    private static let mostFiles = 10
    private static let mostProblems = 100

    /// The latest first, at most 1,000.
    package var runs: [PastRun] = []
    /// What the last run that ended left undone: items that failed, were skipped or are conflicts;
    /// at most 100.
    package var problems: [PastItem] = []
    /// Those that are beyond them.
    package var furtherProblems = 0
    /// The largest files that the last run that ended transferred, the largest first; at most 10.
    package var largest: [File] = []
    /// Where the files were that it transferred, as far as the journal has them, by name.
    package var directories: [Directory] = []
    /// Files that conflicts of the last 20 runs have put beside others and that are still here,
    /// safe to print; at most 256.
    package var conflictCopies: [String] = []
    /// Files and directories that were freed: what is there is only in the bucket.
    package var freed = 0
    /// Files that were found damaged and are not repaired.
    package var damagedFiles = 0
    /// When `verify` last read the last of all files; nil if it never did.
    package var lastVerification: StoreTime?
    /// How much of the files a `verify` with a budget has read since the last complete one, from 0
    /// to 1; nil if none is unfinished.
    package var verifiedShare: Double?
    private var indices: [String: Int] = [:]

    /// Makes an overview of a mirror without runs.
    package init() {}

    /// Adds an item of the run that works now.
    package mutating func add(_ item: ItemEvent) {
        guard ![.started, .resumed, .planned].contains(item.state) else { return }
        let past = PastItem(
            key: item.key,
            displayKey: item.displayKey,
            action: item.action.rawValue,
            state: item.state.rawValue,
            message: item.message
        )
        add(past, size: past.isTransfer ? item.size : nil)
    }

    /// Shows what `run` did as what the last run did.
    package mutating func take(itemsOf run: MirrorOverview) {
        (problems, furtherProblems) = (run.problems, run.furtherProblems)
        (largest, directories) = (run.largest, run.directories)
        sort()
    }

    /// Adds an item of the last run.
    mutating func add(_ item: PastItem, size: Int64?) {
        if item.state != ItemState.done.rawValue {
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
        if let index = indices[name] {
            directories[index].files += 1
            directories[index].bytes = directories[index].bytes.addingClamped(size)
        } else {
            indices[name] = directories.count
            directories.append(Directory(name: name, files: 1, bytes: size))
        }
    }

    mutating func sort() {
        keepLargest()
        indices = [:]
        directories.sort { $0.bytes > $1.bytes }
    }

    private mutating func keepLargest() {
        largest = [File](largest.sorted { $0.size > $1.size }.prefix(Self.mostFiles))
    }
}
