package import SyncModel
internal import Synchronization

/// A body that is sealed while it is sent: a range of what will be the object of a file.
///
/// A block is never sealed with other content than before under its nonce, in this process or an
/// earlier one: whoever has both would have their difference. So a file is looked at after each
/// block is read and before it is sealed; one that has only grown is another one, too.
package final class SealedBody: Sendable {
    /// What is read and sealed.
    package enum Source: Sendable {
        case bytes([UInt8])
        /// The whole file, which stays open until the call returns; the closure is false once it
        /// is not what it was when the upload began.
        case file(FileRegion, isSame: @Sendable () -> Bool)
    }

    let source: Source
    let plainSize: Int64
    /// Of the object.
    package let range: ByteRange
    let cipher: ContentCipher
    let nonce: SealedNonce
    /// False for what is only compared.
    private let isSent: Bool
    /// The proofs of the blocks that were sealed, which other contents do not have.
    private let blocks: Mutex<[Int64: SIMD2<UInt64>]> = Mutex([:])
    private let plain = Mutex<(length: Int64, checksum: CRC64)>((0, CRC64()))

    /// Without a range, it is the whole object.
    package init(
        _ source: Source,
        plainSize: Int64,
        range: ByteRange? = nil,
        cipher: ContentCipher,
        nonce: SealedNonce,
        isSent: Bool = true
    ) {
        self.isSent = isSent
        self.source = source
        self.plainSize = plainSize
        self.range =
            range ?? ByteRange(offset: 0, length: SealedFormat.storedSize(of: plainSize))
        self.cipher = cipher
        self.nonce = nonce
    }

    /// The plain bytes of the blocks that begin in the range, once all of it was read.
    package var plainContent: (length: Int64, checksum: CRC64) { plain.withLock(\.self) }

    fileprivate func finished(_ length: Int64, _ checksum: CRC64) {
        plain.withLock { $0 = (length, checksum) }
    }

    /// - Throws: `sourceChanged` for other content than before.
    fileprivate func check(
        _ proof: SIMD2<UInt64>,
        ofBlock block: Int64
    ) throws(TransportError) {
        guard isSent else { return }
        let isSame = blocks.withLock { blocks in
            if let known = blocks[block] { return known == proof }
            blocks[block] = proof
            return true
        }
        guard isSame else { throw .sourceChanged }
    }
}

/// One pass over a sealed body, from its beginning; used by one thread at a time.
///
/// Safe, because the memory never leaves this type.
@safe final class SealedPass {
    private let body: SealedBody
    /// A block of which a piece is asked for; nil before the first one.
    private var sealed: UnsafeMutableRawBufferPointer?
    /// The block that is in `sealed`.
    private var block: Int64 = -1
    /// Of the plain bytes.
    private(set) var checksum = CRC64()
    private var plainLength: Int64 = 0

    init(_ body: SealedBody) {
        self.body = body
    }

    deinit { unsafe sealed?.deallocate() }

    /// Fills a beginning of `buffer` with what is at `position` of the body, which follows what
    /// was read before.
    func read(
        at position: Int64,
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(TransportError) -> Int {
        let wanted = Int(min(Int64(buffer.count), body.range.length - position))
        var taken = 0
        while taken < wanted {
            let offset = body.range.offset + position + Int64(taken)
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[taken..<wanted])
            guard offset >= SealedFormat.headerLength else {
                taken += unsafe copyHeader(from: Int(offset), into: room)
                continue
            }
            let (block, start) = (offset - SealedFormat.headerLength)
                .quotientAndRemainder(dividingBy: SealedFormat.sealedBlockSize)
            if start == 0, room.count >= length(of: block) {
                // It is sealed where it is sent from.
                taken += length(of: block)
                try unsafe seal(block, in: room)
                continue
            }
            // The next call has room for all of it.
            if start == 0, taken > 0, buffer.count >= length(of: block) { break }
            taken += try unsafe copy(block, from: Int(start), into: room)
        }
        if position + Int64(taken) == body.range.length { body.finished(plainLength, checksum) }
        return taken
    }

    private func copyHeader(from start: Int, into room: UnsafeMutableRawBufferPointer) -> Int {
        let bytes = body.nonce.header[start...].prefix(room.count)
        unsafe room.copyBytes(from: bytes)
        return bytes.count
    }

    /// Copies a piece of a block, which is kept for the next one.
    private func copy(
        _ block: Int64,
        from start: Int,
        into room: UnsafeMutableRawBufferPointer
    ) throws(TransportError) -> Int {
        let place = unsafe sealed ?? allocate()
        if block != self.block {
            // Until it is known to be the same as before, nothing reads it.
            self.block = -1
            try unsafe seal(block, in: place)
            self.block = block
        }
        let count = min(room.count, length(of: block) - start)
        let bytes = unsafe place[start..<(start + count)]
        unsafe room.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes))
        return count
    }

    private func length(of block: Int64) -> Int {
        let rest = body.plainSize - block * SealedFormat.blockSize
        return Int(min(SealedFormat.blockSize, rest) + SealedFormat.tagLength)
    }

    private func allocate() -> UnsafeMutableRawBufferPointer {
        let made = UnsafeMutableRawBufferPointer.allocate(
            byteCount: length(of: 0),
            alignment: 64
        )
        unsafe sealed = made
        return unsafe made
    }

    /// Reads a block behind the place of its tag, and seals it there.
    private func seal(
        _ block: Int64,
        in room: UnsafeMutableRawBufferPointer
    ) throws(TransportError) {
        let place = unsafe UnsafeMutableRawBufferPointer(rebasing: room[..<length(of: block)])
        guard let target = place.baseAddress else { return }
        let plain = unsafe UnsafeMutableRawBufferPointer(
            rebasing: place[Int(SealedFormat.tagLength)...]
        )
        do throws(TransportError) {
            try unsafe fill(plain, from: block * SealedFormat.blockSize)
            let bytes = UnsafeRawBufferPointer(plain)
            if SealedFormat.offset(ofBlock: block) >= body.range.offset {
                unsafe checksum.update(bytes)
                plainLength += Int64(bytes.count)
            }
            unsafe body.cipher.seal(bytes, into: target, body.nonce.ofBlock(block))
            try body.check(unsafe target.loadUnaligned(as: SIMD2.self), ofBlock: block)
        } catch {
            // Nothing plain stays in what is sent from.
            unsafe place.initializeMemory(as: UInt8.self, repeating: 0)
            throw error
        }
    }

    private func fill(
        _ plain: UnsafeMutableRawBufferPointer,
        from start: Int64
    ) throws(TransportError) {
        switch body.source {
        case .bytes(let bytes):
            let first = Int(start)
            guard first + plain.count <= bytes.count else { throw .sourceChanged }
            unsafe plain.copyBytes(from: bytes[first..<(first + plain.count)])
        case .file(let region, let isSame):
            var filled = 0
            while filled < plain.count, let base = plain.baseAddress {
                filled += try unsafe BodySource.read(
                    region,
                    at: start + Int64(filled),
                    into: base + filled,
                    count: plain.count - filled
                )
            }
            guard isSame() else { throw .sourceChanged }
        }
    }
}

extension SealedBody {
    /// Hands out all of the body, as it is sent.
    package func read(_ take: (UnsafeRawBufferPointer) -> Void) throws(TransportError) {
        let pass = SealedPass(self)
        let size = Int(min(1 << 20, max(range.length, 1)))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        defer { unsafe buffer.deallocate() }
        var position: Int64 = 0
        while position < range.length {
            let count = try unsafe pass.read(at: position, into: buffer)
            unsafe take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            position += Int64(count)
        }
    }

    /// The CRC-64 of what the object has of this range; blocks.
    package func checksum() throws(TransportError) -> CRC64 {
        var checksum = CRC64()
        try unsafe read { unsafe checksum.update($0) }
        return checksum
    }
}
