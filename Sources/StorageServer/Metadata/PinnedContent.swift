internal import CLibrary
internal import SyncModel

/// The bytes of one version of an object, readable as long as this lives.
final class PinnedContent: Sendable {
    let segments: [Segment]
    private let blobs: BlobStore

    /// The caller holds the lock of the metadata that `segments` came from.
    init(_ segments: [Segment], in blobs: BlobStore) {
        self.segments = segments
        self.blobs = blobs
        blobs.pin(segments.map(\.blob))
    }

    deinit {
        blobs.unpin(segments.map(\.blob))
    }

    /// The part of a file that holds all of `range`; nil if several files do.
    func file(holding range: ByteRange) -> (path: String, offset: Int64)? {
        var start: Int64 = 0
        for segment in segments {
            if range.offset >= start, range.end <= start + segment.length {
                return (blobs.path(segment.blob), segment.offset + range.offset - start)
            }
            start += segment.length
        }
        return nil
    }

    func makeReader() -> ContentReader {
        ContentReader(self, blobs: blobs)
    }

    /// All bytes of `range` in pieces of at most 1 MiB.
    func forEachChunk(
        of range: ByteRange,
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let reader = makeReader()
        var rest = range
        var buffer = [UInt8](repeating: 0, count: Int(min(max(range.length, 1), 1 << 20)))
        while !rest.isEmpty {
            let count = try unsafe buffer.withUnsafeMutableBytes { buffer in
                let wanted = Int(min(rest.length, Int64(buffer.count)))
                let count = unsafe try reader.read(
                    at: rest.offset,
                    into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
                )
                try unsafe body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                return count
            }
            rest = rest.dropping(Int64(count))
        }
    }
}

/// Reads content that may lie in several files, with one of them open at a time.
final class ContentReader {
    private let content: PinnedContent
    private let blobs: BlobStore
    private var open: (blob: String, descriptor: Int32)?

    fileprivate init(_ content: PinnedContent, blobs: BlobStore) {
        self.content = content
        self.blobs = blobs
    }

    deinit {
        if let open { close(open.descriptor) }
    }

    /// Reads at least one byte unless `buffer` is empty; throws at the end of the content.
    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        var start: Int64 = 0
        for segment in content.segments {
            let end = start + segment.length
            guard offset < end else {
                start = end
                continue
            }
            let wanted = min(buffer.count, Int(end - offset))
            let position = segment.offset + offset - start
            let descriptor = try descriptor(of: segment.blob)
            while true {
                let count = unsafe pread(descriptor, buffer.baseAddress, wanted, off_t(position))
                if count < 0, errno == EINTR { continue }
                guard count > 0 || wanted == 0 else {
                    throw ServerFailure.file(
                        path: blobs.path(segment.blob),
                        call: "pread",
                        code: count < 0 ? errno : 0
                    )
                }
                return count
            }
        }
        throw ServerFailure.file(path: blobs.directory, call: "pread", code: 0)
    }

    private func descriptor(of blob: String) throws -> Int32 {
        if let open {
            if open.blob == blob { return open.descriptor }
            close(open.descriptor)
            self.open = nil
        }
        let path = blobs.path(blob)
        let descriptor = openForReading(path)
        guard descriptor >= 0 else {
            throw ServerFailure.file(path: path, call: "open", code: errno)
        }
        open = (blob, descriptor)
        return descriptor
    }
}

/// A read-only descriptor; negative on failure, with `errno`.
func openForReading(_ path: String) -> Int32 {
    unsafe CLibrary.open(path, O_RDONLY | O_CLOEXEC)
}
