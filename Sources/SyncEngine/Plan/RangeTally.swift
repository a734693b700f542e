internal import SyncModel
internal import Synchronization

/// Counts, for each path that a run is limited to, what one side has of it.
///
/// The directory itself does not count: one that is empty is there, too, where a disk is not
/// mounted.
struct RangeTally: Sendable {
    private let ranges: KeyRanges
    private var counts: [Int]
    /// The range that the next key can be in.
    private var index = 0

    init(_ ranges: KeyRanges) {
        self.ranges = ranges
        counts = [Int](repeating: 0, count: ranges.ranges.count)
    }

    /// Counts a key; they ascend.
    mutating func add(_ key: ObjectKey) {
        let ranges = ranges.ranges
        while index < ranges.count, ranges[index].isPassed(by: key) { index += 1 }
        guard index < ranges.count, ranges[index].contains(key) else { return }
        if key.isDirectoryMarker, key == ranges[index].lower { return }
        counts[index] += 1
    }

    /// Counts what a filter leaves out unread: a file, or a directory, which stands for what it
    /// holds.
    mutating func add(leftOut path: [UInt8], isDirectory: Bool) {
        let key = ObjectKey(isDirectory ? path + [UInt8(ascii: "/")] : path)
        let ranges = ranges.ranges
        guard let first = self.ranges.index(notPassedBy: key) else { return }
        for index in first..<ranges.count {
            let range = ranges[index]
            guard isDirectory ? range.meets(prefix: key) : range.contains(key) else { return }
            counts[index] += 1
        }
    }

    /// What was counted in all.
    var total: Int { counts.reduce(0, +) }

    /// What was counted at and beneath `path`.
    func count(of path: RelativePath) -> Int {
        [path.key, path.beneath].reduce(0) { sum, key in
            sum + (ranges.index(notPassedBy: key).map { counts[$0] } ?? 0)
        }
    }
}

/// Counts what filters leave out of a walk, on its thread: a directory of which everything is left
/// out is not empty.
final class LeftOutTally: Sendable {
    private let counted: Mutex<RangeTally>

    init(_ ranges: KeyRanges) {
        counted = Mutex(RangeTally(ranges))
    }

    func add(_ path: [UInt8], isDirectory: Bool) {
        counted.withLock { $0.add(leftOut: path, isDirectory: isDirectory) }
    }

    var tally: RangeTally { counted.withLock(\.self) }
}
