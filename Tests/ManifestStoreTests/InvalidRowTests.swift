import SyncModel
import Testing

@testable import ManifestStore

/// A row that was never written, although its checksum is right, and what is said of it.
struct InvalidRow: Sendable, CustomTestStringConvertible {
    let table: Table
    let query: Query
    let values: [SQLValue]
    let row: String
    let problem: String

    var testDescription: String { "\(table.rawValue): \(problem)" }

    static let key = SQLValue.blob(Array("a\n".utf8))

    static func entry(
        _ problem: String,
        size: SQLValue = .integer(1),
        etag: SQLValue = .text("e"),
        crc64: SQLValue = .null,
        lastModified: [SQLValue] = [.null, .null],
        localNanoseconds: SQLValue = .integer(0),
        key: SQLValue = key,
        changed: SQLValue = .null,
        marks: SQLValue = .integer(1),
        row: String = "a\\n"
    ) -> InvalidRow {
        let values: [SQLValue] =
            [key, size, etag, crc64] + lastModified
            + [
                .text("Standard"), .integer(1), localNanoseconds, .integer(1), changed, marks,
            ]
        return InvalidRow(
            table: .entry,
            query: .upsertEntry,
            values: values,
            row: row,
            problem: problem
        )
    }

    static func range(_ problem: String, _ numbers: [Int64]) -> InvalidRow {
        InvalidRow(
            table: .downloadRange,
            query: .upsertRange,
            values: [key] + numbers.map { .integer($0) } + [.integer(0), .text("boot")],
            row: "a\\n",
            problem: problem
        )
    }

    static let entries = [
        entry("its size is -1", size: .integer(-1)),
        entry("its marks are 64", marks: .integer(64)),
        entry("its marks are -1", marks: .integer(-1)),
        entry("its marks are 32832", marks: .integer(1 << 15 | 64)),
        entry("its file's change time is negative", changed: .integer(-1)),
        entry("its ETag has 1025 bytes", etag: .text(String(repeating: "x", count: 1_025))),
        entry(
            "its file's modification time is not a time",
            localNanoseconds: .integer(1_000_000_000)
        ),
        entry("its file's modification time is not a time", localNanoseconds: .integer(-1)),
        entry(
            "its time of the last modification is not a time",
            lastModified: [.integer(1), .null]
        ),
        entry(
            "its time of the last modification is not a time",
            lastModified: [.integer(1), .integer(Int64.max)]
        ),
        entry("its key has 0 bytes", key: .blob([]), row: ""),
    ]

    static let others = [
        range("its index is -1", [-1, 0, 10, 0]),
        range("its offset is -5", [0, -5, 10, 0]),
        range("a range of 10 bytes has received 11", [0, 0, 10, 11]),
        range(
            "a range has the offset 9223372036854775807 and the length 10",
            [0, Int64.max, 10, 0]
        ),
        range("a range has the index 1048576", [1 << 20, 0, 10, 0]),
        InvalidRow(
            table: .download,
            query: .insertDownload,
            values: [.blob([0x62]), .integer(1), .text("e"), .null, .text("../x"), .integer(1)],
            row: "b",
            problem: "its partial's name is not a file name"
        ),
        InvalidRow(
            table: .uploadPart,
            query: .upsertPart,
            values: [key, .integer(10_001), .integer(1), .text("e"), .null],
            row: "a\\n",
            problem: "its number is 10001"
        ),
        InvalidRow(
            table: .plannedDeletion,
            query: .upsertDeletion,
            values: [.integer(1), .text("middle"), key, .integer(1)]
                + [SQLValue](repeating: .null, count: 8),
            row: "a\\n",
            problem: "its side is 'middle'"
        ),
        InvalidRow(
            table: .plannedDeletion,
            query: .upsertDeletion,
            values: [.integer(1), .text("local"), key, .integer(1), .null, .integer(5)]
                + [SQLValue](repeating: .null, count: 6),
            row: "a\\n",
            problem: "its file is incomplete or impossible"
        ),
        InvalidRow(
            table: .run,
            query: .insertRun,
            values: [.integer(5), .text("sideways"), .integer(1), .integer(0), .text("r")]
                + [SQLValue](repeating: .null, count: 17),
            row: "5",
            problem: "its direction is 'sideways'"
        ),
        InvalidRow(
            table: .run,
            query: .insertRun,
            values: [.integer(5), .text("pull"), .integer(1), .integer(0), .text("r")]
                + [.text("perfect"), .real(1)] + [SQLValue](repeating: .integer(0), count: 13)
                + [.null, .text("d")],
            row: "5",
            problem: "its outcome is 'perfect'"
        ),
        InvalidRow(
            table: .run,
            query: .insertRun,
            values: [.integer(5), .text("pull"), .integer(1), .integer(0), .text("r")]
                + [.text("complete"), .real(1)] + [SQLValue](repeating: .null, count: 15),
            row: "5",
            problem: "its end is incomplete"
        ),
        InvalidRow(
            table: .run,
            query: .insertRun,
            values: [.integer(5), .text("pull"), .integer(1), .integer(0), .text("r")]
                + [.text("complete"), .real(1)] + [SQLValue](repeating: .integer(0), count: 12)
                + [.integer(-1), .null, .null],
            row: "5",
            problem: "a count is -1"
        ),
        InvalidRow(
            table: .downloadSeal,
            query: .upsertSeal,
            values: [key, .integer(-1)] + [SQLValue](repeating: .integer(0), count: 6),
            row: "a\\n",
            problem: "its partial is incomplete or impossible"
        ),
    ]
}

@Suite("Invalid rows")
struct InvalidRowTests {
    /// A closed store with one row of each table that others refer to.
    private func makeDirectory() async throws -> StateDirectory {
        let directory = try StateDirectory()
        let store = try await directory.store()
        _ = try await store.beginRun(
            direction: "pull",
            started: Timestamp(seconds: 1),
            remote: "r"
        )
        let key = ObjectKey("a\n")
        let wide = DownloadCheckpoint(
            key: key,
            size: Int64.max,
            etag: ETag(wire: "e"),
            crc64: nil,
            partialName: "p",
            rangeSize: 1,
            ranges: []
        )
        try await store.beginDownload(wide)
        try await store.beginUpload(Sample.upload(key))
        try await store.checkpointAndClose()
        return directory
    }

    private func readEverything(_ store: ManifestStore) async throws(ManifestError) {
        _ = try await store.entries(in: .all, after: nil, limit: 99)
        // A key without bytes is beyond every cursor.
        _ = try await store.entry("")
        _ = try await store.downloadCheckpoints(after: nil, limit: 99)
        _ = try await store.uploadCheckpoints(after: nil, limit: 99)
        for run in try await store.runs(limit: 99) {
            _ = try await store.items(run: run.id, after: nil, limit: 99)
            for side in ["local", "middle"] {
                let values: [SQLValue] = [
                    .integer(run.id.value), .text(side), .blob([]), .integer(9),
                ]
                try await store.withConnection { connection throws(ManifestError) in
                    try connection.forEachRow(.selectDeletionsAfter, values) {
                        statement throws(ManifestError) in
                        _ = try DeletionRow.read(statement)
                    }
                }
            }
        }
    }

    @Test(arguments: InvalidRow.entries + InvalidRow.others)
    func `a row that was never written is an error that names it`(row: InvalidRow) async throws {
        let directory = try await makeDirectory()
        try directory.edit { connection in
            var values = RowDigest.sealing(row.values, table: row.table)
            if row.table == .entry { values.append(.integer(0)) }
            try connection.run(row.query, values)
        }
        let (store, outcome) = try await directory.open()
        #expect(outcome == .opened)
        let expected = ManifestError.invalidRow(
            table: row.table.rawValue,
            row: row.row,
            problem: row.problem
        )
        await #expect(throws: expected) { try await readEverything(store) }
        // From then on nothing is taken from it, and the next opening sets it aside.
        await #expect(throws: expected) { try await store.entryCount() }
        await #expect(throws: expected) {
            try await store.record([.upsert(Sample.entry("late"))])
        }
        #expect(directory.names.contains("manifest.damaged"))
        let (again, second) = try await directory.open()
        guard case .recreated(_, "an earlier run found it damaged") = second else {
            Issue.record("\(second)")
            return
        }
        try await again.checkpointAndClose()
        #expect(!directory.names.contains("manifest.damaged"))
    }

    @Test func `a changed value does not match its row's checksum`() async throws {
        let statements = [
            "UPDATE download SET etag = 'f'", "UPDATE download SET partial_name = 'q'",
            "UPDATE upload SET token = 'other'", "UPDATE upload SET source_inode = 4",
            "UPDATE upload SET upload_id = NULL", "UPDATE run SET remote = 'oss://other/'",
            "UPDATE download SET crc64 = 0", "UPDATE run SET row_check = row_check + 1",
        ]
        for statement in statements {
            let directory = try await makeDirectory()
            try directory.edit { try $0.execute(statement) }
            let store = try await directory.store()
            let error = await #expect(throws: ManifestError.self) {
                try await readEverything(store)
            }
            guard case .invalidRow(_, _, "its checksum does not match") = error else {
                Issue.record("\(statement): \(String(describing: error))")
                continue
            }
        }
    }

    @Test func `no two rows have one checksum by the way their values meet`() {
        let rows: [[SQLValue]] = [
            [.text("ab"), .text("c")], [.text("a"), .text("bc")], [.blob([0x61]), .text("bc")],
            [.text("abc")], [.integer(0)], [.null], [.real(0)], [.integer(0), .null], [],
        ]
        let checks = Set(rows.map { RowDigest.sealing($0, table: .entry).last })
        #expect(checks.count == rows.count)
        #expect(
            RowDigest.sealing([.null], table: .entry).last
                != RowDigest.sealing([.null], table: .setting).last
        )
    }
}
