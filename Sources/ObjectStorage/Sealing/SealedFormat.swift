/// The sizes of rclone's crypt format for the contents of files.
///
/// An object begins with ``magic`` and a nonce. Then come blocks: of 64 KiB of the file each, the
/// last one of what is left, with the 16 bytes of a Poly1305 in front. An empty file has none.
package enum SealedFormat {
    static let magic = [UInt8]("RCLONE".utf8) + [0, 0]
    static let nonceLength = 24
    package static let headerLength: Int64 = 32
    package static let blockSize: Int64 = 65_536
    package static let tagLength: Int64 = 16
    package static let sealedBlockSize = blockSize + tagLength

    /// Bytes of the object of a file.
    package static func storedSize(of plainSize: Int64) -> Int64 {
        let (blocks, rest) = plainSize.quotientAndRemainder(dividingBy: blockSize)
        return headerLength + blocks * sealedBlockSize + (rest == 0 ? 0 : rest + tagLength)
    }

    /// Bytes of the file of an object; nil if no file has such an object.
    package static func plainSize(of storedSize: Int64) -> Int64? {
        guard storedSize >= headerLength else { return nil }
        let (blocks, rest) = (storedSize - headerLength)
            .quotientAndRemainder(dividingBy: sealedBlockSize)
        guard rest == 0 || rest > tagLength else { return nil }
        return blocks * blockSize + (rest == 0 ? 0 : rest - tagLength)
    }

    /// How many bytes of the file are in that many first bytes of its object.
    package static func plainLength(inFirst stored: Int64) -> Int64 {
        guard stored > headerLength else { return 0 }
        let (blocks, rest) = (stored - headerLength)
            .quotientAndRemainder(dividingBy: sealedBlockSize)
        return blocks * blockSize + max(0, rest - tagLength)
    }

    /// Where a block begins in an object.
    static func offset(ofBlock block: Int64) -> Int64 { headerLength + block * sealedBlockSize }
}
