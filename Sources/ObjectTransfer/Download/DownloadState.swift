package import SyncModel

/// The version of an object that a download is pinned to.
package struct PinnedObject: Sendable, Hashable {
    package var etag: ETag
    /// Bytes.
    package var size: Int64
    /// The service's checksum of the whole object; nil until a response carried it, or for ever.
    package var crc64: CRC64?

    package init(etag: ETag, size: Int64, crc64: CRC64?) {
        self.etag = etag
        self.size = size
        self.crc64 = crc64
    }
}

/// Why a range could not be fetched, as far as it decides what happens next.
package enum RangeFailure: Sendable, Hashable {
    /// 412, 416, or a response with another ETag: the object is another one now.
    case objectChanged(ItemFailure.ServiceAnswer?)
    /// 404: the object is gone.
    case vanished(ItemFailure.ServiceAnswer?)
    /// The disk failed: what it holds of the partial file is not known.
    case disk(ItemFailure)
    /// Anything else, after all retries.
    case other(ItemFailure)
}

/// One download from its first request to its verified end: events in, effects out.
///
/// It knows no clock, no file and no network, so every order of events can be tested. States:
/// `idle` → `fetching` → `finished` or `failed`; `fetching` → `lookingUp` → `fetching` when the
/// object was replaced, at most ``maximumRestarts`` times; `idle` → `confirming` → `finished` where
/// nothing needs to be fetched.
package struct DownloadState: Sendable {
    package static let maximumRestarts = 3

    /// What the shell has to do.
    package enum Effect: Sendable, Hashable {
        /// Make an empty partial file for this version and forget any older one.
        case begin(PinnedObject)
        /// Fetch what remains of this range with `If-Match`.
        case fetch(RangeProgress)
        /// Stop every fetch under way; their late events are ignored.
        case cancelFetches
        /// Ask for the object's version of now.
        case lookUp
        /// Ask for the object's headers: no response of this run vouches for the bytes, because
        /// none was needed.
        case confirm(PinnedObject)
        /// The partial file holds the verified object.
        case finish(PinnedObject, checksum: CRC64)
        /// The transfer ends; `keepsCheckpoint` says whether the next run may go on from here.
        case fail(ItemFailure, keepsCheckpoint: Bool)
    }

    private enum Phase: Sendable, Hashable {
        case idle
        case fetching(PinnedObject)
        case confirming(PinnedObject)
        case lookingUp(previous: PinnedObject)
        case finished
        case failed
    }

    private let rangeSize: Int64
    private let streamLimit: Int
    private var phase = Phase.idle
    /// The ranges of the version being fetched; beside `phase`, so that a change copies nothing.
    private var rangeProgress: [RangeProgress] = []
    private var incompleteCount = 0
    private var activeFetches: Set<Int> = []
    private var nextIndex = 0
    private var restarts = 0
    /// What the service said when the object was found to be another one; nil if it gave the other.
    private var lastChange: ItemFailure.ServiceAnswer?
    private var hasRefetchedCorruptContent = false

    /// - Parameters:
    ///   - rangeSize: The preferred size of a range in bytes; it grows with the object.
    ///   - streamLimit: The largest number of ranges under way at once.
    package init(rangeSize: Int64, streamLimit: Int) {
        precondition(rangeSize > 0 && streamLimit > 0, "a download has ranges and streams")
        self.rangeSize = rangeSize
        self.streamLimit = streamLimit
    }

    /// The ranges of the version being fetched, with what the machine knows to be on disk.
    package var ranges: [RangeProgress] {
        if case .fetching = phase { rangeProgress } else { [] }
    }

    /// Begins at the first byte.
    package mutating func start(_ object: PinnedObject) -> [Effect] {
        guard case .idle = phase else { return [] }
        return begin(object)
    }

    /// Goes on from a checkpoint whose bytes the shell has verified.
    package mutating func resume(_ object: PinnedObject, ranges: [RangeProgress]) -> [Effect] {
        guard case .idle = phase else { return [] }
        guard Self.cover(object.size, ranges) else { return begin(object) }
        fetch(object, ranges)
        return startFetches()
    }

    /// A response arrived and carries the checksum of the whole object.
    package mutating func learned(_ crc64: CRC64) -> [Effect] {
        guard case .fetching(var object) = phase else { return [] }
        if object.crc64 == nil {
            object.crc64 = crc64
            phase = .fetching(object)
            return []
        }
        // Two responses for one ETag disagree about the content: one of the versions is unknown.
        guard object.crc64 != crc64 else { return [] }
        return lookUp(after: object)
    }

    /// A range is complete in the partial file.
    package mutating func finishedRange(_ index: Int, checksum: CRC64) -> [Effect] {
        guard case .fetching(let object) = phase, activeFetches.remove(index) != nil else {
            return []
        }
        rangeProgress[index].received = rangeProgress[index].range.length
        rangeProgress[index].checksum = checksum
        incompleteCount -= 1
        return incompleteCount == 0 ? verify(object) : startFetches()
    }

    /// A range ended early.
    package mutating func failedRange(_ index: Int, _ failure: RangeFailure) -> [Effect] {
        guard case .fetching(let object) = phase, activeFetches.contains(index) else { return [] }
        switch failure {
        case .objectChanged(let answer):
            lastChange = answer
            return lookUp(after: object)
        case .vanished(let answer):
            return fail(.vanished(answer), keepsCheckpoint: false)
        case .disk(let failure):
            return fail(failure, keepsCheckpoint: false)
        case .other(let failure):
            return fail(failure, keepsCheckpoint: true)
        }
    }

    /// The answer to `lookUp`: the version of now.
    package mutating func lookedUp(_ object: PinnedObject) -> [Effect] {
        guard case .lookingUp = phase else { return [] }
        return restart(object)
    }

    /// The answer to `confirm`: the version of now.
    package mutating func confirmed(_ found: PinnedObject) -> [Effect] {
        guard case .confirming(var object) = phase else { return [] }
        guard found.etag == object.etag, found.size == object.size else { return restart(found) }
        object.crc64 = found.crc64 ?? object.crc64
        phase = .fetching(object)
        return verify(object)
    }

    /// `confirm` itself failed.
    package mutating func confirmFailed(_ failure: ItemFailure) -> [Effect] {
        guard case .confirming = phase else { return [] }
        return fail(failure, keepsCheckpoint: !failure.isVanished)
    }

    /// `lookUp` itself failed.
    package mutating func lookUpFailed(_ failure: ItemFailure) -> [Effect] {
        guard case .lookingUp = phase else { return [] }
        return fail(failure, keepsCheckpoint: false)
    }

    /// The content is not what the store says of it by other means than a checksum of its own.
    ///
    /// Comes after `finish`; all of it is fetched once more, as after a wrong checksum.
    package mutating func contentMismatch(_ object: PinnedObject) -> [Effect] {
        guard case .finished = phase else { return [] }
        guard !hasRefetchedCorruptContent else {
            return fail(.contentMismatch, keepsCheckpoint: false)
        }
        hasRefetchedCorruptContent = true
        return begin(object)
    }

    /// Something outside the transfer ends it: the disk, a cancellation.
    package mutating func abandon(_ failure: ItemFailure, keepsCheckpoint: Bool) -> [Effect] {
        switch phase {
        case .finished, .failed: []
        case .idle, .fetching, .confirming, .lookingUp:
            fail(failure, keepsCheckpoint: keepsCheckpoint)
        }
    }
}

extension DownloadState {
    private mutating func begin(_ object: PinnedObject) -> [Effect] {
        fetch(object, Self.cut(object.size, rangeSize: rangeSize))
        return [.begin(object)] + startFetches()
    }

    private mutating func restart(_ object: PinnedObject) -> [Effect] {
        restarts += 1
        guard restarts <= Self.maximumRestarts else {
            return fail(.keepsChanging(times: restarts, lastChange), keepsCheckpoint: false)
        }
        return begin(object)
    }

    private mutating func fetch(_ object: PinnedObject, _ ranges: [RangeProgress]) {
        phase = .fetching(object)
        rangeProgress = ranges
        incompleteCount = ranges.count { !$0.isComplete }
        activeFetches = []
        nextIndex = 0
    }

    private mutating func startFetches() -> [Effect] {
        guard case .fetching(let object) = phase else { return [] }
        // The object is empty, or a checkpoint holds every byte: then the last run was stopped
        // before it verified them.
        if incompleteCount == 0 {
            phase = .confirming(object)
            return [.confirm(object)]
        }
        var effects: [Effect] = []
        while activeFetches.count < streamLimit, nextIndex < rangeProgress.count {
            let range = rangeProgress[nextIndex]
            nextIndex += 1
            guard !range.isComplete else { continue }
            activeFetches.insert(range.index)
            effects.append(.fetch(range))
        }
        return effects
    }

    private mutating func verify(_ object: PinnedObject) -> [Effect] {
        var whole = CRC64()
        for range in rangeProgress {
            whole = whole.combined(with: range.checksum, length: range.range.length)
        }
        if let expected = object.crc64, expected != whole {
            // Damaged in flight or on disk. Fetching all of it once more tells which.
            guard !hasRefetchedCorruptContent else {
                return fail(.corrupt(expected: expected, found: whole), keepsCheckpoint: false)
            }
            hasRefetchedCorruptContent = true
            return begin(object)
        }
        phase = .finished
        return [.finish(object, checksum: whole)]
    }

    private mutating func lookUp(after object: PinnedObject) -> [Effect] {
        phase = .lookingUp(previous: object)
        activeFetches = []
        return [.cancelFetches, .lookUp]
    }

    private mutating func fail(_ failure: ItemFailure, keepsCheckpoint: Bool) -> [Effect] {
        phase = .failed
        let hasFetches = !activeFetches.isEmpty
        activeFetches = []
        return (hasFetches ? [.cancelFetches] : [])
            + [.fail(failure, keepsCheckpoint: keepsCheckpoint)]
    }

    /// Ranges of `rangeSize`, or larger ones so that there are at most 10,000; none for no bytes.
    static func cut(_ size: Int64, rangeSize: Int64) -> [RangeProgress] {
        guard size > 0 else { return [] }
        let length = rangeLength(size, rangeSize: rangeSize)
        let count = Int((size - 1) / length) + 1
        return (0..<count).map { index in
            let offset = Int64(index) * length
            return RangeProgress(
                index: index,
                range: ByteRange(offset: offset, length: min(length, size - offset))
            )
        }
    }

    /// The length of every range but the last.
    static func rangeLength(_ size: Int64, rangeSize: Int64) -> Int64 {
        // Written so that no size can overflow: a server may say any number.
        max(rangeSize, (size - 1) / 10_000 + 1)
    }

    /// True if the ranges are those of an object of `size` bytes, in order and without gaps.
    private static func cover(_ size: Int64, _ ranges: [RangeProgress]) -> Bool {
        var offset: Int64 = 0
        for (position, range) in ranges.enumerated() {
            guard range.index == position, range.range.offset == offset, !range.range.isEmpty,
                range.received >= 0, range.received <= range.range.length
            else { return false }
            offset = range.range.end
        }
        return offset == size
    }
}
