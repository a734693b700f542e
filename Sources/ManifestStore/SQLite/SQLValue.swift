/// One value as SQLite stores it.
enum SQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    init(_ integer: Int64?) {
        self = integer.map { .integer($0) } ?? .null
    }

    init(_ text: String?) {
        self = text.map { .text($0) } ?? .null
    }

    init(_ bytes: [UInt8]?) {
        self = bytes.map { .blob($0) } ?? .null
    }

    init(bits: UInt64) { self = .integer(Int64(bitPattern: bits)) }
}
