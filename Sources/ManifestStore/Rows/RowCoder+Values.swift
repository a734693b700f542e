internal import SyncModel

/// The types that columns hold; each takes the value to write, or nil, and returns it or the one
/// that was read.
extension RowCoder {
    mutating func key(_ key: ObjectKey?, limit: Int) throws(ManifestError) -> ObjectKey {
        guard case .blob(let bytes) = next(SQLValue(key?.bytes)) else {
            throw failure("its key is not a blob")
        }
        rename(bytes)
        guard !bytes.isEmpty, bytes.count <= limit else {
            throw failure("its key has \(bytes.count) bytes")
        }
        return ObjectKey(bytes)
    }

    mutating func bytes(_ bytes: [UInt8]?, _ what: String) throws(ManifestError) -> [UInt8] {
        guard case .blob(let bytes) = next(SQLValue(bytes)) else {
            throw failure("\(what) are not a blob")
        }
        return bytes
    }

    mutating func integer(_ number: Int64?, _ what: String) throws(ManifestError) -> Int64 {
        guard case .integer(let number) = next(SQLValue(number)) else {
            throw failure("\(what) is not a number")
        }
        return number
    }

    /// A number that is not negative.
    mutating func count(_ number: Int64?, _ what: String) throws(ManifestError) -> Int64 {
        let number = try integer(number, what)
        guard number >= 0 else { throw failure("\(what) is \(number)") }
        return number
    }

    mutating func bits(_ bits: UInt64?, _ what: String) throws(ManifestError) -> UInt64 {
        UInt64(bitPattern: try integer(bits.map { Int64(bitPattern: $0) }, what))
    }

    mutating func optionalInteger(
        _ number: Int64?,
        _ what: String
    ) throws(ManifestError) -> Int64? {
        switch next(SQLValue(number)) {
        case .null: return nil
        case .integer(let number): return number
        default: throw failure("\(what) is not a number")
        }
    }

    mutating func optionalBits(_ bits: UInt64?, _ what: String) throws(ManifestError) -> UInt64? {
        try optionalInteger(bits.map { Int64(bitPattern: $0) }, what).map { UInt64(bitPattern: $0) }
    }

    mutating func checksum(_ checksum: CRC64?) throws(ManifestError) -> CRC64? {
        try optionalBits(checksum?.value, "its CRC-64").map { CRC64(value: $0) }
    }

    mutating func optionalReal(_ number: Double?, _ what: String) throws(ManifestError) -> Double? {
        switch next(number.map { .real($0) } ?? .null) {
        case .null: return nil
        case .real(let number) where number.isFinite: return number
        default: throw failure("\(what) is not a number")
        }
    }

    mutating func optionalText(
        _ text: String?,
        _ what: String,
        limit: Int
    ) throws(ManifestError) -> String? {
        switch next(SQLValue(text)) {
        case .null: return nil
        case .text(let text):
            guard text.utf8.count <= limit else {
                throw failure("\(what) has \(text.utf8.count) bytes")
            }
            return text
        default: throw failure("\(what) is not a text")
        }
    }

    mutating func text(
        _ text: String?,
        _ what: String,
        limit: Int
    ) throws(ManifestError) -> String {
        guard let text = try optionalText(text, what, limit: limit) else {
            throw failure("\(what) is missing")
        }
        return text
    }

    /// One of the engine's words, in lower-case letters and hyphens.
    mutating func word(_ word: String?, _ what: String) throws(ManifestError) -> String {
        let word = try text(word, what, limit: ManifestLimits.word)
        let isWord =
            !word.isEmpty
            && word.utf8.allSatisfy {
                $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") || $0 == UInt8(ascii: "-")
            }
        guard isWord else { throw failure("\(what) is '\(displayText(word.utf8))'") }
        return word
    }

    mutating func optionalETag(_ etag: ETag?) throws(ManifestError) -> ETag? {
        let text = try optionalText(etag?.text, "its ETag", limit: ManifestLimits.etag)
        return text.map { ETag(stored: $0) }
    }

    mutating func etag(_ etag: ETag?) throws(ManifestError) -> ETag {
        ETag(stored: try text(etag?.text, "its ETag", limit: ManifestLimits.etag))
    }

    mutating func optionalTimestamp(
        _ time: Timestamp?,
        _ what: String
    ) throws(ManifestError) -> Timestamp? {
        let seconds = try optionalInteger(time?.seconds, what)
        let nanoseconds = try optionalInteger(time.map { Int64($0.nanoseconds) }, what)
        switch (seconds, nanoseconds) {
        case (nil, nil): return nil
        case (let seconds?, let nanoseconds?) where (0..<1_000_000_000).contains(nanoseconds):
            return Timestamp(seconds: seconds, nanoseconds: Int32(nanoseconds))
        default: throw failure("\(what) is not a time")
        }
    }

    mutating func timestamp(_ time: Timestamp?, _ what: String) throws(ManifestError) -> Timestamp {
        guard let time = try optionalTimestamp(time, what) else {
            throw failure("\(what) is missing")
        }
        return time
    }

    mutating func optionalIdentity(
        _ identity: FileIdentity?,
        _ what: String
    ) throws(ManifestError) -> FileIdentity? {
        let size = try optionalInteger(identity?.size, "\(what)'s size")
        let modified = try optionalTimestamp(identity?.modified, "\(what)'s modification time")
        let changed = try optionalTimestamp(identity?.changed, "\(what)'s change time")
        let inode = try optionalBits(identity?.inode, "\(what)'s inode")
        let device = try optionalBits(identity?.device, "\(what)'s device")
        switch (size, modified, changed, inode, device) {
        case (nil, nil, nil, nil, nil): return nil
        case (let size?, let modified?, let changed?, let inode?, let device?) where size >= 0:
            return FileIdentity(
                size: size,
                modified: modified,
                changed: changed,
                inode: inode,
                device: device
            )
        default: throw failure("\(what) is incomplete or impossible")
        }
    }

    mutating func identity(
        _ identity: FileIdentity?,
        _ what: String
    ) throws(ManifestError) -> FileIdentity {
        guard let identity = try optionalIdentity(identity, what) else {
            throw failure("\(what) is missing")
        }
        return identity
    }
}

extension ETag {
    /// A tag that was stored without the quotes of the wire, and so keeps any that are its own.
    init(stored text: String) {
        self.init(wire: text.utf8.first == UInt8(ascii: "\"") ? "\"" + text + "\"" : text)
    }
}
