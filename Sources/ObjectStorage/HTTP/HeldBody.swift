/// Holds the body of one small object.
///
/// Safe, because the memory lives as long as this object, and what is handed out of it is not
/// changed. Unchecked, because one thread fills it from the beginning of an exchange to its end;
/// exchanges of one sink, and those who read it then, follow each other with a lock in between.
@safe final class HeldBody: @unchecked Sendable {
    private let memory: UnsafeMutableRawBufferPointer
    private let capacity: Int
    private var count = 0

    init(capacity: Int) {
        self.capacity = capacity
        unsafe memory = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { unsafe memory.deallocate() }

    /// What was received so far.
    var received: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: memory[..<count])
    }

    /// Adds `bytes`, for which there is room.
    func append(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count <= capacity - count, "a body is no longer than announced")
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[count...])
        unsafe rest.copyMemory(from: bytes)
        count += bytes.count
    }
}
