import Foundation
import SyncModel
import Testing

@testable import ManifestStore

@Suite("A manifest that is only looked at")
struct ReadingOnlyTests {
    private let directory: StateDirectory

    init() throws {
        directory = try StateDirectory()
    }

    private func inspect() async throws -> InspectionOutcome {
        try await ManifestStore.inspect(directory: directory.path, threads: .system)
    }

    private func opened() async throws -> ManifestStore {
        guard case .opened(let store) = try await inspect() else {
            throw ManifestError.closed
        }
        return store
    }

    /// All files with their content.
    private func everything() throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        // A process has one index of the log for all its connections, and this one writes, too.
        for name in directory.names where !name.hasSuffix("-shm") {
            files[name] = try directory.read(name)
        }
        return files
    }

    @Test func `is read as the last run has closed it, and nothing is made`() async throws {
        let store = try await directory.store()
        try await store.record([.upsert(Sample.entry("a"))])
        try await store.checkpointAndClose()
        let before = try everything()
        let reader = try await opened()
        #expect(try await reader.entry("a") == Sample.entry("a"))
        await #expect(throws: ManifestError.self) {
            try await reader.record([.upsert(Sample.entry("b"))])
        }
        #expect(directory.names == ["manifest.db"])
        #expect(try everything() == before)
    }

    @Test func `is not made where there is none`() async throws {
        guard case .absent = try await inspect() else {
            Issue.record("it was found")
            return
        }
        #expect(directory.names == [])
    }

    @Test func `is read beside a run with what the log has, and nothing is written`() async throws {
        let store = try await directory.store()
        try await store.record([.upsert(Sample.entry("a"))])
        let before = try everything()
        let reader = try await opened()
        #expect(try await reader.entry("a") == Sample.entry("a"))
        #expect(try everything() == before)
        try await store.record([.upsert(Sample.entry("b"))])
        #expect(try await reader.entry("b") == Sample.entry("b"))
        try await store.checkpointAndClose()
    }

    @Test func `that is older is copied and brought up elsewhere`() async throws {
        let store = try await directory.store()
        try await store.checkpointAndClose()
        let before = try everything()
        let statements = ["CREATE TABLE extra (x INTEGER NOT NULL) STRICT"]
        let newer = Schema(migrations: Schema.current.migrations + [.init(statements: statements)])
        let inspection = ManifestInspection(
            files: ManifestFiles(directory: directory.path, hasLocks: true),
            schema: newer
        )
        guard case .unfinished = try await ManifestStore.inspect(inspection, .system) else {
            Issue.record("it was opened")
            return
        }
        let copy = try StateDirectory()
        try await ManifestStore.copy(from: directory.path, to: copy.path, threads: .system)
        let (opened, outcome) = try await copy.open(schema: newer)
        #expect(outcome == .opened)
        #expect(try await opened.entryCount() == 0)
        #expect(try everything() == before)
    }

    @Test func `that is damaged is reported and stays`() async throws {
        let store = try await directory.store()
        try await store.checkpointAndClose()
        try directory.write([UInt8](repeating: 7, count: 9_000), to: "manifest.db")
        let before = try everything()
        for _ in 0..<2 {
            guard case .damaged(let reason) = try await inspect() else {
                Issue.record("it was opened")
                return
            }
            #expect(!reason.isEmpty)
            #expect(try everything() == before)
        }
    }
}
