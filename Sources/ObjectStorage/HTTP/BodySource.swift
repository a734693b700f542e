internal import CLibrary
internal import SyncModel

/// A request's body while it is sent: hands out its bytes in order and digests them on the way.
struct BodySource: ~Copyable {
    private let body: RequestBody
    private(set) var position: Int64 = 0
    private var checksum = CRC64()
    private var md5: StreamingDigest?
    private var sealed: SealedPass?

    init(_ body: RequestBody, computesMD5: Bool) {
        self.body = body
        md5 = computesMD5 ? StreamingDigest(.md5) : nil
    }

    var isAtEnd: Bool { position == body.length }

    /// Fills a beginning of `buffer`, and returns 0 only at the end.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransportError) -> Int {
        let wanted = Int(min(Int64(buffer.count), body.length - position))
        guard wanted > 0, let base = buffer.baseAddress else { return 0 }
        let count: Int
        switch body {
        case .none: return 0
        case .bytes(let bytes):
            let start = Int(position)
            unsafe bytes.withUnsafeBytes { source in
                unsafe buffer.copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: source[start..<(start + wanted)])
                )
            }
            count = wanted
        case .file(let region):
            count = unsafe try Self.read(region, at: position, into: base, count: wanted)
        case .sealed(let body):
            let pass = sealed ?? SealedPass(body)
            sealed = pass
            let wished = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
            count = try unsafe pass.read(at: position, into: wished)
        }
        let filled = unsafe UnsafeRawBufferPointer(start: base, count: count)
        unsafe checksum.update(filled)
        unsafe md5?.update(filled)
        position += Int64(count)
        if isAtEnd, !isUnchanged { throw .sourceChanged }
        return count
    }

    /// False if the file is not what was sent of it.
    private var isUnchanged: Bool {
        switch body {
        case .none, .bytes: true
        case .file(let region): region.isUnchanged?(checksum) ?? true
        case .sealed(let body):
            if case .file(let region, _) = body.source, let sealed {
                region.isUnchanged?(sealed.checksum) ?? true
            } else {
                true
            }
        }
    }

    static func read(
        _ region: FileRegion,
        at position: Int64,
        into base: UnsafeMutableRawPointer,
        count: Int
    ) throws(TransportError) -> Int {
        while true {
            let offset = off_t(region.range.offset + position)
            let result = unsafe pread(region.descriptor, base, count, offset)
            if result > 0 { return result }
            guard result < 0 else { throw .sourceChanged }
            guard errno == EINTR else { throw .localIO(errno: errno, call: "pread") }
        }
    }

    /// Starts over, and returns how many bytes are taken back.
    mutating func rewind() -> Int64 {
        let taken = position
        position = 0
        checksum = CRC64()
        sealed = nil
        md5?.restart()
        return taken
    }

    /// The digests of the whole body; nil if it was not sent to its end.
    mutating func finish() -> SentDigests? {
        guard isAtEnd else { return nil }
        return SentDigests(length: position, checksum: checksum, md5: md5?.finish())
    }
}
