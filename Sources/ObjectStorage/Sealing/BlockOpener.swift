internal import Dispatch
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
/// 1. What arrives is gathered to batches of a few blocks.
/// 2. Another thread opens a batch while the next one arrives: that takes as long as all else that
///    is done of a download. A batch that it has not begun is opened by who needs it.
/// 3. The content of a batch is handed on when the next one is full, or the exchange ends.
///
/// Unchecked, because it is used by the one thread that feeds a sink, from the beginning of an
/// exchange to its end; exchanges of one sink follow each other with a lock in between, and
/// continue in the middle of a block.
package final class BlockOpener: @unchecked Sendable {
    let sink: FileSink
    private let cipher: ContentCipher
    private var nonce: SealedNonce?
    private var header: [UInt8] = []
    /// Behind the last block that arrives.
    private let endBlock: Int64
    /// Of the object.
    private let storedSize: Int64
    /// Plain bytes that come before the wanted ones, and how many are wanted then.
    private var skipped: Int
    private var wanted: Int64
    private var delivered: Int64 = 0
    /// Into which is gathered.
    private var batch: BlockBatch
    /// What was gathered before, and is being opened.
    private var earlier: BlockBatch?
    /// One thread for all: it opens more than a line brings.
    private static let start = BlockingThreads.system.makeQueue("osssync.opening", .serial)
    /// EIO, as what the disk refused.
    private static let errno: Int32 = 5
    /// True once the sink takes no more, or a block was damaged.
    private var isOver = false
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
        endBlock = (range.end - 1) / SealedFormat.blockSize + 1
        skipped = Int(range.offset % SealedFormat.blockSize)
        wanted = range.length
        batch = BlockBatch(storedSize: storedSize)
        batch.begin(at: range.offset / SealedFormat.blockSize, endBlock)
    }

    /// What the object's beginning said, once it has arrived.
    var foundNonce: SealedNonce? { found.withLock(\.nonce) }
    var failure: SealedFailure? { found.withLock(\.failure) }

    /// Takes all of `buffer`, unless it is not what was sealed.
    func take(_ buffer: UnsafeRawBufferPointer) -> FileSink.Outcome {
        guard !isOver else { return .failed(errno: Self.errno) }
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
        while unsafe !rest.isEmpty, !batch.isFull {
            let count = unsafe batch.gather(rest)
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            guard batch.isFull else { break }
            let outcome = batch.end == endBlock ? finish() : advance()
            guard case .written = outcome else { return outcome }
        }
        return .written
    }

    /// Hands on what is gathered of whole blocks: the exchange has ended.
    func flush() {
        if !isOver { _ = finish() }
    }

    /// Has the batch opened while the next one arrives, into the memory of the one before.
    private func advance() -> FileSink.Outcome {
        guard let nonce else { return .written }
        let (full, before) = (batch, earlier)
        full.handOver()
        let (cipher, round) = (cipher, full.round)
        Self.start { full.open(round, cipher, nonce) }
        earlier = full
        let outcome = before.map { deliver($0, nonce) } ?? .written
        batch = before ?? BlockBatch(storedSize: storedSize)
        batch.begin(at: full.end, endBlock)
        return outcome
    }

    /// Opens all that is here.
    private func finish() -> FileSink.Outcome {
        guard let nonce else { return .written }
        if let before = earlier.take() {
            let outcome = deliver(before, nonce)
            guard case .written = outcome else { return outcome }
        }
        batch.shorten()
        batch.handOver()
        let outcome = deliver(batch, nonce)
        if case .written = outcome { batch.keepPiece(endBlock) }
        return outcome
    }

    /// Hands on the content of a batch, up to a block that is not what was sealed.
    private func deliver(_ batch: BlockBatch, _ nonce: SealedNonce) -> FileSink.Outcome {
        batch.waitOrOpen(cipher, nonce)
        for number in batch.first..<(batch.damaged ?? batch.end) {
            let content = unsafe batch.content(of: number)
            let count = Int(min(wanted, Int64(content.count - skipped)))
            let bytes = unsafe content[skipped..<(skipped + count)]
            (skipped, wanted) = (0, wanted - Int64(count))
            guard count > 0 else { continue }
            // What the disk refused between two exchanges leaves a gap.
            let hasGap = sink.taken != delivered
            delivered += Int64(count)
            let outcome =
                unsafe hasGap
                ? .failed(errno: Self.errno) : sink.accept(UnsafeRawBufferPointer(rebasing: bytes))
            guard case .written = outcome else {
                isOver = true
                return outcome
            }
        }
        return batch.damaged.map { fail(.damaged(block: $0)) } ?? .written
    }

    private func fail(_ failure: SealedFailure) -> FileSink.Outcome {
        isOver = true
        found.withLock { $0.failure = failure }
        return .failed(errno: SealedFailure.errno)
    }
}

/// A few blocks that follow each other, as they were sealed and, once opened, with their content.
///
/// Safe, because the memory never leaves this type but for the time of a call; unchecked, because
/// who gathers hands a batch over, and does not touch it until it was opened.
@safe private final class BlockBatch: @unchecked Sendable {
    private static let count: Int64 = 2

    private let storedSize: Int64
    private let memory: UnsafeMutableRawBufferPointer
    private var filled = 0
    private(set) var first: Int64 = 0
    /// Behind the last block.
    private(set) var end: Int64 = 0
    /// The first block that is not what was sealed, once all were opened.
    private(set) var damaged: Int64?
    /// How often it was handed over, so that one who comes late finds another number.
    private(set) var round = 0
    /// The round that may be opened; negative once a thread has begun to.
    private let turn = Atomic(0)
    private let isOpen = DispatchSemaphore(value: 0)

    init(storedSize: Int64) {
        self.storedSize = storedSize
        let size = min(Self.count * SealedFormat.sealedBlockSize, storedSize)
        unsafe memory = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(size),
            alignment: 64
        )
    }

    deinit { unsafe memory.deallocate() }

    var isFull: Bool { filled == offset(of: end) }

    func begin(at block: Int64, _ endBlock: Int64) {
        (first, end) = (block, min(block + Self.count, endBlock))
        (filled, damaged) = (0, nil)
    }

    /// Takes what it has room for.
    func gather(_ bytes: UnsafeRawBufferPointer) -> Int {
        let count = min(offset(of: end) - filled, bytes.count)
        unsafe UnsafeMutableRawBufferPointer(rebasing: memory[filled...])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        filled += count
        return count
    }

    /// Ends behind the last block that is whole.
    func shorten() {
        if !isFull { end = first + Int64(filled) / SealedFormat.sealedBlockSize }
    }

    /// Keeps the piece of a block that is behind the whole ones, and continues with it.
    func keepPiece(_ endBlock: Int64) {
        let (next, start) = (end, offset(of: end))
        let rest = unsafe memory[start..<filled]
        unsafe memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: rest))
        begin(at: next, endBlock)
        filled = unsafe rest.count
    }

    /// Lets it be opened.
    func handOver() {
        round += 1
        turn.store(round, ordering: .releasing)
    }

    /// Opens the blocks where they are, unless another thread does or has done so.
    func open(_ round: Int, _ cipher: ContentCipher, _ nonce: SealedNonce) {
        guard isMine(round) else { return }
        open(cipher, nonce)
        isOpen.signal()
    }

    /// Returns when all blocks are open.
    func waitOrOpen(_ cipher: ContentCipher, _ nonce: SealedNonce) {
        guard isMine(round) else { return isOpen.wait() }
        open(cipher, nonce)
    }

    private func isMine(_ round: Int) -> Bool {
        turn.compareExchange(expected: round, desired: -round, ordering: .acquiringAndReleasing)
            .exchanged
    }

    private func open(_ cipher: ContentCipher, _ nonce: SealedNonce) {
        damaged = (first..<end).first { number in
            let place = unsafe memory[offset(of: number)..<offset(of: number + 1)]
            let bytes = unsafe UnsafeMutableRawBufferPointer(rebasing: place)
            guard let target = bytes.baseAddress else { return true }
            let content = unsafe target + Int(SealedFormat.tagLength)
            let sealed = UnsafeRawBufferPointer(bytes)
            return unsafe !cipher.open(sealed, into: content, nonce.ofBlock(number))
        }
    }

    /// What was sealed in a block that was opened; until the batch is used again.
    func content(of number: Int64) -> UnsafeRawBufferPointer {
        let start = offset(of: number) + Int(SealedFormat.tagLength)
        return unsafe UnsafeRawBufferPointer(rebasing: memory[start..<offset(of: number + 1)])
    }

    /// Where a block is in the memory.
    private func offset(of number: Int64) -> Int {
        // The last block of an object may be shorter.
        func start(_ block: Int64) -> Int64 { min(SealedFormat.offset(ofBlock: block), storedSize) }
        return Int(start(number) - start(first))
    }
}

extension SealedFailure {
    /// What the transport is told of a body that cannot be opened.
    static let errno: Int32 = 74
}
