import SyncModel
import Testing

@testable import ManifestStore

@Suite("A manifest where nothing may be written")
struct ReadingOnlyTests {
    private let directory: StateDirectory

    init() throws {
        directory = try StateDirectory()
    }

    private func read() async throws(ManifestError) -> ManifestStore {
        try await ManifestStore.open(
            directory: directory.path,
            now: Timestamp(seconds: 1),
            usesWriteAheadLog: true,
            threads: .system,
            onlyReads: true
        ).store
    }

    private func refusal() async throws -> String {
        let error = await #expect(throws: ManifestError.self) { _ = try await read() }
        #expect(error?.isDamage == false)
        return try #require(error).message
    }

    @Test func `is read as the last run has closed it, and nothing is made`() async throws {
        let store = try await directory.store()
        try await store.record([.upsert(Sample.entry("a"))])
        try await store.checkpointAndClose()
        let before = try directory.read("manifest.db")
        let reader = try await read()
        #expect(try await reader.entry("a") == Sample.entry("a"))
        await #expect(throws: ManifestError.self) {
            try await reader.record([.upsert(Sample.entry("b"))])
        }
        #expect(directory.names == ["manifest.db"])
        #expect(try directory.read("manifest.db") == before)
    }

    @Test func `is not made, completed or brought up to date`() async throws {
        #expect(try await refusal().contains("there is none yet"))
        #expect(directory.names == [])
        let first = Schema(migrations: Array(Schema.current.migrations.prefix(1)))
        let (old, _) = try await directory.open(schema: first)
        try await old.checkpointAndClose()
        #expect(try await refusal().contains("an older version of osssync wrote it"))
        let store = try await directory.store()
        try await store.record([.upsert(Sample.entry("a"))])
        // The store is still open, as if its run had been killed.
        #expect(try await refusal().contains("has left a log beside it"))
        #expect(try await store.entryCount() == 1)
    }
}
