internal import ObjectStorage
internal import SyncModel

/// Compares an object with what the store says of its content, while its bytes pass in order.
struct StreamProof: ~Copyable {
    private let expected: CRC64?
    private var surest: StreamedDigest?
    /// Of the whole content, where the surest depends on a size of parts.
    private var whole: StreamedDigest?
    /// Of what has passed.
    private(set) var checksum = CRC64()

    /// Chooses of the proofs that an object's headers offer.
    ///
    /// The bytes pass once. If the surest depends on a part size that may be wrong, a digest of the
    /// whole content is computed beside it: without it, nothing would show damage.
    init(_ metadata: ObjectMetadata, partSize: Int64) {
        expected = metadata.crc64
        guard expected == nil else { return }
        let offered = ContentDigest.all(of: metadata, partSize: partSize)
        guard let first = offered.first else { return }
        surest = StreamedDigest(first, of: metadata)
        guard !first.isOfWhole, let other = offered.first(where: \.isOfWhole) else { return }
        whole = StreamedDigest(other, of: metadata)
    }

    /// Continues with the next bytes, whose CRC-64 is `next`.
    mutating func update(_ bytes: RawSpan, _ next: CRC64) {
        checksum = checksum.combined(with: next, length: Int64(bytes.byteCount))
        surest?.update(bytes)
        whole?.update(bytes)
    }

    /// What the content is beside the store's word once all of it has passed.
    mutating func finish() -> DigestResult {
        if let expected {
            return expected == checksum ? .proven : .contentMismatch(isSure: true)
        }
        let results = [surest?.finish() ?? .unknown, whole?.finish() ?? .unknown]
        if results.contains(.proven) { return .proven }
        return results.first { $0 != .unknown } ?? .unknown
    }
}

/// One proof, whose pieces end where its parts did.
private struct StreamedDigest: ~Copyable {
    private let proof: ContentDigest
    /// True if content that does not match is other content.
    private let showsDifference: Bool
    private let pieceSize: Int64
    private var digest: PieceDigest
    private var digests: [UInt8] = []
    /// Bytes of the piece under way.
    private var covered: Int64 = 0

    init(_ proof: ContentDigest, of metadata: ObjectMetadata) {
        self.proof = proof
        showsDifference = proof.showsDifference(from: metadata)
        pieceSize = proof.pieceSize(of: metadata.size)
        digest = proof.makeDigest()
    }

    mutating func update(_ bytes: RawSpan) {
        var start = 0
        while start < bytes.byteCount {
            let length = Int(min(pieceSize - covered, Int64(bytes.byteCount - start)))
            digest.update(bytes.extracting(start..<start + length))
            start += length
            covered += Int64(length)
            if covered == pieceSize { endPiece() }
        }
    }

    private mutating func endPiece() {
        digests += digest.finish()
        digest = proof.makeDigest()
        covered = 0
    }

    mutating func finish() -> DigestResult {
        if covered > 0 || digests.isEmpty { endPiece() }
        if proof.matches(digests: digests) { return .proven }
        return showsDifference ? .contentMismatch(isSure: proof.isConclusive) : .unknown
    }
}
