internal import SyncModel

/// A path or name that ends in NUL, as the kernel wants it, without a detour over `String`.
///
/// Safe, because the storage always holds the closing NUL and outlives each use of the pointer.
@safe
struct PathBytes: Sendable {
    private let storage: [UInt8]
    private let start: Int

    /// `bytes` hold no NUL: a `RelativePath` refuses it, and names come from the kernel.
    init(_ bytes: some Collection<UInt8>) {
        var storage: [UInt8] = []
        storage.reserveCapacity(bytes.count + 1)
        storage.append(contentsOf: bytes)
        precondition(!storage.contains(0), "a path has no NUL")
        storage.append(0)
        self.storage = storage
        start = 0
    }

    init(_ text: StaticString) {
        self.init(text.description.utf8)
    }

    /// The name that begins at `start` of `storage` and ends before the next NUL; shares the
    /// storage.
    init(sharing storage: [UInt8], from start: Int) {
        precondition(start < storage.count && storage.last == 0, "a shared name ends in NUL")
        self.storage = storage
        self.start = start
    }

    func withPointer<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        unsafe storage.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else {
                preconditionFailure("the storage holds at least a NUL")
            }
            return unsafe body((base + start).assumingMemoryBound(to: CChar.self))
        }
    }

    var bytes: ArraySlice<UInt8> { storage[start...].prefix { $0 != 0 } }

    /// True for `.`, `..` and the empty name, which are no entries of a directory.
    var isDots: Bool { bytes.count <= 2 && bytes.allSatisfy { $0 == UInt8(ascii: ".") } }

    /// The name as text that is safe to print.
    var display: String { displayText(bytes) }
}
