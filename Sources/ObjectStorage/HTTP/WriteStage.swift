internal import CLibrary

/// Gathers small pieces of a body to blocks that end at aligned offsets of the file.
///
/// Safe, because the memory never leaves this type but for the time of a closure. Used by the one
/// thread that feeds a sink, from the beginning of an exchange to its end; exchanges of one sink
/// follow each other with a lock in between.
@safe final class WriteStage: @unchecked Sendable {
    static let blockSize = 256 << 10
    private static let alignment = 4_096

    private let descriptor: Int32
    private var memory: UnsafeMutableRawPointer?
    /// Bytes gathered.
    private(set) var count = 0
    /// Bytes until the aligned offset at which the block ends.
    private var capacity = 0

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit { free() }

    var isFull: Bool { count > 0 && count == capacity }

    /// Takes a beginning of `bytes`, which belong at `position` of the file plus what was gathered;
    /// returns how many were taken.
    func append(_ bytes: UnsafeRawBufferPointer, at position: Int64) -> Int {
        if count == 0 { capacity = Self.blockSize - Int(position % Int64(Self.blockSize)) }
        let memory = unsafe memory ?? allocate()
        let taken = min(bytes.count, capacity - count)
        guard taken > 0, let source = bytes.baseAddress else { return 0 }
        unsafe (memory + count).copyMemory(from: source, byteCount: taken)
        count += taken
        return taken
    }

    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        unsafe body(UnsafeRawBufferPointer(start: memory, count: count))
    }

    /// Writes all of `bytes`; the error of the call if it failed.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int32? {
        var written = 0
        while written < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
            let position = off_t(offset + Int64(written))
            let result = unsafe pwrite(descriptor, rest.baseAddress, rest.count, position)
            if result < 0 {
                if errno == EINTR { continue }
                return errno
            }
            // No file system says so of a regular file, but a loop that believes in it never ends.
            if result == 0 { return EIO }
            written += result
        }
        return nil
    }

    func clear() {
        count = 0
        capacity = 0
    }

    func free() {
        unsafe memory?.deallocate()
        unsafe memory = nil
        clear()
    }

    private func allocate() -> UnsafeMutableRawPointer {
        let made = UnsafeMutableRawPointer.allocate(
            byteCount: Self.blockSize,
            alignment: Self.alignment
        )
        unsafe memory = made
        return unsafe made
    }
}
