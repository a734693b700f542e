import Foundation
import Glibc
import ManifestStore
import ObjectTransfer
import SyncModel
import Testing

@testable import SyncEngine

extension EngineRuns {
    /// A disk, or a store, that was put back to an earlier time, and no marker that says so.
    @Suite("Put back to an earlier time")
    struct RolledBackTests {
        /// A folder on another disk than the fixture's; nil where there is none.
        private static let otherDisk = ["/dev/shm", "/var/tmp", "/tmp"].first { path in
            device(path) != nil && device(path) != device(NSTemporaryDirectory())
        }

        private static func device(_ path: String) -> UInt? {
            var status = stat()
            return unsafe stat(path, &status) == 0 ? status.st_dev : nil
        }

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

        /// The same mirror with its state on another disk, which stays as it is.
        private func withState(_ body: (MirrorEngine) async throws -> Void) async throws {
            let place = try #require(Self.otherDisk) + "/osssync-state-\(UUID())"
            try FileManager.default.createDirectory(
                atPath: place,
                withIntermediateDirectories: true
            )
            defer { try? FileManager.default.removeItem(atPath: place) }
            var engine = try later(fixture.engine("a"))
            engine.settings.stateDirectory = place
            try await body(engine)
        }

        /// The same a day later.
        private func later(_ engine: MirrorEngine) throws -> MirrorEngine {
            var engine = engine
            engine.settings.environment = EngineEnvironment(
                now: { Timestamp(seconds: MirrorFixture.now().seconds + 86_400) },
                monotonic: engine.settings.environment.monotonic,
                sleep: engine.settings.environment.sleep,
                randomUnit: engine.settings.environment.randomUnit,
                hostName: "host"
            )
            return engine
        }

        private func run(
            _ engine: MirrorEngine,
            _ direction: SyncDirection,
            _ log: EventLog = EventLog(),
            _ change: (inout RunOptions) -> Void = { _ in }
        ) async throws -> RunSummary {
            let options = MirrorFixture.options { options in
                options.deletesKnown = true
                change(&options)
            }
            return try await engine.run(direction, options: options, onEvent: log.add)
        }

        /// As if all that is here were as it was an hour ago, before the rows were recorded.
        private func rollBack(
            _ engine: MirrorEngine,
            by seconds: Int64 = 3_600,
            keys: [ObjectKey] = ["0/later", "changed", "z/later"]
        ) async throws {
            let session = try await MirrorSession.open(
                engine.settings,
                locks: true,
                allowsRebinding: false
            )
            for key in keys {
                guard let row = try await session.manifest.entry(key) else { continue }
                let later = row.changed.map { $0 + seconds * 1_000_000_000 }
                try await session.manifest.record([.upsert(row.replacing(changed: later))])
            }
            try await session.manifest.checkpointAndClose()
        }

        private func told(_ log: EventLog) -> Bool {
            log.warnings.contains { $0.contains("rolled back to an earlier time") }
        }

        @Test(.enabled(if: otherDisk != nil), arguments: [SyncDirection.push, .sync])
        func `a directory replaces and deletes nothing by what it was`(
            direction: SyncDirection
        ) async throws {
            try fixture.write("a/changed", new)
            try await withState { engine in
                _ = try await run(engine, .push)
                try writeInPlace(old)
                // One before, and one after what shows it.
                try fixture.remove("a/0/later")
                try fixture.remove("a/z/later")
                try await rollBack(engine)
                let log = EventLog()
                let first = try await run(engine, direction, log)
                #expect(told(log) && first.deleted == 0 && first.conflicts == 1, "\(first)")
                for _ in 1...2 {
                    _ = try await run(engine, .push)
                    #expect(try await fixture.object("changed") == new)
                    #expect(try await fixture.object("z/later") == new)
                    #expect(try await fixture.object("0/later") == new)
                }
            }
        }

        @Test(.enabled(if: otherDisk != nil))
        func `what is gone, although no name went since, was not deleted`() async throws {
            try await withState { engine in
                _ = try await run(engine, .push)
                try fixture.remove("a/z/later")
                try await rollBack(engine)
                let log = EventLog()
                let second = try await run(engine, .push, log)
                #expect(told(log) && second.deleted == 0, "\(second)")
                #expect(try await fixture.object("z/later") == new)
            }
        }

        @Test(.enabled(if: otherDisk != nil))
        func `nothing is told by a clock that went back, nor of what a filter leaves out`()
            async throws
        {
            try await withState { engine in
                _ = try await run(engine, .push)
                try writeInPlace(MirrorFixture.ramp(950, 7))
                try fixture.remove("a/z/later")
                // Recorded at a time that has not come yet.
                try await rollBack(engine, by: 3 * 86_400)
                let log = EventLog()
                let second = try await run(engine, .push, log)
                #expect(!told(log) && second.deleted == 1 && second.bytes == 950, "\(second)")
                try await rollBack(engine, keys: ["0/later"])
                let third = try await run(engine, .push, log) { try? $0.filter.exclude("/0/") }
                #expect(!told(log) && third.conflicts == 0, "\(third)")
            }
        }

        /// The inode stays.
        private func writeInPlace(_ content: Data) throws {
            let file = try FileHandle(
                forUpdating: URL(filePath: fixture.directory("a/changed"))
            )
            try file.truncate(atOffset: 0)
            try file.write(contentsOf: content)
            try file.close()
        }

        @Test func `edits and deletions go on beside the state`() async throws {
            try await fixture.run("a", .push)
            try fixture.write("a/changed", MirrorFixture.ramp(950, 7))
            try fixture.remove("a/z/later")
            try await rollBack(try later(fixture.engine("a")))
            let log = EventLog()
            let second = try await run(later(fixture.engine("a")), .push, log)
            #expect(!told(log) && second.deleted == 1 && second.bytes == 950, "\(second)")
        }

        @Test func `a state that was written back into its place is known`() async throws {
            try await fixture.run("a", .push)
            try await fixture.run("a", .push)
            let folder = fixture.directory("a/.osssync")
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            let backup = names.compactMap { name in
                FileManager.default.contents(atPath: folder + "/" + name).map { (name, $0) }
            }
            var options = FreeOptions(run: MirrorFixture.options())
            options.run.paths = ["z"]
            _ = try await fixture.engine("a").free(options) { _ in }
            for (name, content) in backup {
                try fixture.remove("a/.osssync/" + name)
                try fixture.write("a/.osssync/" + name, content)
            }
            let log = EventLog()
            let run = try await fixture.run("a", .push, log) { $0.deletesKnown = true }
            #expect(run.deleted == 0, "\(run)")
            #expect(log.warnings.contains { $0.contains("does not match the last run") })
            #expect(try await fixture.object("z/later") == new)
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
