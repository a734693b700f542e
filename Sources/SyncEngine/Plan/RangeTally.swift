internal import SyncModel
internal import SyncPlanner

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

    /// What was counted at and beneath `path`.
    func count(of path: RelativePath) -> Int {
        [path.key, path.beneath].reduce(0) { sum, key in
            sum + (ranges.index(notPassedBy: key).map { counts[$0] } ?? 0)
        }
    }
}
