internal import SyncModel
internal import Synchronization

/// What is wrong with an object that was to be decrypted.
package enum SealedFailure: Sendable, Hashable {
    /// Its length or its beginning is not that of an encrypted object.
    case notEncrypted
    /// A block was changed, is another one's, or was encrypted with another password.
    case damaged(block: Int64)
}

/// Opens the blocks of an object as they arrive, and hands on plain bytes that are proven.
///
/// Safe, because the memory never leaves this type. Used by the one thread that feeds a sink, from
/// the beginning of an exchange to its end; exchanges of one sink follow each other with a lock in
/// between, and go on in the middle of a block.
@safe package final class BlockOpener: @unchecked Sendable {
    let sink: FileSink
    private let cipher: ContentCipher
    private var nonce: SealedNonce?
    private var header: [UInt8] = []
    /// The number of the block that arrives.
    private var block: Int64
    /// Of the object.
    private let storedSize: Int64
    /// Plain bytes that come before the wanted ones, and how many are wanted then.
    private var skipped: Int
    private var wanted: Int64
    private var delivered: Int64 = 0
    private let sealed: UnsafeMutableRawBufferPointer
    private let plain: UnsafeMutableRawBufferPointer
    private var filled = 0
    private let found = Mutex<(nonce: SealedNonce?, failure: SealedFailure?)>((nil, nil))

    /// `range` is of the file; the nonce is nil if the header is the first that arrives.
    init(
        into sink: FileSink,
        _ range: ByteRange,
        storedSize: Int64,
        cipher: ContentCipher,
        nonce: SealedNonce?
    ) {
        self.sink = sink
        self.cipher = cipher
        self.nonce = nonce
        self.storedSize = storedSize
        block = range.offset / SealedFormat.blockSize
        skipped = Int(range.offset % SealedFormat.blockSize)
        wanted = range.length
        let size = Int(min(SealedFormat.sealedBlockSize, storedSize))
        unsafe sealed = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 64)
        unsafe plain = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 64)
    }

    deinit {
        unsafe sealed.deallocate()
        unsafe plain.deallocate()
    }

    /// What the object's beginning said, once it has arrived.
    var foundNonce: SealedNonce? { found.withLock(\.nonce) }
    var failure: SealedFailure? { found.withLock(\.failure) }

    /// Takes all of `buffer`, unless it is not what was sealed.
    func take(_ buffer: UnsafeRawBufferPointer) -> FileSink.Outcome {
        var rest = unsafe buffer
        if nonce == nil {
            let missing = Int(SealedFormat.headerLength) - header.count
            unsafe header.append(contentsOf: rest.prefix(missing))
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(missing))
            guard header.count == Int(SealedFormat.headerLength) else { return .written }
            guard let nonce = SealedNonce(header: header) else { return fail(.notEncrypted) }
            self.nonce = nonce
            found.withLock { $0.nonce = nonce }
        }
        while unsafe !rest.isEmpty {
            let missing = length(of: block) - filled
            let count = min(missing, rest.count)
            let piece = unsafe UnsafeRawBufferPointer(rebasing: rest[..<count])
            unsafe UnsafeMutableRawBufferPointer(rebasing: sealed[filled...])
                .copyMemory(from: piece)
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            filled += count
            guard filled == length(of: block) else { break }
            let outcome = open()
            guard case .written = outcome else { return outcome }
        }
        return .written
    }

    private func length(of block: Int64) -> Int {
        let rest = storedSize - SealedFormat.offset(ofBlock: block)
        return Int(min(SealedFormat.sealedBlockSize, rest))
    }

    private func open() -> FileSink.Outcome {
        guard let nonce, let target = unsafe plain.baseAddress else { return .written }
        let source = unsafe UnsafeRawBufferPointer(rebasing: sealed[..<filled])
        guard unsafe cipher.open(source, into: target, nonce.ofBlock(block)) else {
            return fail(.damaged(block: block))
        }
        let length = filled - Int(SealedFormat.tagLength)
        (filled, block) = (0, block + 1)
        let count = Int(min(wanted, Int64(length - skipped)))
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: plain[skipped..<(skipped + count)])
        (skipped, wanted) = (0, wanted - Int64(count))
        guard count > 0 else { return .written }
        // What the disk refused between two exchanges leaves a gap.
        guard sink.taken == delivered else { return .failed(errno: 5) }
        delivered += Int64(count)
        return unsafe sink.accept(bytes)
    }

    private func fail(_ failure: SealedFailure) -> FileSink.Outcome {
        found.withLock { $0.failure = failure }
        return .failed(errno: SealedFailure.errno)
    }
}

extension SealedFailure {
    /// What the transport is told of a body that cannot be opened.
    static let errno: Int32 = 74
}
