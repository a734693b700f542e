internal import ObjectStorage
internal import SyncModel
internal import Synchronization

/// The ranges with which an object begins, where the first request brings several of them.
///
/// The task of the first range receives all of them; those of the others wait. If the first request
/// is slow, the ranges that it has not begun are released, and their tasks fetch them side by side.
final class LeadingRanges: Sendable {
    enum Arrival: Sendable, Hashable {
        /// The range is in the partial file and recorded.
        case received(CRC64)
        /// The first request does not bring the range.
        case released
    }

    private struct State {
        var ranges: [RangeProgress]
        /// How many of them are complete.
        var completeCount = 0
        var recordedCount = 0
        /// The checksum of the complete ones together.
        var checksum = CRC64()
        var isStarted = false
        var isReleased = false
    }

    private static let shortestPatience = Duration.milliseconds(50)

    let metadata: ObjectMetadata
    /// The bytes that the answer brings.
    let bytes: ByteRange
    let rangeSize: Int64
    /// How long it may take until the rest is asked for by other requests: what such a request
    /// takes.
    let patience: Duration
    private let state: Mutex<State>
    private let changes = Condition()

    /// Nil if the answer brings no more than one range.
    init?(
        _ bytes: ByteRange,
        of metadata: ObjectMetadata,
        rangeSize: Int64,
        answeredIn time: Duration
    ) {
        let isWhole = bytes.end == metadata.size
        guard bytes.offset == 0, bytes.length > rangeSize,
            isWhole || bytes.length % rangeSize == 0,
            rangeSize % FileSink.blockSize == 0
        else { return nil }
        self.metadata = metadata
        self.bytes = bytes
        self.rangeSize = rangeSize
        patience = max(time, Self.shortestPatience)
        let ranges = DownloadState.cut(bytes.length, rangeSize: rangeSize)
        state = Mutex(State(ranges: ranges))
    }

    /// True once: the caller receives the ranges.
    func start() -> Bool {
        state.withLock { state in
            defer { state.isStarted = true }
            return !state.isStarted && !state.isReleased
        }
    }

    /// No range comes any more that is not recorded.
    func end() {
        state.withLock { state in
            state.ranges.removeLast(state.ranges.count - state.recordedCount)
        }
        changes.raise()
    }

    /// Nothing of what came is used any more.
    func release() {
        state.withLock { $0.isReleased = true }
        changes.raise()
    }

    /// Only the first `length` bytes come, which end with a range.
    func shorten(to length: Int64) {
        state.withLock { state in
            let count = Int((length - 1) / rangeSize) + 1
            state.ranges.removeLast(max(0, state.ranges.count - count))
        }
        changes.raise()
    }

    /// Waits for a range; `released` also if the task was cancelled.
    func arrival(of range: RangeProgress) async -> Arrival {
        while !Task.isCancelled {
            let version = changes.version
            let arrival: Arrival? = state.withLock { state in
                let isOther = !state.ranges.indices.contains(range.index)
                if state.isReleased || isOther { return .released }
                guard range.index < state.recordedCount else { return nil }
                return .received(state.ranges[range.index].checksum)
            }
            if let arrival { return arrival }
            await changes.wait(after: version)
        }
        return .released
    }

    /// Notes what was written: so many bytes with this checksum from the object's beginning.
    ///
    /// Called at the end of each range at least.
    func receive(_ received: Int64, _ checksum: CRC64) {
        state.withLock { state in
            guard state.ranges.indices.contains(state.completeCount) else { return }
            let start = state.ranges[state.completeCount].range.offset
            let length = received - start
            // The checksum of a beginning is subtracted as it is added.
            state.ranges[state.completeCount].received = length
            state.ranges[state.completeCount].checksum = state.checksum.combined(
                with: checksum,
                length: length
            )
            guard state.ranges[state.completeCount].isComplete else { return }
            state.completeCount += 1
            state.checksum = checksum
        }
    }

    /// What is to be recorded: the ranges that were completed since, and the one under way.
    var unrecorded: [RangeProgress] {
        state.withLock { state in
            state.ranges[state.recordedCount...].prefix { $0.received > 0 }
        }.map(\.self)
    }

    /// `ranges` are in the record.
    func recorded(_ ranges: [RangeProgress]) {
        state.withLock { state in
            state.recordedCount = max(
                state.recordedCount,
                (ranges.last { $0.isComplete }?.index ?? -1) + 1
            )
        }
        changes.raise()
    }
}
