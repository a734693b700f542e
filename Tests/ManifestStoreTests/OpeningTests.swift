import SyncModel
import Testing

@testable import ManifestStore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite("Opening")
struct OpeningTests {
    private func fill(_ store: ManifestStore) async throws {
        try await store.record([.upsert(Sample.entry("a")), .upsert(Sample.entry("b"))])
    }

    @Test func `a missing manifest is made, private to its owner, and opened the next time`()
        async throws
    {
        let directory = try StateDirectory()
        let (store, outcome) = try await directory.open()
        #expect(outcome == .created)
        try await fill(store)
        try await store.checkpointAndClose()
        #expect(directory.names == ["manifest.db"])
        var status = stat()
        #expect(unsafe lstat(directory.databasePath, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        let again = try await directory.open()
        #expect(again.outcome == .opened)
        #expect(try await again.store.entryCount() == 2)
    }

    @Test func `a path that looks like a URI is only a path`() async throws {
        let directory = try StateDirectory()
        let inner = directory.path + "/file:a?mode=memory#%41"
        #expect(unsafe mkdir(inner, 0o700) == 0)
        defer {
            unsafe unlink(inner + "/manifest.db")
            unsafe rmdir(inner)
        }
        for outcome in [OpenOutcome.created, .opened] {
            let opened = try await ManifestStore.open(
                directory: inner,
                now: Timestamp(seconds: 0),
                usesWriteAheadLog: true,
                threads: .system,
                smallestSearchable: 0
            )
            #expect(opened.outcome == outcome)
            try await fill(opened.store)
            try await opened.store.checkpointAndClose()
        }
        var status = stat()
        #expect(unsafe lstat(inner + "/manifest.db", &status) == 0)
    }

    @Test func `what was committed before a kill is there afterwards`() async throws {
        let directory = try StateDirectory()
        let killed = try StateDirectory()
        let store = try await directory.store()
        try await fill(store)
        // The files as a killed process leaves them, with everything still in the log.
        for name in ["manifest.db", "manifest.db-wal"] {
            try killed.write(try directory.read(name), to: name)
        }
        let opened = try await killed.open()
        #expect(opened.outcome == .opened)
        #expect(try await opened.store.entryCount() == 2)
    }

    @Test func `a creation that was interrupted is begun again`() async throws {
        let directory = try StateDirectory()
        try directory.write([1, 2, 3], to: "manifest.new")
        try directory.write([1, 2, 3], to: "manifest.new-journal")
        let (store, outcome) = try await directory.open()
        #expect(outcome == .created)
        try await store.checkpointAndClose()
        #expect(directory.names == ["manifest.db"])
    }

    @Test func `without a log a rollback journal serves, and the modes can change`() async throws {
        let directory = try StateDirectory()
        for writeAheadLog in [false, true, false] {
            let (store, _) = try await directory.open(writeAheadLog: writeAheadLog)
            try await fill(store)
            #expect(directory.names.contains("manifest.db-wal") == writeAheadLog)
            // 1 is NORMAL, 2 is FULL: without a log only FULL is safe.
            let level = try await store.withConnection { connection throws(ManifestError) in
                try connection.execute(Schema.readSynchronous)
            }
            #expect(level == [[.integer(writeAheadLog ? 1 : 2)]])
            try await store.checkpointAndClose()
        }
        // The header says which journal the next reader must expect.
        #expect(try directory.read("manifest.db")[18...19] == [1, 1])
    }

    @Test(arguments: [false, true])
    func `waiting for the disk once changes nothing else`(writeAheadLog: Bool) async throws {
        let directory = try StateDirectory()
        let store = try await directory.open(writeAheadLog: writeAheadLog).store
        let before = await store.transactionCount
        try await store.makeDurable()
        #expect(await store.transactionCount == before + 1)
        let found = try await store.withConnection { connection throws(ManifestError) in
            try connection.execute(Schema.readSynchronous)
        }
        #expect(found == [[.integer(writeAheadLog ? 1 : 2)]])
    }

    @Test func `closing does not wait for a reader, and loses nothing`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        try await fill(store)
        let reader = try Connection(path: directory.databasePath, mode: .readWrite)
        try reader.run(.begin)
        _ = try reader.firstValue(.countEntries)
        try await store.checkpointAndClose()
        reader.rollBack()
        #expect(try await directory.store().entryCount() == 2)
    }

    @Test func `another process can read while a run writes`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        try await fill(store)
        let (reader, outcome) = try await directory.open()
        #expect(outcome == .opened)
        #expect(try await reader.entryCount() == 2)
        try await store.record([.upsert(Sample.entry("c"))])
        #expect(try await reader.entryCount() == 3)
        try await reader.checkpointAndClose()
        try await store.record([.upsert(Sample.entry("d"))])
        try await store.checkpointAndClose()
        #expect(try await directory.store().entryCount() == 4)
    }

    @Test func `a missing directory is an error and not damage`() async throws {
        let directory = try StateDirectory()
        let error = await #expect(throws: ManifestError.self) {
            _ = try await ManifestStore.open(
                directory: directory.path + "/missing",
                now: Timestamp(seconds: 0),
                usesWriteAheadLog: true,
                threads: .system,
                smallestSearchable: 0
            )
        }
        #expect(error?.isDamage == false)
        #expect(error?.message.contains("/missing/manifest.new': No such file") == true)
    }

    @Test func `a newer manifest is refused and left as it was`() async throws {
        let directory = try StateDirectory()
        let newer = Schema(
            migrations: Schema.current.migrations + [
                .init(statements: ["CREATE TABLE later (x INTEGER) STRICT"])
            ]
        )
        let (store, _) = try await directory.open(schema: newer)
        try await fill(store)
        // With a log beside it, too: nothing of it may be moved.
        let killed = try StateDirectory()
        let names = ["manifest.db", "manifest.db-wal"]
        for name in names { try killed.write(try directory.read(name), to: name) }
        let before = try names.map { try killed.read($0) }
        for writeAheadLog in [true, false] {
            await #expect(
                throws: ManifestError.newerSchema(
                    path: killed.databasePath,
                    found: Schema.current.version + 1,
                    supported: Schema.current.version
                )
            ) {
                _ = try await killed.open(writeAheadLog: writeAheadLog)
            }
            #expect(try names.map { try killed.read($0) } == before)
        }
        #expect(try await killed.open(schema: newer).store.entryCount() == 2)
    }
}

@Suite("Setting aside")
struct SettingAsideTests {
    private static let aside = "manifest.corrupt-20260102T030405Z"

    /// Opens, and says why the old file was set aside; nil if it was not.
    private func reason(_ directory: StateDirectory) async throws -> String? {
        let (store, outcome) = try await directory.open()
        defer { withExtendedLifetime(store) {} }
        guard case .recreated(let name, let reason) = outcome else { return nil }
        #expect(name == Self.aside)
        #expect(directory.names.contains(Self.aside))
        #expect(try await store.entryCount() == 0)
        try await store.record([.upsert(Sample.entry("new"))])
        try await store.checkpointAndClose()
        let (again, second) = try await directory.open()
        #expect(second == .opened)
        #expect(try await again.entryCount() == 1)
        return reason
    }

    private func makeStore(_ directory: StateDirectory, count: Int = 200) async throws {
        let store = try await directory.store()
        try await store.record(
            (0..<count).map { .upsert(Sample.entry(ObjectKey("directory/key-\($0)"))) }
        )
        try await store.checkpointAndClose()
    }

    @Test func `an empty file is no first run`() async throws {
        let directory = try StateDirectory()
        try directory.write([], to: "manifest.db")
        #expect(try await reason(directory) == "it is empty")
        #expect(try directory.read(Self.aside) == [])
    }

    @Test func `a directory and a link in its place are no manifest`() async throws {
        let directory = try StateDirectory()
        #expect(unsafe mkdir(directory.databasePath, 0o700) == 0)
        #expect(try await reason(directory) == "it is not a regular file")

        let linked = try StateDirectory()
        try await makeStore(linked)
        try linked.write(try linked.read("manifest.db"), to: "elsewhere")
        let content = try linked.read("elsewhere")
        unsafe unlink(linked.databasePath)
        #expect(unsafe symlink("elsewhere", linked.databasePath) == 0)
        #expect(try await reason(linked) == "it is not a regular file")
        #expect(try linked.read("elsewhere") == content)
    }

    @Test func `a file that is no database is kept under another name`() async throws {
        let directory = try StateDirectory()
        let text = [UInt8](repeating: 0x61, count: 5_000)
        try directory.write(text, to: "manifest.db")
        let reason = try await reason(directory)
        #expect(reason?.contains("file is not a database") == true)
        #expect(try directory.read(Self.aside) == text)
    }

    @Test func `another program's database is kept under another name`() async throws {
        let directory = try StateDirectory()
        try directory.write([], to: "manifest.db")
        try directory.edit { try $0.execute("CREATE TABLE entry (key TEXT)") }
        #expect(try await reason(directory) == "it is not a manifest")
    }

    @Test func `tables that are not ours are found`() async throws {
        for statement in [
            "DROP INDEX entry_by_size", "CREATE TABLE more (x INTEGER)",
            "CREATE VIEW entries AS SELECT * FROM entry", "PRAGMA user_version = 0",
            """
            CREATE TRIGGER t AFTER INSERT ON entry BEGIN DELETE FROM setting; END
            """,
        ] {
            let directory = try StateDirectory()
            try await makeStore(directory)
            try directory.edit { try $0.execute(statement) }
            let reason = try await reason(directory)
            #expect(
                reason == "its tables are not those of version \(Schema.current.version)"
                    || reason == "its version is 0"
            )
        }
    }

    @Test func `a file cut short anywhere is found`() async throws {
        let whole = try StateDirectory()
        try await makeStore(whole)
        let bytes = try whole.read("manifest.db")
        for length in stride(from: 1, to: bytes.count, by: 7_001) {
            let directory = try StateDirectory()
            try directory.write(Array(bytes[..<length]), to: "manifest.db")
            #expect(try await reason(directory) != nil, "cut at \(length)")
            #expect(try directory.read(Self.aside) == Array(bytes[..<length]))
        }
    }

    @Test func `a log that another manifest has left is not applied`() async throws {
        let directory = try StateDirectory()
        try await makeStore(directory, count: 3)
        let other = try StateDirectory()
        let store = try await other.store()
        try await store.record([.upsert(Sample.entry("theirs"))])
        try directory.write(try other.read("manifest.db-wal"), to: "manifest.db-wal")
        let reason = try await reason(directory)
        #expect(reason == "the log beside it belongs to another database")
        #expect(directory.names.contains(Self.aside + "-wal"))
    }

    @Test func `a log without its manifest is set aside and not applied to a new one`()
        async throws
    {
        let directory = try StateDirectory()
        let other = try StateDirectory()
        let store = try await other.store()
        try await store.record([.upsert(Sample.entry("theirs"))])
        try directory.write(try other.read("manifest.db-wal"), to: "manifest.db-wal")
        let (fresh, outcome) = try await directory.open()
        guard case .recreated = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(try await fresh.entryCount() == 0)
        #expect(directory.names.contains(Self.aside + "-wal"))
    }

    @Test func `a lost or meaningless log leaves the state before it`() async throws {
        let source = try StateDirectory()
        let store = try await source.store()
        try await store.record([.upsert(Sample.entry("a"))])
        try await store.checkpointAndClose()
        let again = try await source.store()
        try await again.record([.upsert(Sample.entry("b"))])
        for log in [nil, [], [UInt8](repeating: 0x55, count: 8_192)] as [[UInt8]?] {
            let directory = try StateDirectory()
            try directory.write(try source.read("manifest.db"), to: "manifest.db")
            if let log { try directory.write(log, to: "manifest.db-wal") }
            let (opened, outcome) = try await directory.open()
            #expect(outcome == .opened)
            #expect(try await opened.entry("a") != nil)
            #expect(try await opened.entry("b") == nil)
        }
    }

    @Test func `a link in the log's place is not followed`() async throws {
        let directory = try StateDirectory()
        try await makeStore(directory)
        try directory.write([1, 2, 3], to: "elsewhere")
        #expect(unsafe symlink("elsewhere", directory.databasePath + "-wal") == 0)
        #expect(try await reason(directory) == "it is not a regular file")
        #expect(try directory.read("elsewhere") == [1, 2, 3])
    }

    @Test func `the names of several on one second differ`() async throws {
        let directory = try StateDirectory()
        for count in 1...3 {
            try directory.write([UInt8(count)], to: "manifest.db")
            let (store, outcome) = try await directory.open()
            try await store.checkpointAndClose()
            guard case .recreated(let name, _) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(name == (count == 1 ? Self.aside : Self.aside + "-\(count)"))
        }
        #expect(try directory.read(Self.aside + "-3") == [3])
    }

    @Test func `only the newest four are kept`() async throws {
        let directory = try StateDirectory()
        for day in 1...6 {
            try directory.write([UInt8(day)], to: "manifest.corrupt-2025010\(day)T000000Z")
            try directory.write([0], to: "manifest.corrupt-2025010\(day)T000000Z-wal")
        }
        try directory.write([7], to: "manifest.db")
        let (store, _) = try await directory.open()
        try await store.checkpointAndClose()
        #expect(
            directory.names == [
                "manifest.corrupt-20250104T000000Z", "manifest.corrupt-20250104T000000Z-wal",
                "manifest.corrupt-20250105T000000Z", "manifest.corrupt-20250105T000000Z-wal",
                "manifest.corrupt-20250106T000000Z", "manifest.corrupt-20250106T000000Z-wal",
                Self.aside, "manifest.db",
            ]
        )
    }

    @Test func `an interrupted replacement still says that the old one was lost`() async throws {
        let directory = try StateDirectory()
        // Set aside, marked, and killed before a new one was there.
        try directory.write([], to: "manifest.damaged")
        let (store, outcome) = try await directory.open()
        #expect(
            outcome
                == .recreated(movedAside: nil, reason: "an earlier run found it damaged")
        )
        try await store.checkpointAndClose()
        #expect(directory.names == ["manifest.db"])
    }
}
