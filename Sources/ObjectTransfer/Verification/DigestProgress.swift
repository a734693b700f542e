internal import SyncModel

/// A proof that is computed piece by piece while the rest of the object arrives.
///
/// 1. `begin` and `arrived` say which bytes have come that follow those a digest covers already.
/// 2. Whoever gets a job reads its bytes back, as they were just written, and tells `finished`.
/// 3. `result` compares the digests once all are there.
struct DigestProgress {
    /// Bytes for the digest of one piece.
    struct Job: Sendable {
        let piece: Int
        let range: ByteRange
        let isLast: Bool
        fileprivate let digest: SharedDigest

        /// Continues the digest with the next bytes of the range.
        func update(_ bytes: RawSpan) { digest.update(bytes) }

        /// The digest where it is that of a part, which may be continued beside others.
        var part: LaneMD5? {
            get { digest.part }
            nonmutating set { digest.part = newValue }
        }
    }

    private struct Piece {
        /// Bytes from its beginning that its digest covers, or those of a job that runs.
        var covered: Int64 = 0
        var digest: SharedDigest?
        var isBusy = false
    }

    private let proof: ContentDigest
    private let size: Int64
    private let pieceSize: Int64
    private let rangeSize: Int64
    private var isHere: [Bool]
    private var pieces: [Piece]
    private var digests: [UInt8]
    private var finishedCount = 0
    private(set) var runningCount = 0

    /// Nil if nothing more is to come; without `ranges`, all of the object is on disk.
    init?(_ proof: ContentDigest, size: Int64, ranges: [RangeProgress]?) {
        guard size > 0, ranges?.isEmpty != true else { return nil }
        self.proof = proof
        self.size = size
        pieceSize = min(proof.pieceSize(of: size), size)
        rangeSize = ranges?.first?.range.length ?? size
        isHere = ranges?.map(\.isComplete) ?? [true]
        pieces = Array(repeating: Piece(), count: Int((size - 1) / pieceSize) + 1)
        digests = Array(repeating: 0, count: pieces.count * proof.digestLength)
    }

    /// What can be done at once.
    mutating func begin() -> [Job] {
        pieces.indices.compactMap { job(of: $0) }
    }

    /// A range is on disk.
    mutating func arrived(_ index: Int) -> [Job] {
        guard isHere.indices.contains(index), !isHere[index] else { return [] }
        isHere[index] = true
        let offset = Int64(index) * rangeSize
        let end = min(offset + rangeSize, size)
        return (Int(offset / pieceSize)...Int((end - 1) / pieceSize)).compactMap { job(of: $0) }
    }

    /// A job is done; what came meanwhile is the next one.
    mutating func finished(_ job: Job) -> Job? {
        runningCount -= 1
        pieces[job.piece].isBusy = false
        guard job.isLast else { return self.job(of: job.piece) }
        pieces[job.piece].digest = nil
        let length = proof.digestLength
        let value = job.digest.finish()
        digests.replaceSubrange(job.piece * length..<(job.piece + 1) * length, with: value)
        finishedCount += 1
        return nil
    }

    /// Whether the content is what the proof is of; nil if not all of it was digested.
    var result: (proof: ContentDigest, matches: Bool)? {
        finishedCount == pieces.count ? (proof, proof.matches(digests: digests)) : nil
    }

    private mutating func job(of index: Int) -> Job? {
        guard !pieces[index].isBusy else { return nil }
        let offset = Int64(index) * pieceSize
        let end = min(offset + pieceSize, size)
        let start = offset + pieces[index].covered
        var reached = start
        while reached < end, isHere[Int(reached / rangeSize)] {
            reached = min((reached / rangeSize + 1) * rangeSize, end)
        }
        guard reached > start else { return nil }
        let digest = pieces[index].digest ?? SharedDigest(proof.makeDigest())
        pieces[index] = Piece(covered: reached - offset, digest: digest, isBusy: true)
        runningCount += 1
        return Job(
            piece: index,
            range: ByteRange(offset: start, length: reached - start),
            isLast: reached == end,
            digest: digest
        )
    }
}

/// A digest that one job after the other continues.
///
/// Unchecked, because a piece has one job at a time, and its end is told before the next begins.
private final class SharedDigest: @unchecked Sendable {
    private var digest: PieceDigest

    init(_ digest: consuming PieceDigest) {
        self.digest = digest
    }

    var part: LaneMD5? {
        get { digest.part }
        set { digest.part = newValue }
    }

    func update(_ bytes: RawSpan) { digest.update(bytes) }

    func finish() -> [UInt8] { digest.finish() }
}
