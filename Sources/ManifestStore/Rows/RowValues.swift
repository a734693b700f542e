internal import SyncModel

/// Values as the columns of a row have them, in the order in which `RowReader` reads them.
extension [SQLValue] {
    mutating func append(_ number: Int64?) { append(SQLValue(number)) }
    mutating func append(_ text: String?) { append(SQLValue(text)) }
    mutating func append(_ key: ObjectKey) { append(.blob(key.bytes)) }

    mutating func append(bits: UInt64?) {
        append(SQLValue(bits.map { Int64(bitPattern: $0) }))
    }

    mutating func append(_ checksum: CRC64?) { append(bits: checksum?.value) }

    mutating func append(_ time: Timestamp?) {
        append(time?.seconds)
        append(time.map { Int64($0.nanoseconds) })
    }

    mutating func append(_ identity: FileIdentity?) {
        append(identity?.size)
        append(identity?.modified)
        append(identity?.changed)
        append(bits: identity?.inode)
        append(bits: identity?.device)
    }
}

/// What a value must be before it is written, so that reading it back never fails.
enum Requirement {
    static func key(_ key: ObjectKey, limit: Int = ManifestLimits.key) throws(ManifestError) {
        guard !key.isEmpty, key.bytes.count <= limit else {
            let name = key.display.cut(toBytes: 200)
            throw .invalidValue("the key '\(name)' has \(key.bytes.count) bytes")
        }
    }

    static func length(_ text: String?, _ what: String, limit: Int) throws(ManifestError) {
        guard let text, text.utf8.count > limit else { return }
        throw .invalidValue("\(what) has \(text.utf8.count) bytes, and \(limit) are the limit")
    }

    static func notNegative(_ number: Int64?, _ what: String) throws(ManifestError) {
        guard let number, number < 0 else { return }
        throw .invalidValue("\(what) is \(number)")
    }

    static func positive(_ number: Int64, _ what: String) throws(ManifestError) {
        guard number <= 0 else { return }
        throw .invalidValue("\(what) is \(number)")
    }

    static func word(_ text: String, _ what: String) throws(ManifestError) {
        let isWord =
            !text.isEmpty && text.utf8.count <= ManifestLimits.word
            && text.utf8.allSatisfy {
                $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") || $0 == UInt8(ascii: "-")
            }
        guard !isWord else { return }
        throw .invalidValue(
            "\(what) '\(displayText(text.utf8).cut(toBytes: 100))' is not a valid "
                + "word"
        )
    }
}

extension ETag {
    /// A tag that was stored without the quotes of the wire, and so keeps any that are its own.
    init(stored text: String) {
        self.init(wire: text.utf8.first == UInt8(ascii: "\"") ? "\"" + text + "\"" : text)
    }
}
