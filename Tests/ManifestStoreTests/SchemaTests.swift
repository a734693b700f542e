import SyncModel
import Testing

@testable import ManifestStore

@Suite("Schema and statements")
struct SchemaTests {
    private func connection() throws -> Connection {
        let connection = try Connection(path: ":memory:", mode: .inMemory)
        try Schema.current.migrate(connection, from: 0)
        return connection
    }

    @Test func `no statement reads a whole table but those that count, list runs or clear`() throws
    {
        let connection = try connection()
        let whole: [Query: String] = [
            .countEntries: "SCAN entry",
            .selectTotals: "SCAN entry",
            .countSample: "SCAN entry USING COVERING INDEX entry_sample",
            .selectRuns: "SCAN run",
            // Once for new files that look like a damaged one.
            .selectEntriesLike: "SCAN entry",
            // Whether there is one: the first is enough.
            .selectAnyComparison: "SCAN comparison",
            // For the page of a run.
            .selectConflictCopies: "SCAN run_item",
            // Another remote: the whole of it goes.
            .deleteSoundEntries: "SCAN entry",
            .deleteAllDownloads: "SCAN download",
            .deleteAllUploads: "SCAN upload",
            // The largest key of a table is one step.
            .selectLastRunID: "SEARCH run",
        ]
        for query in Query.allCases {
            let rows = try connection.execute("EXPLAIN QUERY PLAN " + query.text)
            for row in rows {
                guard case .text(let step)? = row.last else { continue }
                #expect(!step.contains("TEMP B-TREE"), "\(query): \(step)")
                if let expected = whole[query], step.hasPrefix(expected.prefix(4)) {
                    #expect(step.contains(expected), "\(query): \(step)")
                } else {
                    #expect(!step.contains("SCAN"), "\(query): \(step)")
                }
            }
        }
    }

    @Test func `lookups by content use their indexes`() throws {
        let connection = try connection()
        let indexes: [Query: String] = [
            .selectEntriesBySize: "entry_by_size (size_bytes=?)",
            .selectEntriesByETag: "entry_by_size (size_bytes=? AND etag=?)",
            .selectEntriesByInode: "entry_by_inode (inode=? AND size_bytes=?)",
            .selectDamagedEntries: "entry_damaged (key>?)",
            .selectDamagedEntriesLike: "entry_damaged_by_size (size_bytes=?)",
            .selectSampleKeyAfter: "COVERING INDEX entry_sample (key>?)",
        ]
        for (query, index) in indexes {
            let rows = try connection.execute("EXPLAIN QUERY PLAN " + query.text)
            guard case .text(let step)? = rows.first?.last else {
                Issue.record("\(query) has no plan")
                continue
            }
            #expect(step.contains(index), "\(query): \(step)")
        }
    }

    @Test func `SQLite makes the objects that a sound manifest must have`() throws {
        let found = try connection().execute(Schema.readObjects)
        #expect(try Schema.current.objects(ofVersion: Schema.current.version) == found)
    }

    @Test func `the application id is the one that is compared`() throws {
        let connection = try connection()
        try connection.execute(Schema.writeApplicationID)
        let found = try connection.execute(Schema.readApplicationID)
        #expect(found == [[.integer(Schema.applicationID)]])
    }

    @Test func `a hostile schema can't run anything`() throws {
        let connection = try connection()
        try connection.execute("CREATE VIEW v AS SELECT 1")
        #expect(throws: ManifestError.self) { try connection.execute("SELECT * FROM v") }
        #expect(throws: ManifestError.self) {
            try connection.execute("ATTACH DATABASE ':memory:' AS other")
        }
        try connection.execute("PRAGMA writable_schema = ON")
        #expect(throws: ManifestError.self) {
            try connection.execute("DELETE FROM sqlite_schema")
        }
    }
}

@Suite("Migrations")
struct MigrationTests {
    private static let statements = [
        "CREATE TABLE extra (x INTEGER NOT NULL) STRICT",
        "ALTER TABLE setting ADD COLUMN note TEXT",
        "INSERT INTO extra (x) SELECT count(*) FROM entry",
    ]

    /// The current schema and, as the next versions, `steps`.
    private func schema(_ steps: [[String]]) -> Schema {
        Schema(migrations: Schema.current.migrations + steps.map { .init(statements: $0) })
    }

    private func makeDirectory() async throws -> StateDirectory {
        let directory = try StateDirectory()
        let store = try await directory.store()
        try await store.record([.upsert(Sample.entry("a")), .upsert(Sample.entry("b"))])
        try await store.checkpointAndClose()
        return directory
    }

    @Test func `an older manifest becomes the current one and keeps its rows`() async throws {
        let directory = try await makeDirectory()
        let newer = schema([Array(Self.statements[..<2]), Array(Self.statements[2...])])
        let (store, outcome) = try await directory.open(schema: newer)
        #expect(outcome == .opened)
        #expect(try await store.entryCount() == 2)
        let found = try await store.withConnection { connection throws(ManifestError) in
            try connection.execute("SELECT x FROM extra")
                + connection.execute(Schema.readVersion)
        }
        #expect(found == [[.integer(2)], [.integer(Schema.current.version + 2)]])
        try await store.checkpointAndClose()
        #expect(try await directory.open(schema: newer).outcome == .opened)
    }

    @Test func `a new manifest runs all migrations`() async throws {
        let directory = try StateDirectory()
        let newer = schema([Self.statements])
        #expect(try await directory.open(schema: newer).outcome == .created)
    }

    @Test(arguments: 0...3)
    func `a migration that fails at any step leaves the old version`(step: Int) async throws {
        let directory = try await makeDirectory()
        var statements = Self.statements
        statements.insert("INSERT INTO missing VALUES (1)", at: step)
        let error = await #expect(throws: ManifestError.self) {
            _ = try await directory.open(schema: schema([[], statements]))
        }
        #expect(error?.isDamage == false)
        let (store, outcome) = try await directory.open()
        #expect(outcome == .opened)
        #expect(try await store.entryCount() == 2)
    }

    @Test func `an older manifest with other tables is not migrated`() async throws {
        let directory = try await makeDirectory()
        try directory.edit { try $0.execute("ALTER TABLE setting ADD COLUMN stray TEXT") }
        let (_, outcome) = try await directory.open(schema: schema([Self.statements]))
        guard case .recreated(_, let reason) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(reason == "its tables are not those of version \(Schema.current.version)")
    }
}
