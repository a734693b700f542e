import Foundation
import SyncModel
import Synchronization
import Testing

@testable import SyncEngine

extension EngineRuns {
    @Suite("A directory that was restored or rolled back")
    struct RestoredDirectoryTests {
        private static let old = MirrorFixture.ramp(1_000)
        private static let new = MirrorFixture.ramp(2_000, 9)

        private func engine(_ fixture: MirrorFixture, _ state: String?) throws -> MirrorEngine {
            var engine = try fixture.engine("a")
            engine.settings.stateDirectory = state.map { fixture.directory($0) }
            return engine
        }

        @discardableResult
        private func run(
            _ fixture: MirrorFixture,
            _ direction: SyncDirection,
            state: String?,
            _ log: EventLog = EventLog(),
            _ change: (inout RunOptions) -> Void = { _ in }
        ) async throws -> RunSummary {
            let options = MirrorFixture.options { options in
                options.deletesKnown = true
                options.deletionLimit = .percent(100)
                change(&options)
            }
            return try await engine(fixture, state).run(
                direction,
                options: options,
                onEvent: log.add
            )
        }

        /// A mirror with its state elsewhere, a backup of the directory, and newer objects.
        private func worked(state: String? = "state") async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            try fixture.write("a/doc", Self.old)
            try fixture.write("a/d/other", Self.old)
            try fixture.write("a/same", Self.old)
            try await run(fixture, .push, state: state)
            try fixture.copy("a", "backup")
            try fixture.write("a/doc", Self.new)
            try fixture.write("a/d/other", Self.new)
            try fixture.write("a/made", Self.new)
            try await run(fixture, .sync, state: state)
            #expect(try await fixture.objects().count == 4)
            return fixture
        }

        private func restoreOntoNewDisk(_ fixture: MirrorFixture) throws {
            try FileManager.default.moveItem(
                atPath: fixture.directory("a"),
                toPath: fixture.directory("broken")
            )
            try fixture.copy("backup", "a")
        }

        private func rollBack(_ fixture: MirrorFixture) throws {
            let names = try FileManager.default.contentsOfDirectory(
                atPath: fixture.directory("a")
            )
            for name in names { try fixture.remove("a/" + name) }
            try fixture.copy("backup/.", "a")
        }

        private func expectNewest(_ fixture: MirrorFixture) async throws {
            for name in ["doc", "d/other", "made"] {
                #expect(try await fixture.object(name) == Self.new, "\(name)")
            }
            #expect(try await fixture.object("same") == Self.old)
        }

        @Test(arguments: [SyncDirection.pull, .push, .sync], [true, false])
        func `older files never replace newer objects, nor delete any`(
            direction: SyncDirection,
            isInPlace: Bool
        ) async throws {
            let fixture = try await worked()
            try isInPlace ? rollBack(fixture) : restoreOntoNewDisk(fixture)
            for number in 0..<3 {
                let log = EventLog()
                let run = try await run(fixture, direction, state: "state", log)
                #expect(run.deleted == 0)
                try await expectNewest(fixture)
                if number == 0 {
                    #expect(run.conflicts == 2)
                    #expect(log.warnings.contains { $0.contains("does not match the last run") })
                }
            }
            guard direction != .push else { return }
            #expect(fixture.content("a/doc") == Self.new)
            // The older versions are kept beside.
            #expect(try fixture.tree("a").values.filter { $0 == Self.old }.count == 3)
        }

        /// With the marker, so that its number is the manifest's.
        @Test func `an older state with its marker deletes nothing that was freed since`()
            async throws
        {
            let fixture = try MirrorFixture()
            for name in ["one", "d/two", "d/three"] { try fixture.write("a/" + name, Self.old) }
            try await run(fixture, .push, state: nil)
            try fixture.copy("a/.osssync", "backup")
            var options = FreeOptions(run: MirrorFixture.options())
            options.run.paths = ["d"]
            #expect(try await fixture.engine("a").free(options) { _ in }.files == 2)
            try fixture.remove("a/.osssync")
            try fixture.copy("backup", "a/.osssync")
            let log = EventLog()
            let first = try await run(fixture, .push, state: nil, log)
            #expect(first.deleted == 0, "\(first)")
            #expect(log.warnings.contains { $0.contains("does not match the last run") })
            #expect(try await run(fixture, .sync, state: nil).deleted == 0)
            #expect(fixture.content("a/d/two") == Self.old)
            // From then on it is known again.
            try fixture.remove("a/one")
            let last = EventLog()
            #expect(try await run(fixture, .push, state: nil, last).deleted == 1)
            #expect(last.warnings.isEmpty, "\(last.warnings)")
        }

        @Test func `a status and a dry run say the same of it and change nothing`() async throws {
            let fixture = try await worked()
            try rollBack(fixture)
            for _ in 0..<2 {
                let log = EventLog()
                let dry = try await run(fixture, .sync, state: "state", log) { $0.isDryRun = true }
                #expect((dry.conflicts, dry.deleted) == (2, 0))
                let status = try await engine(fixture, "state").status(
                    options: MirrorFixture.options { $0.deletesKnown = true }
                )
                #expect((status.sync.conflicts, status.sync.deletions) == (2, 0))
                #expect(status.warnings.contains { $0.contains("does not match the last run") })
            }
            try await run(fixture, .sync, state: "state")
            try await expectNewest(fixture)
        }

        @Test func `what the filter hides in that run is not sent by a later one`() async throws {
            let fixture = try await worked()
            try rollBack(fixture)
            try await run(fixture, .push, state: "state") { try? $0.filter.exclude("d/") }
            try await run(fixture, .push, state: "state")
            try await expectNewest(fixture)
        }

        @Test func `what hides a file in that run lets no later one send an older version`()
            async throws
        {
            let fixture = try await worked()
            try restoreOntoNewDisk(fixture)
            try fixture.remove("a/doc")
            try fixture.link("a/doc", to: "same")
            try await run(fixture, .push, state: "state")
            try fixture.remove("a/doc")
            try fixture.write("a/doc", Self.old)
            try await run(fixture, .push, state: "state")
            try await expectNewest(fixture)
        }

        @Test func `one from before the ignore file sends nothing of what that hides`()
            async throws
        {
            let fixture = try MirrorFixture()
            try fixture.write("a/secret", Self.old)
            try fixture.write("a/f", Self.old)
            try await run(fixture, .push, state: "state") { try? $0.filter.exclude("secret") }
            try fixture.copy("a", "backup")
            try fixture.write("a/.osssyncignore", Data("secret\n".utf8))
            try await run(fixture, .push, state: "state")
            try restoreOntoNewDisk(fixture)
            for direction in [SyncDirection.sync, .push] {
                try await run(fixture, direction, state: "state")
                #expect(try await fixture.objects() == [".osssyncignore", "f"])
            }
        }

        @Test func `an older file of the same size and time does not replace a newer object`()
            async throws
        {
            let newer = MirrorFixture.ramp(1_000, 9)
            let fixture = try MirrorFixture()
            try fixture.write("a/doc", Self.old)
            try fixture.setModified("a/doc", Date(timeIntervalSince1970: 1_000_000))
            try await run(fixture, .push, state: "state")
            try fixture.copy("a", "backup")
            try fixture.write("a/doc", newer)
            try await run(fixture, .push, state: "state")
            try fixture.setModified("a/doc", Date(timeIntervalSince1970: 1_000_000))
            try await run(fixture, .push, state: "state")
            try restoreOntoNewDisk(fixture)
            for _ in 0..<2 {
                try await run(fixture, .push, state: "state")
                #expect(try await fixture.object("doc") == newer)
            }
        }

        @Test func `a state that was copied into another directory sends nothing over newer ones`()
            async throws
        {
            let fixture = try await worked(state: nil)
            try FileManager.default.moveItem(
                atPath: fixture.directory("a"),
                toPath: fixture.directory("first")
            )
            try fixture.makeDirectory("a")
            try fixture.copy("first/.osssync", "a/.osssync")
            try fixture.write("a/doc", MirrorFixture.ramp(50))
            let summary = try await run(fixture, .sync, state: nil)
            #expect((summary.conflicts, summary.deleted) == (1, 0))
            try await expectNewest(fixture)
        }

        @Test func `a state that was restored deletes and sends nothing of what it knows no more`()
            async throws
        {
            let fixture = try await worked()
            try fixture.copy("state", "saved")
            try fixture.write("a/doc", MirrorFixture.ramp(300))
            try await run(fixture, .sync, state: "state")
            try await fixture.put("doc", MirrorFixture.ramp(400))
            try fixture.remove("state")
            try fixture.copy("saved", "state")
            let summary = try await run(fixture, .sync, state: "state")
            #expect(summary.conflicts == 1)
            #expect(try await fixture.object("doc") == MirrorFixture.ramp(400))
        }

        @Test func `what is as the last run left it stays the mirror`() async throws {
            let fixture = try await worked()
            for direction in [SyncDirection.push, .sync, .pull] {
                let log = EventLog()
                let summary = try await run(fixture, direction, state: "state", log)
                #expect(summary.isInStep)
                #expect(log.warnings == [])
            }
            try fixture.remove("a/same")
            #expect(try await run(fixture, .push, state: "state").deleted == 1)
        }

        @Test func `a run that changes nothing writes no marker`() async throws {
            let fixture = try await worked()
            // What was written a moment ago is compared once more.
            for name in ["doc", "d/other", "same", "made"] {
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -3_600)],
                    ofItemAtPath: fixture.directory("a/" + name)
                )
            }
            try await run(fixture, .sync, state: "state")
            let before = try marker(fixture)
            try await run(fixture, .sync, state: "state")
            #expect(try marker(fixture) == before)
            try fixture.write("a/more", Self.new)
            try await run(fixture, .sync, state: "state")
            #expect(try marker(fixture) != before)
        }

        @Test func `one that was copied while a run went on is older, too`() async throws {
            let fixture = try await worked()
            for name in ["doc", "brought"] { try await fixture.put(name, MirrorFixture.ramp(70)) }
            try fixture.write("a/a-sent", Self.new)
            try fixture.remove("backup")
            let before = try marker(fixture)
            var engine = try engine(fixture, "state")
            let isCopied = Mutex(false)
            engine.settings.store = HookedStore(engine.settings.store) { call in
                guard call.operation == "GetObject", call.moment == .after else { return }
                isCopied.withLock { isCopied in
                    guard !isCopied else { return }
                    isCopied = true
                    // The run has recorded what it sent, and nothing that it fetched.
                    #expect((try? self.marker(fixture)) != before)
                    try? fixture.copy("a", "backup")
                }
            }
            try fixture.setFaults(
                #"[{"match": {"operation": "GetObject"}, "effect": {"delay": 3}}]"#
            )
            let options = MirrorFixture.options()
            let first = try await engine.run(.sync, options: options, onEvent: { _ in })
            try fixture.setFaults("[]")
            #expect(first.isInStep)
            #expect(!fixture.exists("backup/brought"))
            try rollBack(fixture)
            let log = EventLog()
            let summary = try await run(fixture, .push, state: "state", log)
            #expect((summary.deleted, summary.conflicts) == (0, 1))
            #expect(log.warnings.contains { $0.contains("does not match the last run") })
            #expect(try await fixture.object("doc") == MirrorFixture.ramp(70))
            #expect(try await fixture.object("brought") == MirrorFixture.ramp(70))
        }

        @Test func `keeps what the run that comes to know it has recorded`() async throws {
            let fixture = try await worked()
            try rollBack(fixture)
            // Sent before the plan is complete.
            try await fixture.deleteObject("d/other")
            try await fixture.put("e", Self.new)
            var engine = try engine(fixture, "state")
            engine.settings.store = HookedStore(engine.settings.store, pageSize: 2) { _ in }
            try fixture.setFaults(
                #"[{"match": {"operation": "ListObjectsV2"}, "effect": {"delay": 3}}]"#
            )
            let options = MirrorFixture.options()
            _ = try await engine.run(.push, options: options, onEvent: { _ in })
            try fixture.setFaults("[]")
            #expect(try await fixture.object("d/other") == Self.old)
            try fixture.write("a/d/other", MirrorFixture.ramp(77))
            let second = try await run(fixture, .push, state: "state")
            #expect(second.transferred == 1)
            #expect(try await fixture.object("d/other") == MirrorFixture.ramp(77))
        }

        @Test func `is not one that two runs at once have written numbers of`() async throws {
            let fixture = try await worked(state: nil)
            var second = try engine(fixture, "second")
            second.settings.prefix = "other/"
            second.settings.identity = RemoteIdentity(
                dialect: "oss",
                endpointHost: "127.0.0.1",
                bucket: MirrorFixture.bucket,
                prefix: "other/"
            )
            let other = second
            try fixture.write("a/more", Self.new)
            var first = try engine(fixture, nil)
            first.settings.store = HookedStore(first.settings.store) { call in
                guard call.operation == "PutObject", call.moment == .before else { return }
                _ = try? await other.run(
                    .push,
                    options: MirrorFixture.options(),
                    onEvent: { _ in }
                )
            }
            let options = MirrorFixture.options()
            _ = try await first.run(.push, options: options, onEvent: { _ in })
            for engine in [first, second] {
                let log = EventLog()
                _ = try await engine.run(.push, options: options, onEvent: log.add)
                #expect(log.warnings == [])
            }
        }

        private func marker(_ fixture: MirrorFixture) throws -> [String] {
            let path = fixture.directory("a/.osssync/marker")
            let number = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber]
            return [String(describing: number), try String(contentsOfFile: path, encoding: .utf8)]
        }

        @Test func `a second remote with a state of its own leaves both their guards`() async throws
        {
            let fixture = try await worked(state: nil)
            var second = try engine(fixture, "second")
            second.settings.prefix = "other/"
            second.settings.identity = RemoteIdentity(
                dialect: "oss",
                endpointHost: "127.0.0.1",
                bucket: MirrorFixture.bucket,
                prefix: "other/"
            )
            let options = MirrorFixture.options { options in
                options.deletesKnown = true
                options.deletionLimit = .percent(100)
            }
            _ = try await second.run(.push, options: options, onEvent: { _ in })
            for name in ["made", "same"] {
                try fixture.remove("a/" + name)
                let first = EventLog()
                #expect(try await run(fixture, .push, state: nil, first).deleted == 1)
                let log = EventLog()
                let summary = try await second.run(.push, options: options, onEvent: log.add)
                #expect(summary.deleted == 1)
                #expect(first.warnings + log.warnings == [])
            }
            // And each of them sees a directory that was rolled back.
            try rollBack(fixture)
            #expect(try await second.run(.push, options: options, onEvent: { _ in }).deleted == 0)
            #expect(try await run(fixture, .push, state: nil).deleted == 0)
        }
    }
}
