internal import SyncModel

/// One content that somebody made: a version of an object, or what a user wrote to a file.
struct ContentID: Hashable, Codable, Sendable, Comparable {
    let number: UInt32

    static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// Every content that ever was, so that each file and object can be told to be one of them, whole.
///
/// Each 16 bytes name their content and their place in it: of what is none of them, the bytes say
/// what it was mixed from.
struct Contents {
    private var bytesByID: [ContentID: [UInt8]] = [:]
    private var idByDigest: [Digest: ContentID] = [:]
    private var next: UInt32 = 1

    private struct Digest: Hashable {
        let checksum: CRC64
        let count: Int
    }

    static let empty = ContentID(number: 0)

    init() {
        bytesByID[Self.empty] = []
        idByDigest[Digest(checksum: CRC64(), count: 0)] = Self.empty
    }

    subscript(id: ContentID) -> [UInt8] { bytesByID[id] ?? [] }

    /// Content that nobody had before; fewer than 8 bytes could not be told apart.
    mutating func make(size: Int) -> ContentID {
        guard size > 0 else { return Self.empty }
        let id = ContentID(number: next)
        return add(Self.blocks(of: id, from: 0, to: max(size, 8)))
    }

    /// `id` with something behind it.
    mutating func makeLonger(_ id: ContentID, by size: Int) -> ContentID {
        let bytes = self[id]
        let tail = ContentID(number: next)
        return add(bytes + Self.blocks(of: tail, from: bytes.count, to: bytes.count + max(size, 8)))
    }

    /// `id` with another middle, of the same length.
    mutating func makeAltered(_ id: ContentID) -> ContentID {
        var bytes = self[id]
        guard bytes.count >= 8 else { return make(size: 8) }
        let start = bytes.count / 3 / 16 * 16
        let end = min(bytes.count, start + max(16, bytes.count / 3))
        let altered = Self.blocks(of: ContentID(number: next), from: start, to: end)
        bytes.replaceSubrange(start..<end, with: altered)
        return add(bytes)
    }

    /// Nil for what nobody ever wrote as a whole.
    func identify(_ bytes: [UInt8]) -> ContentID? {
        idByDigest[Digest(checksum: CRC64(of: bytes), count: bytes.count)]
    }

    /// A text that means something.
    mutating func take(_ bytes: [UInt8]) -> ContentID { add(bytes) }

    private mutating func add(_ bytes: [UInt8]) -> ContentID {
        let digest = Digest(checksum: CRC64(of: bytes), count: bytes.count)
        if let known = idByDigest[digest] { return known }
        let id = ContentID(number: next)
        next += 1
        bytesByID[id] = bytes
        idByDigest[digest] = id
        return id
    }

    /// The bytes from `start` to `end` of an endless content; 16 of them are the number and the
    /// block's index, both scrambled so that they compress and repeat nowhere.
    private static func blocks(of id: ContentID, from start: Int, to end: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(end - start)
        var offset = start
        while offset < end {
            let block = UInt64(offset / 16)
            let low = UInt64(id.number) | block << 32
            let high = (UInt64(id.number) << 32 | block) &* 0x9E37_79B9_7F4A_7C15
            var byte = offset % 16
            while byte < 16, offset < end {
                let word = byte < 8 ? low : high
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(byte % 8 * 8)))
                byte += 1
                offset += 1
            }
        }
        return bytes
    }
}

extension Contents {
    /// From which contents the bytes were mixed, for a message.
    func describe(_ bytes: [UInt8]) -> String {
        if let id = identify(bytes) { return "content \(id.number)" }
        var pieces: [String] = []
        var last = ""
        for start in stride(from: 0, to: bytes.count, by: 16) {
            let block = bytes[start..<min(start + 16, bytes.count)]
            let number = block.prefix(4).enumerated().reduce(UInt32(0)) { sum, byte in
                sum | UInt32(byte.element) << UInt32(byte.offset * 8)
            }
            let name = block.allSatisfy { $0 == 0 } ? "zeros" : "\(number)"
            if name != last { pieces.append("\(name) from \(start)") }
            last = name
        }
        let shown = pieces.prefix(12).joined(separator: ", ")
        return "\(bytes.count) bytes that nobody wrote: \(shown)"
    }
}
