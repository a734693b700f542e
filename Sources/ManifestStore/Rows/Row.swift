internal import SyncModel

/// A row of a table: what its columns hold, in their order, and which values are possible.
protocol Row: Sendable {
    static var table: Table { get }

    /// Writes `row` or, if it is nil, reads one; both ways alike, so that what is written can be
    /// read back, and what was never written is an error.
    static func code(_ row: Self?, _ columns: inout some RowCoder) throws(ManifestError) -> Self
}

extension Row {
    /// What the columns hold, with the row's checksum after them.
    var values: [SQLValue] {
        get throws(ManifestError) {
            var writer = RowWriter(table: Self.table)
            _ = try Self.code(self, &writer)
            return RowDigest.sealing(writer.values, table: Self.table)
        }
    }
}

/// Goes through the columns of one row in their order.
protocol RowCoder {
    /// Writes the next column or, without looking at `value`, reads it.
    mutating func next(_ value: @autoclosure () -> SQLValue) -> SQLValue
    /// Gives the row a name for errors.
    mutating func rename(_ name: [UInt8])
    func failure(_ problem: String) -> ManifestError
}

/// Takes the values of one row that is to be written.
struct RowWriter: RowCoder {
    private let table: Table
    private var name: [UInt8] = []
    private(set) var values: [SQLValue] = []

    init(table: Table) {
        self.table = table
        values.reserveCapacity(16)
    }

    mutating func next(_ value: @autoclosure () -> SQLValue) -> SQLValue {
        let value = value()
        values.append(value)
        return value
    }

    mutating func rename(_ name: [UInt8]) { self.name = name }

    func failure(_ problem: String) -> ManifestError {
        let name = displayText(name).cut(toBytes: 200)
        return .invalidValue("\(problem), of '\(name)' in the table \(table.rawValue)")
    }
}

/// Reads rows, one after the other; whatever was never written is an error that names the row, and
/// never becomes a default.
struct RowReader: RowCoder {
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

    /// Reads the row at which the statement is.
    mutating func read<Value: Row>() throws(ManifestError) -> Value {
        (column, name) = (0, nil)
        digest.restart()
        let row = try Value.code(nil, &self)
        guard statement.value(at: column) == digest.value else {
            throw failure("its checksum does not match")
        }
        return row
    }

    mutating func next(_ value: @autoclosure () -> SQLValue) -> SQLValue {
        let value = statement.value(at: column)
        column += 1
        digest.append(value)
        return value
    }

    mutating func rename(_ name: [UInt8]) { self.name = name }

    func failure(_ problem: String) -> ManifestError {
        table.failure(name ?? [UInt8(ascii: "?")], problem)
    }
}

extension Table {
    /// What is wrong with a row that was read.
    func failure(_ name: [UInt8], _ problem: String) -> ManifestError {
        .invalidRow(table: rawValue, row: displayText(name).cut(toBytes: 200), problem: problem)
    }
}
