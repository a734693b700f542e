internal import ObjectStorage
internal import SyncModel

/// Compares an object with what the store says of its content, while its bytes pass in order.
struct StreamProof: ~Copyable {
    private let expected: CRC64?
    private let proof: ContentDigest?
    private let pieceSize: Int64
    /// Of what has passed.
    private(set) var checksum = CRC64()
    private var digest: PieceDigest?
    private var digests: [UInt8] = []
    /// Bytes of the piece under way.
    private var covered: Int64 = 0

    /// Chooses the surest of the proofs that an object's headers offer.
    init(_ metadata: ObjectMetadata, partSize: Int64) {
        let proof =
            metadata.crc64 == nil
            ? ContentDigest.all(of: metadata, partSize: partSize).first : nil
        expected = metadata.crc64
        self.proof = proof
        pieceSize = proof?.pieceSize(of: metadata.size) ?? .max
        if let proof { digest = proof.makeDigest() }
    }

    /// Continues with the next bytes, whose CRC-64 is `next`.
    mutating func update(_ bytes: RawSpan, _ next: CRC64) {
        checksum = checksum.combined(with: next, length: Int64(bytes.byteCount))
        guard let proof else { return }
        var start = 0
        while start < bytes.byteCount {
            let length = Int(min(pieceSize - covered, Int64(bytes.byteCount - start)))
            digest?.update(bytes.extracting(start..<start + length))
            start += length
            covered += Int64(length)
            if covered == pieceSize { endPiece(proof) }
        }
    }

    private mutating func endPiece(_ proof: ContentDigest) {
        digests += digest?.finish() ?? []
        digest = proof.makeDigest()
        covered = 0
    }

    /// What the content is beside the store's word once all of it has passed.
    mutating func finish() -> DigestResult {
        if let expected {
            return expected == checksum ? .proven : .contentMismatch(isSure: true)
        }
        guard let proof else { return .unknown }
        if covered > 0 || digests.isEmpty { endPiece(proof) }
        if proof.matches(digests: digests) { return .proven }
        // A tag of parts that does not match only says that the parts had another size.
        switch proof {
        case .composite, .parts: return .unknown
        case .checksum, .md5: return .contentMismatch(isSure: proof.isConclusive)
        }
    }
}
