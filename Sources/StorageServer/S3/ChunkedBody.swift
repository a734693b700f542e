/// Decodes a body in S3's own chunks, `size;chunk-signature=…` before each, with headers after the
/// last; verifies what is signed.
final class ChunkedBody {
    private enum Place {
        case sizeLine
        case data(left: Int64)
        case dataEnd
        case trailer
        case ended
    }

    private static let lineLimit = 8_192

    private let key: S3SigningKey?
    private var previous: String
    private var place = Place.sizeLine
    private var line: [UInt8] = []
    private var announced = ""
    private var digest: RunningDigest?
    private(set) var decodedLength: Int64 = 0
    /// Names in lower case.
    private(set) var trailers: [(name: String, value: String)] = []

    /// `key` is nil for chunks without signatures.
    init(key: S3SigningKey?, seed: String) {
        self.key = key
        previous = seed
    }

    var isComplete: Bool {
        if case .ended = place { true } else { false }
    }

    func receive(
        _ bytes: UnsafeRawBufferPointer,
        _ store: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var index = 0
        while index < bytes.count {
            if case .data(let left) = place {
                let count = Int(min(left, Int64(bytes.count - index)))
                let piece = unsafe UnsafeRawBufferPointer(
                    rebasing: bytes[index..<(index + count)]
                )
                unsafe digest?.update(piece)
                try unsafe store(piece)
                decodedLength += Int64(count)
                index += count
                if left == Int64(count) {
                    place = .dataEnd
                    try endChunk()
                } else {
                    place = .data(left: left - Int64(count))
                }
                continue
            }
            let byte = unsafe bytes[index]
            index += 1
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                guard line.count <= Self.lineLimit else { throw Self.malformed }
                continue
            }
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            let text = String(decoding: line, as: UTF8.self)
            line.removeAll(keepingCapacity: true)
            try endLine(text)
        }
    }

    private static var malformed: ServiceError {
        ServiceError(400, "IncompleteBody", "The body is not encoded as aws-chunked.")
    }

    private func endLine(_ text: String) throws(ServiceError) {
        switch place {
        case .sizeLine:
            let fields = text.split(separator: ";", omittingEmptySubsequences: false)
            guard let first = fields.first, let size = Int64(first, radix: 16), size >= 0 else {
                throw Self.malformed
            }
            let name = "chunk-signature="
            announced =
                fields.first { $0.hasPrefix(name) }.map { String($0.dropFirst(name.utf8.count)) }
                ?? ""
            if key != nil { digest = RunningDigest(.sha256) }
            if size == 0 {
                try endChunk()
                place = .trailer
            } else {
                place = .data(left: size)
            }
        case .dataEnd:
            guard text.isEmpty else { throw Self.malformed }
            place = .sizeLine
        case .trailer:
            guard !text.isEmpty else {
                try endTrailer()
                return
            }
            let pair = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { throw Self.malformed }
            trailers.append((pair[0].lowercased(), String(pair[1].drop { $0 == " " })))
        case .data, .ended: throw Self.malformed
        }
    }

    private func endChunk() throws(ServiceError) {
        guard let key, let digest else { return }
        let expected = key.chunkSignature(previous: previous, digest: digest.finish())
        self.digest = nil
        try compare(expected, announced)
        previous = expected
    }

    private func endTrailer() throws(ServiceError) {
        place = .ended
        let name = "x-amz-trailer-signature"
        guard let key, let given = trailers.first(where: { $0.name == name }) else { return }
        trailers.removeAll { $0.name == name }
        let text = trailers.map { "\($0.name):\($0.value)\n" }.joined()
        try compare(key.trailerSignature(previous: previous, trailer: text), given.value)
    }

    private func compare(_ expected: String, _ given: String) throws(ServiceError) {
        guard constantTimeEqual(expected, given) else {
            throw ServiceError(
                403,
                "SignatureDoesNotMatch",
                "The signature of a chunk does not match the one we calculated.",
                details: [("SignatureProvided", given)]
            )
        }
    }
}
