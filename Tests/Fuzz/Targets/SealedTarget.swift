import SyncModel

@testable import ObjectStorage

private let cipher: ContentCipher? = {
    let password = try? EncryptionPassword([UInt8]("one\ntwo\n".utf8), source: "fuzzing")
    return password.flatMap { try? ContentCipher($0) }
}()

private let content = (0..<131_070).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

/// An encrypted object that was changed, in pieces of any size: what comes of it is the beginning
/// of what was asked for, and of one that was not changed, all of it.
func judgeSealed(_ bytes: [UInt8]) throws(FuzzFailure) {
    var input = InputReader(bytes)
    try judgeSize(input.number())
    guard let cipher else { return }
    let size = (Int(input.byte()) << 8 | Int(input.byte())) * 2
    let pieceSize = 1 + Int(input.byte()) * 300
    let offset = (Int(input.byte()) << 8 | Int(input.byte())) * 2
    let length = (Int(input.byte()) << 8 | Int(input.byte())) * 2
    let changes = input.remaining()
    try judgeForeign(changes, pieceSize, cipher)
    guard offset < size, length > 0 else { return }
    let plain = Array(content[..<size])
    let original = sealed(plain, cipher)
    var object = original
    var places = InputReader(changes)
    while !places.isEmpty {
        let place = Int(places.byte()) << 16 | Int(places.byte()) << 8 | Int(places.byte())
        object[place % object.count] ^= places.byte()
    }
    let end = min(offset + length, size)
    let range = ByteRange(offset: Int64(offset), length: Int64(end - offset))
    let found = opened(object, range, pieceSize, cipher)
    try require(plain[offset..<end].starts(with: found), "other bytes than those that were sealed")
    if object == original {
        try require(found.count == end - offset, "\(found.count) bytes of \(end - offset)")
    }
}

private func judgeSize(_ stored: Int64) throws(FuzzFailure) {
    guard let size = SealedFormat.plainSize(of: stored) else { return }
    try require(size >= 0 && size < stored, "\(size) bytes in \(stored)")
    try require(SealedFormat.storedSize(of: size) == stored, "\(stored) is the size of no object")
    try require(SealedFormat.plainLength(inFirst: stored) == size, "\(stored) has other bytes")
}

/// What was not sealed with the password is not opened.
private func judgeForeign(
    _ bytes: [UInt8],
    _ pieceSize: Int,
    _ cipher: ContentCipher
) throws(FuzzFailure) {
    let object = SealedFormat.magic + bytes
    guard let size = SealedFormat.plainSize(of: Int64(object.count)), size > 0 else { return }
    let found = opened(object, ByteRange(offset: 0, length: size), pieceSize, cipher)
    try require(found.isEmpty, "\(found.count) bytes that were not sealed")
}

private func sealed(_ plain: [UInt8], _ cipher: ContentCipher) -> [UInt8] {
    let body = SealedBody(
        .bytes(plain),
        plainSize: Int64(plain.count),
        cipher: cipher,
        nonce: cipher.nonce(of: "token", "key")
    )
    var object: [UInt8] = []
    // What is in memory is there.
    try? unsafe body.read { unsafe object.append(contentsOf: $0) }
    return object
}

/// What a reader of the range gets.
private func opened(
    _ object: [UInt8],
    _ range: ByteRange,
    _ pieceSize: Int,
    _ cipher: ContentCipher
) -> [UInt8] {
    let first = range.offset / SealedFormat.blockSize
    let last = (range.end - 1) / SealedFormat.blockSize
    let header = object.prefix(Int(SealedFormat.headerLength))
    let nonce = first == 0 ? nil : SealedNonce(header: header)
    guard first == 0 || nonce != nil else { return [] }
    let sink = FileSink(holding: range.length) { _ in }
    let opener = BlockOpener(
        into: sink,
        range,
        storedSize: Int64(object.count),
        cipher: cipher,
        nonce: nonce
    )
    var place = first == 0 ? 0 : Int(SealedFormat.offset(ofBlock: first))
    let end = min(Int(SealedFormat.offset(ofBlock: last + 1)), object.count)
    while place < end {
        let piece = object[place..<min(place + pieceSize, end)]
        let outcome = unsafe piece.withUnsafeBytes { unsafe opener.take($0) }
        guard case .written = outcome else { break }
        place += piece.count
    }
    return sink.withHeldBytes { bytes in
        unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
    }
}
