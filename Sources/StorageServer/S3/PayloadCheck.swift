internal import SyncModel

/// Takes the body of an S3 request off the wire: decodes its chunks and verifies its digests.
final class PayloadCheck {
    private let request: Request
    private var digest: (running: RunningDigest, expected: String)?
    private var chunks: ChunkedBody?
    private var checksum: RunningChecksum?
    private let believesChecksums: Bool

    init(
        _ request: Request,
        _ payload: SignedPayload,
        checksums: ChecksumFault?
    ) throws(ServiceError) {
        self.request = request
        believesChecksums = checksums == .believed
        switch payload {
        case .unsigned: break
        case .digest(let expected): digest = (RunningDigest(.sha256), expected)
        case .chunks: chunks = ChunkedBody(key: nil, seed: "")
        case .signedChunks(let key, let seed): chunks = ChunkedBody(key: key, seed: seed)
        }
        let announced = request.headers.compactMap { header -> ChecksumAlgorithm? in
            let prefix = "x-amz-checksum-"
            let name = header.name == "x-amz-trailer" ? header.value.lowercased() : header.name
            guard name.hasPrefix(prefix) else { return nil }
            return ChecksumAlgorithm(rawValue: String(name.dropFirst(prefix.utf8.count)))
        }
        guard announced.count <= 1 else {
            throw ServiceError(
                400,
                "InvalidRequest",
                "Expecting a single x-amz-checksum- header. Multiple checksum Types are not "
                    + "allowed."
            )
        }
        if checksums != .ignored { checksum = announced.first.map(RunningChecksum.init) }
    }

    func receive(
        _ bytes: UnsafeRawBufferPointer,
        _ store: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        guard let chunks else { return try unsafe take(bytes, store) }
        try unsafe chunks.receive(bytes) { try unsafe take($0, store) }
    }

    private func take(
        _ bytes: UnsafeRawBufferPointer,
        _ store: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        unsafe digest?.running.update(bytes)
        unsafe checksum?.update(bytes)
        try unsafe store(bytes)
    }

    /// Judges the whole body; the result is the checksum that was sent with it.
    ///
    /// The checksum headers of a completion are the object's, not the document's.
    func finish(_ operation: Operation) throws(ServiceError) -> Checksum? {
        if let chunks {
            let length = request.header("x-amz-decoded-content-length")
                .flatMap { parseDecimal($0.utf8) }
            guard chunks.isComplete, length == nil || length == chunks.decodedLength else {
                throw ServiceError(
                    400,
                    "IncompleteBody",
                    "You did not provide the number of bytes specified by the "
                        + "x-amz-decoded-content-length HTTP header"
                )
            }
        }
        if let digest {
            let found = hexadecimal(digest.running.finish(), uppercase: false)
            guard found == digest.expected else {
                throw ServiceError(
                    400,
                    "XAmzContentSHA256Mismatch",
                    "The provided 'x-amz-content-sha256' header does not match what was computed.",
                    details: [
                        ("ClientComputedContentSHA256", digest.expected),
                        ("S3ComputedContentSHA256", found),
                    ]
                )
            }
        }
        guard let checksum, operation != .completeMultipartUpload else { return nil }
        return try compared(checksum)
    }

    private func compared(_ checksum: RunningChecksum) throws(ServiceError) -> Checksum {
        let name = checksum.algorithm.headerName
        let trailer = chunks?.trailers.first { $0.name == name }?.value
        guard let given = trailer ?? request.header(name),
            Base64.decode(given)?.count == checksum.algorithm.length
        else {
            throw ServiceError(
                400,
                "InvalidRequest",
                "Value for \(name) header is invalid."
            )
        }
        if believesChecksums { return Checksum(algorithm: checksum.algorithm, value: given) }
        let found = checksum.finish()
        guard found.value == given else {
            let kind = checksum.algorithm.rawValue.uppercased()
            throw ServiceError(
                400,
                "BadDigest",
                "The \(kind) you specified did not match the calculated checksum."
            )
        }
        return found
    }
}
