import Foundation
import ManifestStore
import ObjectTransfer
import SyncModel
import Testing

@testable import SyncEngine

extension EngineRuns {
    /// A disk, or a store, that was put back to an earlier time, and no marker that says so.
    @Suite("Put back to an earlier time")
    struct RolledBackTests {
        private let fixture: MirrorFixture
        private let old = MirrorFixture.ramp(700, 1)
        private let new = MirrorFixture.ramp(900, 2)

        init() async throws {
            fixture = try MirrorFixture()
            try fixture.write("a/changed", old)
            try fixture.write("a/same", old)
            try fixture.write("a/z/later", new)
            try fixture.write("a/0/later", new)
        }

        /// As if the rows had been recorded a minute after all that is here.
        private func rollBack() async throws {
            try await fixture.inState { session in
                for key in ["0/later", "changed", "z/later"] {
                    let row = try #require(try await session.manifest.entry(ObjectKey(key)))
                    let later = row.replacing(changed: row.changed.map { $0 + 60_000_000_000 })
                    try await session.manifest.record([.upsert(later)])
                }
            }
        }

        private func told(_ log: EventLog) -> Bool {
            log.warnings.contains { $0.contains("rolled back to an earlier time") }
        }

        @Test(arguments: [SyncDirection.push, .sync])
        func `a directory replaces and deletes nothing by what it was`(
            direction: SyncDirection
        ) async throws {
            try fixture.write("a/changed", new)
            try await fixture.run("a", .push)
            // The inode stays.
            let file = try FileHandle(
                forUpdating: URL(filePath: fixture.directory("a/changed"))
            )
            try file.truncate(atOffset: 0)
            try file.write(contentsOf: old)
            try file.close()
            // One before, and one after what shows it.
            try fixture.remove("a/0/later")
            try fixture.remove("a/z/later")
            try await rollBack()
            let log = EventLog()
            let run = try await fixture.run("a", direction, log) { $0.deletesKnown = true }
            #expect(told(log) && run.deleted == 0 && run.conflicts == 1, "\(run)")
            for _ in 1...2 {
                try await fixture.run("a", .push) { $0.deletesKnown = true }
                #expect(try await fixture.object("changed") == new)
                #expect(try await fixture.object("z/later") == new)
                #expect(try await fixture.object("0/later") == new)
            }
        }

        @Test func `what is gone, although no name went since, was not deleted`() async throws {
            try await fixture.run("a", .push)
            try fixture.remove("a/z/later")
            try await rollBack()
            let log = EventLog()
            let run = try await fixture.run("a", .push, log) { $0.deletesKnown = true }
            #expect(told(log) && run.deleted == 0, "\(run)")
            #expect(try await fixture.object("z/later") == new)
        }

        @Test func `edits and deletions go on where nothing shows it`() async throws {
            try await fixture.run("a", .push)
            try fixture.write("a/changed", MirrorFixture.ramp(950, 7))
            try fixture.remove("a/z/later")
            let log = EventLog()
            let run = try await fixture.run("a", .push, log) { $0.deletesKnown = true }
            #expect(!told(log) && run.deleted == 1 && run.bytes == 950, "\(run)")
        }

        @Test func `a file that an older object replaces goes to the trash`() async throws {
            try await fixture.run("a", .push)
            try await fixture.run("b", .pull)
            try await fixture.inState(of: "b") { session in
                let row = try #require(try await session.manifest.entry("changed"))
                let time = row.lastModified.map { Timestamp(seconds: $0.seconds + 3_600) }
                try await session.manifest.record([.upsert(row.replacing(lastModified: time))])
            }
            try await fixture.put("changed", new)
            let log = EventLog()
            #expect(try await fixture.run("b", .pull, log).transferred == 1)
            #expect(log.warnings.contains { $0.contains("put back to an earlier time") })
            let folder = fixture.directory("b/.osssync/trash")
            let kept = try FileManager.default.subpathsOfDirectory(atPath: folder)
                .compactMap { FileManager.default.contents(atPath: folder + "/" + $0) }
            #expect(kept == [old])
        }
    }
}
