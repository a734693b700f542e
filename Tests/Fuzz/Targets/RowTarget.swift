import CSQLite
import SyncModel

@testable import ManifestStore

/// Rows of a manifest that somebody else wrote, checksums and all: each is read as what can have
/// been written, or is an error.
func judgeRows(_ bytes: [UInt8]) throws(FuzzFailure) {
    var input = InputReader(bytes)
    let kind = input.byte()
    let table = Table.allCases[Int(kind & 0x0F) % Table.allCases.count]
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
    var reader = RowCoder(table, reading: try database.statement(of: row))
    switch table {
    case .entry:
        let entry: ManifestEntry = try reader.read()
        // Of a longer name only the beginning is kept.
        return entry.storageClass.name.utf8.count < 64 ? try entry.values : nil
    case .sentParts: return try (reader.read() as SentParts).values
    case .comparison: return try (reader.read() as FetchedContent).values
    case .download: return try (reader.read() as DownloadCheckpoint).values
    case .downloadRange: return try (reader.read() as RangeRow).values
    case .downloadSeal: return try (reader.read() as SealRow).values
    case .upload: return try (reader.read() as UploadCheckpoint).values
    case .uploadPart: return try (reader.read() as PartRow).values
    case .run:
        let run: StoredRun = try reader.read()
        return run.record == nil ? nil : try run.values
    case .runItem: return try (reader.read() as RunItemRow).values
    case .plannedDeletion: return try (reader.read() as DeletionRow).values
    case .setting: return try (reader.read() as SettingRow).values
    }
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

extension RowDigest {
    /// The values with their checksum after them.
    fileprivate static func sealing(_ values: [SQLValue], table: Table) -> [SQLValue] {
        var digest = RowDigest(table: table)
        for value in values { digest.append(value) }
        return values + [digest.value]
    }
}
