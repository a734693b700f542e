/// A beginning of a range as it was when so much of it had been received.
package struct RangeMark: Sendable, Hashable {
    package let length: Int64
    /// CRC-64 of so many bytes.
    package let crc64: UInt64

    package init(length: Int64, crc64: UInt64) {
        self.length = length
        self.crc64 = crc64
    }
}

/// How far one range of a download is.
package struct RangeProgress: Sendable, Hashable {
    /// From 0.
    package let index: Int
    /// Its bytes in the object.
    package let range: ByteRange
    /// How many of them, from its beginning, are in the partial file.
    package var received: Int64
    /// The checksum of those bytes.
    package var checksum: CRC64
    /// The boot of the machine in which they were written or last read back, empty where that is
    /// not recorded; each range has its own, because after a power cut they are verified one after
    /// the other.
    package var bootID: String
    /// Shorter beginnings, by ascending length, of which one may still be sound if the bytes that
    /// were received are damaged; empty where they are not recorded.
    package var marks: [RangeMark] = []

    package init(
        index: Int,
        range: ByteRange,
        received: Int64 = 0,
        checksum: CRC64 = CRC64(),
        bootID: String = ""
    ) {
        self.index = index
        self.range = range
        self.received = received
        self.checksum = checksum
        self.bootID = bootID
    }

    package var isComplete: Bool { received == range.length }
    /// What is still to be fetched.
    package var remaining: ByteRange { range.dropping(received) }

    private static let maximumMarks = 64

    /// Notes how far it was `before`.
    ///
    /// A complete range keeps a mark every 4 MiB, and fewer in a large object, which keeps at most
    /// 256 in all its complete ranges: the record is written anew again and again.
    package mutating func mark(_ before: RangeProgress?, ofObjectOf size: Int64) {
        guard let before, before.received > 0 else {
            marks = []
            return
        }
        let last = RangeMark(length: before.received, crc64: before.checksum.value)
        let all = (before.marks + [last]).filter { $0.length < received }
        if isComplete {
            let distance = max(4 << 20, size / 256)
            marks = all.reduce(into: []) { kept, mark in
                if mark.length - (kept.last?.length ?? 0) >= distance { kept.append(mark) }
            }
        } else if all.count > Self.maximumMarks {
            marks = all.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        } else {
            marks = all
        }
    }
}
