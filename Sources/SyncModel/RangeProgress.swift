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
}
