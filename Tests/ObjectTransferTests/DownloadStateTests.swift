import SyncModel
import SyncTestSupport
import Testing

@testable import ObjectTransfer

@Suite("A download")
struct DownloadStateTests {
    static let size: Int64 = 10
    static let content: [UInt8] = Array(0..<10)
    static let crc = CRC64(of: content)
    static let object = PinnedObject(etag: ETag(wire: "\"A\""), size: size, crc64: crc)

    static func checksum(_ range: ByteRange) -> CRC64 {
        CRC64(of: Array(content[Int(range.offset)..<Int(range.end)]))
    }

    static func fetches(_ effects: [DownloadState.Effect]) -> [RangeProgress] {
        effects.compactMap { if case .fetch(let range) = $0 { range } else { nil } }
    }

    @Test func `fetches at most as many ranges at once as it has streams`() {
        var state = DownloadState(rangeSize: 4, streamLimit: 2)
        let effects = state.start(Self.object)
        #expect(effects.first == .begin(Self.object))
        #expect(Self.fetches(effects).map(\.index) == [0, 1])
        let next = state.finishedRange(0, checksum: Self.checksum(ByteRange(offset: 0, length: 4)))
        #expect(Self.fetches(next).map(\.range) == [ByteRange(offset: 8, length: 2)])
    }

    @Test func `ends when every range is there and the checksum agrees`() {
        var state = DownloadState(rangeSize: 4, streamLimit: 3)
        var last: [DownloadState.Effect] = []
        for range in Self.fetches(state.start(Self.object)).reversed() {
            last = state.finishedRange(range.index, checksum: Self.checksum(range.range))
        }
        #expect(last == [.finish(Self.object, checksum: Self.crc)])
        #expect(state.abandon(.cancelled, keepsCheckpoint: true).isEmpty)
    }

    @Test(arguments: [1, 9_999, 10_000, 10_001, Int64.max - 1, Int64.max])
    func `any size is cut into at most 10,000 ranges`(size: Int64) {
        let ranges = DownloadState.cut(size, rangeSize: 1)
        #expect(ranges.count <= 10_000)
        #expect(ranges.first?.range.offset == 0)
        #expect(ranges.last?.range.end == size)
    }

    @Test func `an empty object needs no more than its headers`() {
        var state = DownloadState(rangeSize: 4, streamLimit: 3)
        let empty = PinnedObject(etag: ETag(wire: "E"), size: 0, crc64: nil)
        #expect(state.start(empty) == [.begin(empty), .confirm(empty)])
        let found = PinnedObject(etag: empty.etag, size: 0, crc64: CRC64())
        #expect(state.confirmed(found) == [.finish(found, checksum: CRC64())])
    }

    @Test func `a wrong checksum is fetched once more and then fails`() {
        var state = DownloadState(rangeSize: 10, streamLimit: 1)
        _ = state.start(Self.object)
        let wrong = CRC64(value: 1)
        let again = state.finishedRange(0, checksum: wrong)
        #expect(again.first == .begin(Self.object))
        #expect(Self.fetches(again).count == 1)
        #expect(
            state.finishedRange(0, checksum: wrong)
                == [.fail(.corrupt(expected: Self.crc, found: wrong), keepsCheckpoint: false)]
        )
    }

    @Test func `a replaced object is looked up and fetched from its first byte`() {
        var state = DownloadState(rangeSize: 4, streamLimit: 2)
        _ = state.start(Self.object)
        #expect(state.failedRange(1, .objectChanged(nil)) == [.cancelFetches, .lookUp])
        // A range of the old version that arrives late changes nothing.
        #expect(state.finishedRange(0, checksum: CRC64()).isEmpty)
        let new = PinnedObject(etag: ETag(wire: "B"), size: 3, crc64: nil)
        let effects = state.lookedUp(new)
        #expect(effects.first == .begin(new))
        #expect(Self.fetches(effects).map(\.range) == [ByteRange(offset: 0, length: 3)])
    }

    @Test func `an object that keeps changing ends the download`() {
        var state = DownloadState(rangeSize: 10, streamLimit: 1)
        _ = state.start(Self.object)
        for _ in 0..<DownloadState.maximumRestarts {
            _ = state.failedRange(0, .objectChanged(nil))
            #expect(!state.lookedUp(Self.object).isEmpty)
        }
        _ = state.failedRange(0, .objectChanged(nil))
        #expect(
            state.lookedUp(Self.object) == [
                .fail(.keepsChanging(times: 4, nil), keepsCheckpoint: false)
            ]
        )
    }

    @Test func `a deleted object fails without a checkpoint`() {
        var state = DownloadState(rangeSize: 10, streamLimit: 1)
        _ = state.start(Self.object)
        #expect(
            state.failedRange(0, .vanished(nil))
                == [.cancelFetches, .fail(.vanished(nil), keepsCheckpoint: false)]
        )
    }

    @Test func `any other failure keeps the checkpoint`() {
        var state = DownloadState(rangeSize: 4, streamLimit: 2)
        _ = state.start(Self.object)
        let failure = ItemFailure.storage(message: "no")
        #expect(
            state.failedRange(0, .other(failure))
                == [.cancelFetches, .fail(failure, keepsCheckpoint: true)]
        )
    }

    @Test func `nothing is kept of a partial file that the disk failed`() {
        var state = DownloadState(rangeSize: 4, streamLimit: 2)
        _ = state.start(Self.object)
        let failure = ItemFailure.local(message: "pwrite failed")
        #expect(
            state.failedRange(0, .disk(failure))
                == [.cancelFetches, .fail(failure, keepsCheckpoint: false)]
        )
    }

    @Test func `a checkpoint spares what it has`() {
        var state = DownloadState(rangeSize: 4, streamLimit: 4)
        let first = ByteRange(offset: 0, length: 6)
        let second = ByteRange(offset: 6, length: 4)
        let half = ByteRange(offset: 6, length: 2)
        let effects = state.resume(
            Self.object,
            ranges: [
                RangeProgress(
                    index: 0,
                    range: first,
                    received: 6,
                    checksum: Self.checksum(first)
                ),
                RangeProgress(
                    index: 1,
                    range: second,
                    received: 2,
                    checksum: Self.checksum(half)
                ),
            ]
        )
        #expect(Self.fetches(effects).map(\.remaining) == [ByteRange(offset: 8, length: 2)])
        #expect(
            state.finishedRange(1, checksum: Self.checksum(second))
                == [.finish(Self.object, checksum: Self.crc)]
        )
    }

    private static func complete(_ checksum: CRC64) -> (DownloadState, [DownloadState.Effect]) {
        var state = DownloadState(rangeSize: 4, streamLimit: 4)
        let whole = ByteRange(offset: 0, length: 10)
        let range = RangeProgress(index: 0, range: whole, received: 10, checksum: checksum)
        let effects = state.resume(
            PinnedObject(etag: object.etag, size: size, crc64: nil),
            ranges: [range]
        )
        return (state, effects)
    }

    @Test func `a checkpoint with every byte is held against the object's headers`() {
        let (state, effects) = Self.complete(Self.crc)
        #expect(effects.count == 1)
        guard case .confirm? = effects.first else {
            Issue.record("\(effects)")
            return
        }
        var same = state
        #expect(same.confirmed(Self.object) == [.finish(Self.object, checksum: Self.crc)])
        var gone = state
        #expect(
            gone.confirmFailed(.vanished(nil)) == [.fail(.vanished(nil), keepsCheckpoint: false)]
        )
        var unreachable = state
        #expect(
            unreachable.confirmFailed(.cancelled) == [.fail(.cancelled, keepsCheckpoint: true)]
        )
        let newer = PinnedObject(etag: ETag(wire: "B"), size: 4, crc64: nil)
        var replaced = state
        #expect(replaced.confirmed(newer).first == .begin(newer))
    }

    @Test func `a checkpoint with a wrong byte is fetched again`() {
        var (state, _) = Self.complete(CRC64(value: 5))
        #expect(state.confirmed(Self.object).first == .begin(Self.object))
    }

    @Test(arguments: [
        [ByteRange(offset: 0, length: 4)],
        [ByteRange(offset: 0, length: 4), ByteRange(offset: 5, length: 5)],
        [ByteRange(offset: 0, length: 11)],
    ])
    func `a checkpoint that does not cover the object is not used`(ranges: [ByteRange]) {
        var state = DownloadState(rangeSize: 10, streamLimit: 1)
        let progress = ranges.enumerated().map { RangeProgress(index: $0, range: $1) }
        #expect(state.resume(Self.object, ranges: progress).first == .begin(Self.object))
    }

    @Test func `two checksums for one version mean that it changed`() {
        var state = DownloadState(rangeSize: 4, streamLimit: 2)
        _ = state.start(PinnedObject(etag: ETag(wire: "A"), size: 10, crc64: nil))
        #expect(state.learned(Self.crc).isEmpty)
        #expect(state.learned(Self.crc).isEmpty)
        #expect(state.learned(CRC64(value: 7)) == [.cancelFetches, .lookUp])
    }

    @Test func `a huge object is cut into at most ten thousand ranges`() {
        var state = DownloadState(rangeSize: 1 << 20, streamLimit: 1)
        let size = PartLayout.maximumObjectSize
        _ = state.start(PinnedObject(etag: ETag(wire: "A"), size: size, crc64: nil))
        #expect(state.ranges.count <= 10_000)
        #expect(state.ranges.reduce(0) { $0 + $1.range.length } == size)
    }

    @Test(arguments: UInt64(0)..<200)
    func `whatever the order of events, it ends once and only with verified content`(
        seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        var state = DownloadState(rangeSize: 3, streamLimit: Int.random(in: 1...4, using: &random))
        var pending: [DownloadState.Effect] = state.start(Self.object)
        var active: [RangeProgress] = []
        var ends: [DownloadState.Effect] = []
        var steps = 0
        while steps < 500, !(pending.isEmpty && active.isEmpty) {
            steps += 1
            if !pending.isEmpty {
                let effect = pending.removeFirst()
                switch effect {
                case .fetch(let range): active.append(range)
                case .cancelFetches, .begin: active = []
                case .lookUp:
                    pending +=
                        Bool.random(using: &random)
                        ? state.lookedUp(Self.object) : state.lookUpFailed(.vanished(nil))
                case .confirm:
                    pending +=
                        Bool.random(using: &random)
                        ? state.confirmed(Self.object) : state.confirmFailed(.vanished(nil))
                case .finish, .fail: ends.append(effect)
                }
                continue
            }
            let range = active.remove(at: Int.random(in: 0..<active.count, using: &random))
            switch Int.random(in: 0..<20, using: &random) {
            case 0: pending += state.failedRange(range.index, .objectChanged(nil))
            case 1: pending += state.failedRange(range.index, .other(.cancelled))
            case 2: pending += state.finishedRange(range.index, checksum: CRC64(value: 3))
            default:
                let checksum = Self.checksum(range.range)
                pending += state.finishedRange(range.index, checksum: checksum)
            }
        }
        #expect(ends.count == 1, "seed \(seed)")
        if case .finish(_, let checksum)? = ends.first {
            #expect(checksum == Self.crc, "seed \(seed)")
        }
    }
}
