internal import SyncModel

/// The checksum of one row, which SQLite does not have: a flipped bit in a text or a number is
/// still a sound page.
///
/// CRC-64 over the table's name and the values in the order of the columns, each with its kind
/// and, where it has one, its length, so that no two rows are written alike.
struct RowDigest {
    private var bytes: [UInt8]
    /// Bytes of the table's name.
    private var start = 0

    init(table: Table) {
        bytes = []
        bytes.reserveCapacity(256)
        append(length: table.rawValue.utf8.count)
        bytes.append(contentsOf: table.rawValue.utf8)
        start = bytes.count
    }

    /// Forgets the values, for the next row.
    mutating func restart() { bytes.removeLast(bytes.count - start) }

    mutating func append(_ value: SQLValue) {
        switch value {
        case .null:
            bytes.append(0)
        case .integer(let number):
            bytes.append(1)
            append(UInt64(bitPattern: number))
        case .real(let number):
            bytes.append(2)
            append(number.bitPattern)
        case .text(let text):
            bytes.append(3)
            append(length: text.utf8.count)
            bytes.append(contentsOf: text.utf8)
        case .blob(let blob):
            bytes.append(4)
            append(length: blob.count)
            bytes.append(contentsOf: blob)
        }
    }

    private mutating func append(length: Int) { append(UInt64(length)) }

    /// The lowest byte first; one by one, which the compiler makes one store of.
    private mutating func append(_ number: UInt64) {
        var rest = number
        for _ in 0..<8 {
            bytes.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    /// What the column `row_check` holds.
    var value: SQLValue { .integer(Int64(bitPattern: CRC64(of: bytes).value)) }
}
