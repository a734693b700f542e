internal import SyncModel

/// Reads the columns of one row in their order; whatever was never written is an error that names
/// the row, and never becomes a default.
struct RowReader {
    private let table: Table
    private let statement: PreparedStatement
    private var column = 0
    private var digest: RowDigest
    /// What names the row in an error, once it was read; made printable only then.
    private var name: [UInt8]?

    init(_ statement: PreparedStatement, table: Table) {
        self.statement = statement
        self.table = table
        digest = RowDigest(table: table)
    }

    func failure(_ problem: String) -> ManifestError {
        let name = displayText(name ?? [UInt8(ascii: "?")]).cut(toBytes: 200)
        return .invalidRow(table: table.rawValue, row: name, problem: problem)
    }

    mutating func rename(_ name: String) { self.name = [UInt8](name.utf8) }

    private mutating func next() -> SQLValue {
        let value = statement.value(at: column)
        column += 1
        digest.append(value)
        return value
    }

    /// To be called after the last column but the checksum.
    func finish() throws(ManifestError) {
        guard statement.value(at: column) == digest.value else {
            throw failure("its checksum does not match")
        }
    }

    mutating func key(limit: Int) throws(ManifestError) -> ObjectKey {
        guard case .blob(let bytes) = next() else { throw failure("its key is not a blob") }
        let key = ObjectKey(bytes)
        name = bytes
        guard !bytes.isEmpty, bytes.count <= limit else {
            throw failure("its key has \(bytes.count) bytes")
        }
        return key
    }

    mutating func integer(_ what: String) throws(ManifestError) -> Int64 {
        guard case .integer(let number) = next() else { throw failure("\(what) is not a number") }
        return number
    }

    /// A number that is not negative.
    mutating func count(_ what: String) throws(ManifestError) -> Int64 {
        let number = try integer(what)
        guard number >= 0 else { throw failure("\(what) is \(number)") }
        return number
    }

    mutating func bits(_ what: String) throws(ManifestError) -> UInt64 {
        UInt64(bitPattern: try integer(what))
    }

    mutating func optionalInteger(_ what: String) throws(ManifestError) -> Int64? {
        switch next() {
        case .null: return nil
        case .integer(let number): return number
        default: throw failure("\(what) is not a number")
        }
    }

    mutating func checksum(_ what: String) throws(ManifestError) -> CRC64? {
        try optionalInteger(what).map { CRC64(value: UInt64(bitPattern: $0)) }
    }

    mutating func optionalReal(_ what: String) throws(ManifestError) -> Double? {
        switch next() {
        case .null: return nil
        case .real(let number) where number.isFinite: return number
        default: throw failure("\(what) is not a number")
        }
    }

    mutating func optionalText(_ what: String, limit: Int) throws(ManifestError) -> String? {
        switch next() {
        case .null: return nil
        case .text(let text):
            guard text.utf8.count <= limit else {
                throw failure("\(what) has \(text.utf8.count) bytes")
            }
            return text
        default: throw failure("\(what) is not a text")
        }
    }

    mutating func text(_ what: String, limit: Int) throws(ManifestError) -> String {
        guard let text = try optionalText(what, limit: limit) else {
            throw failure("\(what) is missing")
        }
        return text
    }

    mutating func optionalTimestamp(_ what: String) throws(ManifestError) -> Timestamp? {
        let seconds = try optionalInteger(what)
        let nanoseconds = try optionalInteger(what)
        switch (seconds, nanoseconds) {
        case (nil, nil): return nil
        case (let seconds?, let nanoseconds?) where (0..<1_000_000_000).contains(nanoseconds):
            return Timestamp(seconds: seconds, nanoseconds: Int32(nanoseconds))
        default: throw failure("\(what) is not a time")
        }
    }

    mutating func timestamp(_ what: String) throws(ManifestError) -> Timestamp {
        guard let time = try optionalTimestamp(what) else { throw failure("\(what) is missing") }
        return time
    }

    mutating func optionalIdentity(_ what: String) throws(ManifestError) -> FileIdentity? {
        let size = try optionalInteger("\(what)'s size")
        let modified = try optionalTimestamp("\(what)'s modification time")
        let changed = try optionalTimestamp("\(what)'s change time")
        let inode = try optionalInteger("\(what)'s inode")
        let device = try optionalInteger("\(what)'s device")
        switch (size, modified, changed, inode, device) {
        case (nil, nil, nil, nil, nil): return nil
        case (let size?, let modified?, let changed?, let inode?, let device?) where size >= 0:
            return FileIdentity(
                size: size,
                modified: modified,
                changed: changed,
                inode: UInt64(bitPattern: inode),
                device: UInt64(bitPattern: device)
            )
        default: throw failure("\(what) is incomplete or impossible")
        }
    }

    mutating func identity(_ what: String) throws(ManifestError) -> FileIdentity {
        guard let identity = try optionalIdentity(what) else {
            throw failure("\(what) is missing")
        }
        return identity
    }
}
