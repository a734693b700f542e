internal import SyncModel

/// A row of a table: what its columns hold, in their order, and which values are possible.
protocol Row: Sendable {
    static var table: Table { get }

    /// Writes `row` or, if it is nil, reads one; both ways alike, so that what is written can be
    /// read back, and what was never written is an error.
    static func code(_ row: Self?, _ columns: inout RowCoder) throws(ManifestError) -> Self
}

extension Row {
    /// What the columns hold, with the row's checksum after them.
    var values: [SQLValue] {
        get throws(ManifestError) {
            var columns = RowCoder(Self.table, reading: nil)
            _ = try Self.code(self, &columns)
            return columns.sealed()
        }
    }
}

/// Goes through the columns of rows in their order: reads those of a statement, or takes those of a
/// row that is to be written.
///
/// One type for both ways, because each row's function would be compiled for each of two.
struct RowCoder {
    private let table: Table
    /// Nil for writing.
    private let statement: PreparedStatement?
    private var column = 0
    private var digest: RowDigest
    private var written: [SQLValue] = []
    /// What names the row in an error, once it is known; made printable only then.
    private var name: [UInt8]?

    init(_ table: Table, reading statement: PreparedStatement?) {
        self.table = table
        self.statement = statement
        digest = RowDigest(table: table)
        if statement == nil { written.reserveCapacity(16) }
    }

    /// Reads the row at which the statement is.
    mutating func read<Value: Row>() throws(ManifestError) -> Value {
        (column, name) = (0, nil)
        digest.restart()
        let row = try Value.code(nil, &self)
        guard statement?.value(at: column) == digest.value else {
            throw failure("its checksum does not match")
        }
        return row
    }

    /// Writes the next column or, without looking at `value`, reads it.
    mutating func next(_ value: @autoclosure () -> SQLValue) -> SQLValue {
        let result: SQLValue
        if let statement {
            result = statement.value(at: column)
            column += 1
        } else {
            result = value()
            written.append(result)
        }
        digest.append(result)
        return result
    }

    /// What was written, with the row's checksum after it.
    fileprivate mutating func sealed() -> [SQLValue] {
        written.append(digest.value)
        return written
    }

    /// Gives the row a name for errors.
    mutating func rename(_ name: [UInt8]) { self.name = name }

    func failure(_ problem: String) -> ManifestError {
        let name = name ?? [UInt8(ascii: "?")]
        guard statement == nil else { return table.failure(name, problem) }
        let text = displayText(name).cut(toBytes: 200)
        return .invalidValue("\(problem), of '\(text)' in the table \(table.rawValue)")
    }
}

extension Table {
    /// What is wrong with a row that was read.
    func failure(_ name: [UInt8], _ problem: String) -> ManifestError {
        .invalidRow(table: rawValue, row: displayText(name).cut(toBytes: 200), problem: problem)
    }
}
