internal import SyncModel

extension RequestBody {
    /// Bodies up to this size are digested on the thread that asks.
    private static let largestInline: Int64 = 256 << 10
    private static let chunkSize = 1 << 20

    /// The SHA-256 of the whole body in lower-case hexadecimal digits; a file is read for it.
    func sha256() async throws(TransportError) -> String {
        switch self {
        case .none: return hexadecimalText(Digest.sha256([]))
        case .bytes(let bytes): return hexadecimalText(Digest.sha256(bytes))
        case .file(let region):
            guard region.range.length > Self.largestInline else {
                return try Self.sha256(of: region)
            }
            return try await withCheckedContinuation { continuation in
                do throws(TransportError) {
                    try startThread {
                        continuation.resume(
                            returning: Result { () throws(TransportError) in
                                try Self.sha256(of: region)
                            }
                        )
                    }
                } catch {
                    continuation.resume(returning: Result.failure(error))
                }
            }.get()
        }
    }

    private static func sha256(of region: FileRegion) throws(TransportError) -> String {
        var digest = StreamingDigest(.sha256)
        let size = Int(min(Int64(chunkSize), max(region.range.length, 1)))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        defer { unsafe buffer.deallocate() }
        guard let base = buffer.baseAddress else { return hexadecimalText(digest.finish()) }
        var position: Int64 = 0
        while position < region.range.length {
            let wanted = Int(min(Int64(size), region.range.length - position))
            let count = try unsafe BodySource.read(region, at: position, into: base, count: wanted)
            unsafe digest.update(UnsafeRawBufferPointer(start: base, count: count))
            position += Int64(count)
        }
        return hexadecimalText(digest.finish())
    }
}
