import CSQLite
import SyncModel

@testable import ManifestStore

/// Rows of a manifest that somebody else wrote, checksums and all: each is read as what can have
/// been written, or is an error.
func judgeRows(_ bytes: [UInt8]) throws(FuzzFailure) {
    var input = InputReader(bytes)
    let kind = input.byte()
    let table = tables[Int(kind & 0x0F) % tables.count]
    var values: [SQLValue] = []
    while !input.isEmpty, values.count < 24 { values.append(value(&input)) }
    // Mostly with the checksum that belongs to it: else nothing else would be looked at.
    let row = kind & 0x10 == 0 ? RowDigest.sealing(values, table: table) : values
    let found: [SQLValue]?
    do throws(ManifestError) {
        found = try read(row, as: table)
    } catch {
        return try requirePrintable(error.message, "a refusal")
    }
    guard let found else { return }
    try require(found == Array(row.prefix(found.count)), "\(table) reads \(row) as \(found)")
}

private let tables: [Table] = [
    .entry, .download, .downloadRange, .upload, .uploadPart, .run, .runItem, .plannedDeletion,
    .downloadSeal, .comparison,
]

private func value(_ input: inout InputReader) -> SQLValue {
    let kind = input.byte()
    switch kind % 6 {
    case 0: return .null
    case 1: return .integer(Int64(input.byte()))
    case 2: return .integer(input.number())
    case 3: return .real(Double(bitPattern: UInt64(bitPattern: input.number())))
    case 4: return .text(String(decoding: input.bytes(Int(input.byte())), as: UTF8.self))
    default: return .blob(input.bytes(Int(input.byte())))
    }
}

/// The values as they would be written again; nil where a row is no more than what was judged.
private func read(_ row: [SQLValue], as table: Table) throws(ManifestError) -> [SQLValue]? {
    let database = try MemoryDatabase()
    let statement = try database.statement(of: row)
    switch table {
    case .entry:
        let entry = try EntryRow.read(statement)
        // Of a longer name only the beginning is kept.
        guard entry.storageClass.name.utf8.count < 64 else { return nil }
        return EntryRow.values(of: entry, smallestSearchable: 0).dropLast(2)
    case .download:
        return DownloadRow.values(
            of: try DownloadRow.read(statement, ranges: { _ in [] }, seal: { _ in nil })
        )
    case .downloadRange:
        let range = try DownloadRow.readRange(statement)
        return DownloadRow.values(of: range, key: try key(of: row))
    case .downloadSeal:
        let seal = try DownloadRow.readSeal(statement)
        return DownloadRow.values(of: seal, key: try key(of: row))
    case .upload: return UploadRow.values(of: try UploadRow.read(statement) { _ in [] })
    case .uploadPart:
        let part = try UploadRow.readPart(statement)
        return UploadRow.values(of: part, key: try key(of: row))
    case .run:
        let run = try RunRow.read(statement)
        return run.record == nil ? nil : RunRow.values(of: run)
    case .runItem:
        let item = try RunItemRow.read(statement)
        guard case .integer(let run)? = row.first else { return nil }
        return RunItemRow.values(of: item.item, run: RunID(run), number: item.number)
    case .plannedDeletion:
        let deletion = try DeletionRow.read(statement)
        guard case .integer(let run)? = row.first else { return nil }
        return DeletionRow.values(of: deletion, run: RunID(run))
    case .comparison: return ComparisonRow.values(of: try ComparisonRow.read(statement))
    case .setting: return nil
    }
}

private func key(of row: [SQLValue]) throws(ManifestError) -> ObjectKey {
    guard case .blob(let bytes)? = row.first else { throw .invalidValue("no key") }
    return ObjectKey(bytes)
}

/// An empty database in memory, to have rows of any values.
///
/// Safe, because the handle never leaves this type but for its statements, which go first.
@safe private final class MemoryDatabase {
    private let handle: OpaquePointer

    init() throws(ManifestError) {
        var opened: OpaquePointer?
        let code = unsafe sqlite3_open_v2(
            ":memory:",
            &opened,
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
            nil
        )
        guard code == SQLITE_OK, let opened = unsafe opened else {
            throw .invalidValue("no memory")
        }
        unsafe handle = opened
    }

    deinit { unsafe sqlite3_close_v2(handle) }

    /// A statement that stands at its only row, which has these values.
    func statement(of row: [SQLValue]) throws(ManifestError) -> PreparedStatement {
        let places = repeatElement("?", count: max(1, row.count)).joined(separator: ",")
        let statement = unsafe try PreparedStatement("SELECT " + places, on: handle, path: "")
        try statement.bind(row)
        guard try statement.step() else { throw .invalidValue("no row") }
        return statement
    }
}
