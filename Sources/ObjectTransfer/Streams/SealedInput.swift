internal import ObjectStorage
internal import SyncModel

/// What becomes of a stream that is encrypted while it is read.
///
/// The stream is read once, so that no two contents have one nonce.
actor SealedInput {
    typealias Input = @Sendable (_ count: Int) async throws -> [UInt8]

    /// Whole blocks, so that little more is in memory than what is asked for.
    private static let step = Int(16 * SealedFormat.blockSize)

    private let input: Input
    private let cipher: ContentCipher
    private let nonce: SealedNonce
    /// What was sealed and not handed out.
    private var ready: [UInt8]
    /// The number of the next block.
    private var block: Int64 = 0
    private var isAtEnd = false
    /// What was read of the stream.
    private(set) var plainContent: (length: Int64, checksum: CRC64) = (0, CRC64())

    init(_ input: @escaping Input, _ cipher: ContentCipher, _ nonce: SealedNonce) {
        self.input = input
        self.cipher = cipher
        self.nonce = nonce
        ready = nonce.header
    }

    func read(_ count: Int) async throws -> [UInt8] {
        var piece: [UInt8] = []
        piece.reserveCapacity(count)
        while piece.count < count {
            if ready.isEmpty {
                guard !isAtEnd else { break }
                try await sealNext()
            }
            let bytes = ready.prefix(count - piece.count)
            piece += bytes
            ready.removeFirst(bytes.count)
        }
        return piece
    }

    private func sealNext() async throws {
        let plain = try await input(Self.step)
        isAtEnd = plain.count < Self.step
        plainContent.length += Int64(plain.count)
        plainContent.checksum = plainContent.checksum.combined(
            with: CRC64(of: plain),
            length: Int64(plain.count)
        )
        block += cipher.seal(plain, from: block, nonce, onto: &ready)
    }
}
