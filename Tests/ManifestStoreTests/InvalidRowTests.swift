import SyncModel
import Testing

@testable import ManifestStore

/// A row that was never written, although its checksum is right, and what is said of it.
struct InvalidRow: Sendable, CustomTestStringConvertible {
    let table: Table
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
            values: values,
            row: row,
            problem: problem
        )
    }

    static func range(_ problem: String, _ numbers: [Int64]) -> InvalidRow {
        InvalidRow(
            table: .downloadRange,
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
            values: [.blob([0x62]), .integer(1), .text("e"), .null, .text("../x"), .integer(1)],
            row: "b",
            problem: "its partial's name is not a file name"
        ),
        InvalidRow(
            table: .uploadPart,
            values: [key, .integer(10_001), .integer(1), .text("e"), .null],
            row: "a\\n",
            problem: "its number is 10001"
        ),
        InvalidRow(
            table: .plannedDeletion,
            values: [.integer(1), .text("middle"), key, .integer(1)]
                + [SQLValue](repeating: .null, count: 8),
            row: "a\\n",
            problem: "its side is 'middle'"
        ),
        InvalidRow(
            table: .plannedDeletion,
            values: [.integer(1), .text("local"), key, .integer(1), .null, .integer(5)]
                + [SQLValue](repeating: .null, count: 6),
            row: "a\\n",
            problem: "its file is incomplete or impossible"
        ),
        InvalidRow(
            table: .run,
            values: [.integer(5), .text("sideways"), .integer(1), .integer(0), .text("r")]
                + [SQLValue](repeating: .null, count: 18),
            row: "5",
            problem: "its direction is 'sideways'"
        ),
        InvalidRow(
            table: .run,
            values: [.integer(5), .text("pull"), .integer(1), .integer(0), .text("r")]
                + [.text("perfect"), .real(1)] + [SQLValue](repeating: .integer(0), count: 14)
                + [.null, .text("d")],
            row: "5",
            problem: "its outcome is 'perfect'"
        ),
        InvalidRow(
            table: .run,
            values: [.integer(5), .text("pull"), .integer(1), .integer(0), .text("r")]
                + [.text("complete"), .real(1)] + [SQLValue](repeating: .null, count: 16),
            row: "5",
            problem: "its end is incomplete"
        ),
        InvalidRow(
            table: .run,
            values: [.integer(5), .text("pull"), .integer(1), .integer(0), .text("r")]
                + [.text("complete"), .real(1)] + [SQLValue](repeating: .integer(0), count: 13)
                + [.integer(-1), .null, .null],
            row: "5",
            problem: "a count is -1"
        ),
        InvalidRow(
            table: .downloadSeal,
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
        try await store.record(.beginDownload(wide))
        try await store.record(.beginUpload(Sample.upload(key)))
        try await store.checkpointAndClose()
        return directory
    }

    private func readEverything(_ store: ManifestStore) async throws(ManifestError) {
        _ = try await store.rows(.entries(in: .all), limit: 99)
        // A key without bytes is beyond every cursor.
        _ = try await store.entry("")
        _ = try await store.setting("s")
        _ = try await store.first(.fetchedContent("a"))
        _ = try await store.first(.sentParts("a"))
        _ = try await store.rows(.downloads, limit: 99)
        _ = try await store.rows(.uploads, limit: 99)
        for run in try await store.rows(.runs, limit: 99) {
            _ = try await store.rows(.items(run: run.id), limit: 99)
            for side in ["local", "middle"] {
                let values: [SQLValue] = [
                    .integer(run.id.value), .text(side), .blob([]), .integer(9),
                ]
                try await store.withConnection { connection throws(ManifestError) in
                    let _: [DeletionRow] = try connection.rows(.selectDeletionsFrom, values)
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
            try connection.upsert(values, into: row.table)
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

    /// A closed store with a row of each table.
    private func makeFullDirectory() async throws -> StateDirectory {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let started = Timestamp(seconds: 1)
        let run = try await store.beginRun(direction: "pull", started: started, remote: "r")
        try await store.finishRun(
            run,
            RunRecord(outcome: .failed, seconds: 1, counts: Sample.counts, message: nil)
        )
        try await store.setSetting("s", "v")
        let parts = SentParts(
            key: "a",
            etag: ETag(wire: "e"),
            size: 9,
            partSize: 10,
            contents: [UInt8](repeating: 7, count: 24)
        )
        try await store.record([
            .upsert(Sample.entry("a")), .keepParts(try #require(parts)),
            .beginDownload(Sample.download("a")),
            .sealDownload("a", Sample.source, partialName: "p1"),
            .beginUpload(Sample.upload("a", parts: [Sample.part(1)])),
            .note(FetchedContent(key: "a", size: 1, etag: ETag(wire: "e"), crc64: CRC64())),
            .planDeletion(
                PlannedDeletion(key: "a", side: .local, size: 1, etag: nil, identity: nil),
                run
            ),
            .addItems([RunItem(key: "a", action: "skip", state: "failed", message: "m")], run),
        ])
        try await store.checkpointAndClose()
        return directory
    }

    @Test(arguments: Table.allCases)
    func `a changed value of any column does not match its row's checksum`(
        table: Table
    ) async throws {
        for column in table.columns.ofRow where !table.columns.key.contains(column) {
            let directory = try await makeFullDirectory()
            try directory.edit { connection in
                let changed = """
                    CASE typeof(\(column)) WHEN 'text' THEN \(column) || 'x' WHEN 'null' THEN 0
                    WHEN 'blob' THEN CAST(\(column) || 'x' AS BLOB)
                    ELSE \(column) + 1 END
                    """
                try connection.execute("UPDATE \(table.rawValue) SET \(column) = \(changed)")
                #expect(connection.changeCount > 0, "\(table) has no row")
            }
            let store = try await directory.store()
            let error = await #expect(throws: ManifestError.self, "\(table), \(column)") {
                try await readEverything(store)
            }
            guard case .invalidRow(table.rawValue, _, _) = error else {
                Issue.record("\(table), \(column): \(String(describing: error))")
                continue
            }
        }
    }

    @Test func `damaged parts of an object are none, and damage nothing else`() async throws {
        let directory = try await makeFullDirectory()
        try directory.edit { connection in
            try connection.execute("UPDATE sent_parts SET contents = zeroblob(length(contents))")
        }
        let store = try await directory.store()
        #expect(try await store.sentParts(of: "a") == nil)
        #expect(try await store.entry("a") != nil)
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
