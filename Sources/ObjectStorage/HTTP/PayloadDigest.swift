internal import SyncModel

extension RequestBody {
    /// Bodies up to this size are digested on the thread that asks.
    private static let largestInline: Int64 = 256 << 10
    private static let chunkSize = 1 << 20

    /// The SHA-256 of the whole body in lower-case hexadecimal digits; a file is read for it.
    func sha256() async throws(TransportError) -> String {
        hexadecimalText(try await digest(.sha256))
    }

    /// The MD5 of the whole body; a file is read for it.
    func md5() async throws(TransportError) -> [UInt8] {
        try await digest(.md5)
    }

    private func digest(_ algorithm: DigestAlgorithm) async throws(TransportError) -> [UInt8] {
        try await reading { (body) throws(TransportError) in
            var digest = StreamingDigest(algorithm)
            try unsafe body.read { unsafe digest.update($0) }
            return digest.finish()
        }
    }

    /// The CRC-64 of the whole body; a file is read for it.
    func checksum() async throws(TransportError) -> CRC64 {
        try await reading { (body) throws(TransportError) in
            var checksum = CRC64()
            try unsafe body.read { unsafe checksum.update($0) }
            return checksum
        }
    }

    /// The CRC-32C of the whole body; a file is read for it.
    func crc32c() async throws(TransportError) -> UInt32 {
        try await reading { (body) throws(TransportError) in
            var checksum = CRC32(.castagnoli)
            try unsafe body.read { unsafe checksum.update($0) }
            return checksum.value
        }
    }

    /// Runs `work`, for a large body on a thread of its own.
    private func reading<Value: Sendable>(
        _ work: @escaping @Sendable (RequestBody) throws(TransportError) -> Value
    ) async throws(TransportError) -> Value {
        guard length > Self.largestInline else { return try work(self) }
        return try await withCheckedContinuation { continuation in
            do throws(TransportError) {
                try startThread {
                    continuation.resume(
                        returning: Result { () throws(TransportError) in try work(self) }
                    )
                }
            } catch {
                continuation.resume(returning: Result.failure(error))
            }
        }.get()
    }

    /// Hands out all of what is sent.
    private func read(_ take: (UnsafeRawBufferPointer) -> Void) throws(TransportError) {
        switch self {
        case .none: break
        case .bytes(let bytes): unsafe bytes.withUnsafeBytes { unsafe take($0) }
        case .file(let region): try unsafe Self.read(region, take)
        case .sealed(let body): try unsafe body.read(take)
        }
    }

    private static func read(
        _ region: FileRegion,
        _ take: (UnsafeRawBufferPointer) -> Void
    ) throws(TransportError) {
        let size = Int(min(Int64(chunkSize), max(region.range.length, 1)))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        defer { unsafe buffer.deallocate() }
        guard let base = buffer.baseAddress else { return }
        var position: Int64 = 0
        while position < region.range.length {
            let wanted = Int(min(Int64(size), region.range.length - position))
            let count = try unsafe BodySource.read(region, at: position, into: base, count: wanted)
            unsafe take(UnsafeRawBufferPointer(start: base, count: count))
            position += Int64(count)
        }
    }
}
