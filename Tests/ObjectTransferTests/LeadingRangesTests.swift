import ObjectStorage
import SyncModel
import Testing

@testable import ObjectTransfer

/// Several ranges that one request brings.
@Suite("Leading ranges")
struct LeadingRangesTests {
    private static let rangeSize = FileSink.blockSize
    private static let size = 3 * rangeSize + 10
    private static let content = (0..<Int(size)).map { UInt8($0 % 251) }

    private func made(_ length: Int64 = size, of size: Int64 = size) -> LeadingRanges? {
        LeadingRanges(
            ByteRange(offset: 0, length: length),
            of: ObjectMetadata(size: size, etag: ETag(wire: "\"a\"")),
            rangeSize: Self.rangeSize,
            answeredIn: .milliseconds(60)
        )
    }

    private func ranges() -> [RangeProgress] {
        DownloadState.cut(Self.size, rangeSize: Self.rangeSize)
    }

    private func receive(_ leading: LeadingRanges, upTo count: Int64) {
        leading.receive(count, CRC64(of: Array(Self.content[..<Int(count)])))
    }

    private func checksum(_ range: RangeProgress, _ length: Int64? = nil) -> CRC64 {
        let start = Int(range.range.offset)
        let length = Int(length ?? range.range.length)
        return CRC64(of: Array(Self.content[start..<start + length]))
    }

    @Test func `are more than one, and whole`() {
        #expect(made() != nil)
        #expect(made(2 * Self.rangeSize) != nil)
        #expect(made(Self.rangeSize) == nil)
        #expect(made(Self.rangeSize + 1) == nil)
        #expect(made(10, of: 10) == nil)
    }

    @Test func `have their own checksums, and are there once they are recorded`() async throws {
        let leading = try #require(made())
        let ranges = ranges()
        receive(leading, upTo: 1000)
        #expect(leading.unrecorded.map(\.received) == [1000])
        #expect(leading.unrecorded.map(\.checksum) == [checksum(ranges[0], 1000)])
        receive(leading, upTo: Self.rangeSize)
        receive(leading, upTo: 2 * Self.rangeSize)
        receive(leading, upTo: 2 * Self.rangeSize + 77)
        let unrecorded = leading.unrecorded
        #expect(unrecorded.map(\.received) == [Self.rangeSize, Self.rangeSize, 77])
        #expect(
            unrecorded.map(\.checksum) == [
                checksum(ranges[0]), checksum(ranges[1]), checksum(ranges[2], 77),
            ]
        )
        async let arrival = leading.arrival(of: ranges[1])
        leading.recorded(unrecorded)
        #expect(await arrival == .received(checksum(ranges[1])))
        #expect(leading.unrecorded.map(\.received) == [77])
        receive(leading, upTo: 3 * Self.rangeSize)
        receive(leading, upTo: Self.size)
        leading.recorded(leading.unrecorded)
        leading.end()
        for range in ranges {
            #expect(await leading.arrival(of: range) == .received(checksum(range)))
        }
    }

    @Test func `that do not come are released`() async throws {
        let leading = try #require(made())
        let ranges = ranges()
        receive(leading, upTo: Self.rangeSize)
        receive(leading, upTo: Self.rangeSize + 5)
        async let last = leading.arrival(of: ranges[3])
        leading.shorten(to: 2 * Self.rangeSize)
        #expect(await last == .released)
        #expect(await leading.arrival(of: ranges[2]) == .released)
        leading.recorded(leading.unrecorded)
        async let second = leading.arrival(of: ranges[1])
        leading.end()
        #expect(await second == .released)
        #expect(await leading.arrival(of: ranges[0]) == .received(checksum(ranges[0])))
    }

    @Test func `of an earlier partial file are not used`() async throws {
        let leading = try #require(made())
        receive(leading, upTo: Self.rangeSize)
        leading.recorded(leading.unrecorded)
        leading.release()
        #expect(await leading.arrival(of: ranges()[0]) == .released)
        #expect(!leading.start())
    }

    @Test func `are received by one task, and waited for by those that are not cancelled`()
        async throws
    {
        let leading = try #require(made())
        #expect(leading.start())
        #expect(!leading.start())
        let range = ranges()[1]
        let waiting = Task { await leading.arrival(of: range) }
        waiting.cancel()
        #expect(await waiting.value == .released)
    }
}

/// How much the first request of a single download asks for.
@Suite("The first request")
struct FirstRequestTests {
    private static let mebibyte = Int64(1 << 20)

    private func limits(streams: Int, unread: Int64?) -> TransferLimits {
        var limits = TransferLimits.standard
        limits.streamsPerFile = streams
        limits.maximumUnread = unread.map { $0 * Self.mebibyte }
        return limits
    }

    @Test(
        arguments: [
            (16, 6, 32, 128), (16, 32, 32, 128), (16, 35, 32, 32), (16, nil, 32, 32),
            (16, 6, 48, 96), (16, 6, 100, 100), (16, 6, 256, 128), (4, 6, 8, 8), (1, 6, 8, 4),
        ] as [(Int, Int64?, Int64, Int64)]
    )
    func `asks for several ranges where the receive buffer is known`(
        streams: Int,
        unread: Int64?,
        rangeSize: Int64,
        expected: Int64
    ) {
        let limits = limits(streams: streams, unread: unread)
        let length = limits.firstRequestLength(rangeSize: rangeSize * Self.mebibyte)
        #expect(length == expected * Self.mebibyte)
    }

    @Test(arguments: [1, 2, 4, 8, 16, 64], [nil, 1, 6, 32, 64] as [Int64?])
    func `asks with the others for no more than a kill may cost`(streams: Int, unread: Int64?) {
        let limits = limits(streams: streams, unread: unread)
        for rangeCount in Int64(2)...80 {
            for rangeSize in [256 << 10, Self.mebibyte, 8 << 20, 32 << 20, 128 << 20] {
                let first = min(
                    limits.firstRequestLength(rangeSize: rangeSize),
                    limits.maximumUnread.map { $0 + (6 << 20) } ?? .max
                )
                let length = limits.requestLength(
                    rangeCount: rangeCount,
                    rangeSize: rangeSize,
                    isFirstUnderWay: true
                )
                let others = min(rangeCount, Int64(streams)) - 1
                #expect(length > 0 && first + others * length <= limits.maximumLoss)
            }
        }
    }
}
