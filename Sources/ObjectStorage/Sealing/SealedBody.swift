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
    private let plain: UnsafeMutableRawBufferPointer
    private let sealed: UnsafeMutableRawBufferPointer
    /// The block that is in `sealed`, and its length there.
    private var block: Int64 = -1
    private var length: Int64 = 0
    /// Of the plain bytes.
    private(set) var checksum = CRC64()
    private var plainLength: Int64 = 0

    init(_ body: SealedBody) {
        self.body = body
        let size = Int(min(SealedFormat.blockSize, max(body.plainSize, 1)))
        unsafe plain = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 64)
        unsafe sealed = UnsafeMutableRawBufferPointer.allocate(
            byteCount: size + Int(SealedFormat.tagLength),
            alignment: 64
        )
    }

    deinit {
        unsafe plain.deallocate()
        unsafe sealed.deallocate()
    }

    /// Fills a beginning of `buffer` with what is at `position` of the body, which follows what
    /// was read before.
    func read(
        at position: Int64,
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(TransportError) -> Int {
        let offset = body.range.offset + position
        let wanted = min(Int64(buffer.count), body.range.end - offset)
        let count: Int
        if offset < SealedFormat.headerLength {
            count = Int(min(wanted, SealedFormat.headerLength - offset))
            unsafe buffer.copyBytes(from: body.nonce.header[Int(offset)...].prefix(count))
        } else {
            let (block, start) = (offset - SealedFormat.headerLength)
                .quotientAndRemainder(dividingBy: SealedFormat.sealedBlockSize)
            if block != self.block { try load(block) }
            count = Int(min(wanted, length - start))
            let bytes = unsafe sealed[Int(start)..<(Int(start) + count)]
            unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes))
        }
        if position + Int64(count) == body.range.length { body.finished(plainLength, checksum) }
        return count
    }

    private func load(_ block: Int64) throws(TransportError) {
        let start = block * SealedFormat.blockSize
        let count = Int(min(SealedFormat.blockSize, body.plainSize - start))
        try fill(from: start, count)
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: plain[..<count])
        var own = CRC64()
        unsafe own.update(bytes)
        if SealedFormat.offset(ofBlock: block) >= body.range.offset {
            checksum = checksum.combined(with: own, length: Int64(count))
            plainLength += Int64(count)
        }
        // Until it is known to be the same as before, nothing reads it.
        self.block = -1
        if let target = unsafe sealed.baseAddress {
            unsafe body.cipher.seal(bytes, into: target, body.nonce.ofBlock(block))
            try body.check(unsafe target.loadUnaligned(as: SIMD2.self), ofBlock: block)
        }
        (self.block, length) = (block, Int64(count) + SealedFormat.tagLength)
    }

    private func fill(from start: Int64, _ count: Int) throws(TransportError) {
        switch body.source {
        case .bytes(let bytes):
            let first = Int(start)
            guard first + count <= bytes.count else { throw .sourceChanged }
            unsafe plain.copyBytes(from: bytes[first..<(first + count)])
        case .file(let region, let isSame):
            var filled = 0
            while filled < count, let base = unsafe plain.baseAddress {
                filled += try unsafe BodySource.read(
                    region,
                    at: start + Int64(filled),
                    into: base + filled,
                    count: count - filled
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
