package import SyncModel

/// The files that `verify` found damaged: other content under the recorded size and time.
///
/// Each is compared by its content in later runs, as with `--checksum`, until its row says that it
/// was written anew. Too many to be kept, and all files are.
package struct DamageMarks: Sendable, Hashable {
    /// Bytes of ``text``, which a setting of the manifest must hold.
    private static let limit = 60_000
    private static let all = "*"

    /// What the row said of the file that is damaged.
    private struct Mark: Sendable, Hashable {
        let checksum: UInt64
        let inode: UInt64
    }

    private var marks: [ObjectKey: Mark] = [:]
    private var length = 0
    /// True if there are more than can be kept.
    package private(set) var areTooMany = false

    package init() {}

    /// Reads ``text``; what it cannot be marks all files.
    package init(text: String) {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count == 3, let key = Self.bytes(fields[0]),
                let checksum = UInt64(fields[1], radix: 16),
                let inode = UInt64(fields[2], radix: 16)
            else {
                areTooMany = true
                return
            }
            insert(ObjectKey(key), Mark(checksum: checksum, inode: inode))
        }
    }

    /// A line for each.
    package var text: String {
        guard !areTooMany else { return Self.all }
        return keys.map { key in
            let mark = marks[key].map { mark in
                String(mark.checksum, radix: 16) + " " + String(mark.inode, radix: 16)
            }
            return Self.digits(key.bytes) + " " + (mark ?? "")
        }.joined(separator: "\n")
    }

    /// The files' keys, ascending.
    package var keys: [ObjectKey] { marks.keys.sorted() }

    /// Marks the file of a row.
    package mutating func add(_ row: ManifestEntry) {
        guard let checksum = row.crc64 else { return }
        remove(row.key)
        insert(row.key, Mark(checksum: checksum.value, inode: row.inode))
    }

    package mutating func remove(_ key: ObjectKey) {
        if marks.removeValue(forKey: key) != nil { length -= Self.length(key) }
    }

    /// True if the file of a row is marked and was not written since.
    package func covers(_ row: ManifestEntry) -> Bool {
        guard !areTooMany else { return true }
        guard !marks.isEmpty, let mark = marks[row.key] else { return false }
        return mark.checksum == row.crc64?.value && mark.inode == row.inode
    }

    private mutating func insert(_ key: ObjectKey, _ mark: Mark) {
        guard length + Self.length(key) <= Self.limit else {
            areTooMany = true
            return
        }
        length += Self.length(key)
        marks[key] = mark
    }

    /// Two numbers of 16 digits, two blanks and the end of the line come with the key.
    private static func length(_ key: ObjectKey) -> Int { key.bytes.count * 2 + 35 }

    private static func digits(_ bytes: [UInt8]) -> String {
        let table = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [table[Int($0 >> 4)], table[Int($0 & 15)]] },
            as: UTF8.self
        )
    }

    private static func bytes(_ digits: Substring) -> [UInt8]? {
        let digits = Array(digits.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            let pair = String(decoding: digits[index..<(index + 2)], as: UTF8.self)
            guard let byte = UInt8(pair, radix: 16) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
