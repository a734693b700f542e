import Foundation
import LocalStorage
import ManifestStore
import ObjectStorage
import SyncModel
import Testing

@testable import SyncEngine

extension EngineRuns {
    /// What a run finds that another one left when it was killed or the power was cut.
    ///
    /// The whole program is killed at every call by `Tests/CrashPoints`; these make the states that
    /// matter by hand.
    @Suite("After an interruption")
    struct InterruptionTests {
        private func ramp(_ count: Int, _ seed: Int = 0) -> Data { MirrorFixture.ramp(count, seed) }

        private func openManifest(_ fixture: MirrorFixture) async throws -> ManifestStore {
            try await ManifestStore.open(
                directory: fixture.directory("b") + "/.osssync",
                now: MirrorFixture.now(),
                usesWriteAheadLog: true,
                threads: .system
            ).store
        }

        private func contents(of folder: String) -> [Data] {
            let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
            return paths.compactMap { FileManager.default.contents(atPath: folder + "/" + $0) }
        }

        /// Leaves what a pull does that is killed before, or in the middle of, its deletions.
        private func planDeletions(of keys: [ObjectKey], _ fixture: MirrorFixture) async throws {
            let manifest = try await openManifest(fixture)
            let run = try await manifest.beginRun(
                direction: "pull",
                started: MirrorFixture.now(),
                remote: "oss://fixture/mirror/"
            )
            try await manifest.planDeletions(
                keys.map {
                    PlannedDeletion(key: $0, side: .local, size: 10, etag: nil, identity: nil)
                },
                run: run
            )
            try await manifest.checkpointAndClose()
        }

        @Test func `directories that killed deletions emptied go with the next run`() async throws {
            let fixture = try MirrorFixture()
            for key in ["x/y/z", "x/kept", "u/v/w"] { try await fixture.put(key, ramp(10)) }
            try await fixture.run("b", .pull)
            try await fixture.deleteObject("x/y/z")
            try await fixture.deleteObject("u/v/w")
            // Killed after both files were removed: the plan and the rows are there.
            try await planDeletions(of: ["x/y/z", "u/v/w"], fixture)
            try fixture.remove("b/x/y/z")
            try fixture.remove("b/u/v/w")
            try await fixture.run("b", .pull) { $0.deletesKnown = true }
            #expect(!fixture.exists("b/x/y"))
            #expect(fixture.exists("b/x/kept"))
            #expect(!fixture.exists("b/u"))
        }

        @Test func `what cannot be swept ends no run`() async throws {
            let fixture = try MirrorFixture()
            for key in ["kept", "x/y/z", "u/v/w"] { try await fixture.put(key, ramp(10)) }
            try await fixture.run("b", .pull)
            try await planDeletions(of: ["x/y/z", "u/v/w"], fixture)
            try fixture.remove("b/x")
            try fixture.link("b/x", to: "u")
            try fixture.remove("b/u/v/w")
            for key in ["x/y/z", "u/v/w"] { try await fixture.deleteObject(key) }
            // Deeper than any path of ours: a tool put it there.
            let deep = String(repeating: "d/", count: RelativePath.maximumDepth + 1)
            try fixture.makeDirectory("b/.osssync/trash/1/" + deep)
            try fixture.write("b/.osssync/trash/2/f", ramp(1))
            for number in 0..<2 {
                let log = EventLog()
                let pull = try await fixture.run("b", .pull, log) { $0.trashDays = 0 }
                #expect(pull.isComplete, "run \(number)")
                #expect(log.warnings.count == 1, "run \(number)")
                #expect(!fixture.exists("b/u"), "run \(number)")
                #expect(!fixture.exists("b/.osssync/trash/2"))
                #expect(fixture.exists("b/.osssync/trash/1"))
            }
        }

        @Test func `what a killed run left beside the state is removed`() async throws {
            let fixture = try MirrorFixture()
            try await fixture.put("f", ramp(10))
            try await fixture.run("b", .pull)
            let left = "0123456789abcdef0123456789abcdef"
            try fixture.write("b/.osssync/" + left, ramp(5))
            try fixture.write("b/.osssync/notes", ramp(6))
            try await fixture.run("b", .pull)
            #expect(!fixture.exists("b/.osssync/" + left))
            #expect(fixture.exists("b/.osssync/notes"))
        }

        @Test func `small files that wait for their names are not fetched twice`() async throws {
            let fixture = try MirrorFixture()
            for index in 0..<40 { try await fixture.put("f\(index)", ramp(10_000, index)) }
            var limits = EngineLimits.standard
            limits.maximumUncheckpointed = 40_000
            // Nothing gets its name, and nothing is taken back.
            let faults = SystemCallFaults(.failFromHereOn(errno: EROFS), at: 1, of: ["renameat2"])
            let calls = SystemCalls(usesOpenat2: true, faults: faults)
            var first = try fixture.engine("b", calls: calls)
            first.settings.limits = limits
            _ = try? await first.run(.pull, options: MirrorFixture.options()) { _ in }
            #expect(try fixture.tree("b").isEmpty)
            var second = try fixture.engine("b")
            second.settings.limits = limits
            let pull = try await second.run(.pull, options: MirrorFixture.options()) { _ in }
            #expect(pull.isInStep)
            #expect(try fixture.tree("b").count == 40)
            // The last files were fewer than are worth a row.
            #expect(pull.bytes < 40_000)
        }

        @Test func `a fast run tells the manifest after the disk`() async throws {
            let fixture = try MirrorFixture()
            try await fixture.put("f", ramp(10))
            let faults = SystemCallFaults(.failFromHereOn(errno: EIO), at: 1, of: ["syncfs"])
            let calls = SystemCalls(usesOpenat2: true, faults: faults)
            let pull = try? await fixture.engine("b", calls: calls).run(
                .pull,
                options: MirrorFixture.options(),
                onEvent: { _ in }
            )
            #expect(pull?.isInStep != true)
            let manifest = try await openManifest(fixture)
            #expect(fixture.content("b/f") == ramp(10))
            #expect(try await manifest.entry("f") == nil)
            #expect(try await manifest.setting("publication.unsynchronized") != nil)
            try await manifest.checkpointAndClose()
            // A row about the file that is there would outlive the power cut that it does not.
            for durability in [Durability.fast, .full] {
                let options = MirrorFixture.options { $0.durability = durability }
                let engine = try fixture.engine("b", calls: calls)
                await #expect(throws: SyncError.self) {
                    try await engine.run(.pull, options: options, onEvent: { _ in })
                }
            }
            let still = try await openManifest(fixture)
            #expect(try await still.entry("f") == nil)
            try await still.checkpointAndClose()
            #expect(try await fixture.run("b", .pull).isInStep)
            let later = try await openManifest(fixture)
            #expect(try await later.entry("f") != nil)
            #expect(try await later.setting("publication.unsynchronized") == nil)
            try await later.checkpointAndClose()
        }

        @Test func `what failed beside it leaves no doubt about what a fast run wrote`()
            async throws
        {
            let fixture = try MirrorFixture()
            for key in ["f", "g"] { try await fixture.put(key, ramp(10)) }
            try fixture.setFaults(
                #"""
                [{"match": {"operation": "GetObject", "key": "mirror/g"},
                  "effect": {"fail": {"status": 500, "code": "InternalError"}}}]
                """#
            )
            let pull = try await fixture.run("b", .pull)
            #expect(pull.failed == 1)
            #expect(pull.transferred == 1)
            let manifest = try await openManifest(fixture)
            #expect(try await manifest.entry("f") != nil)
            #expect(try await manifest.setting("publication.unsynchronized") == nil)
            try await manifest.checkpointAndClose()
        }

        /// A mirror as a power cut in a fast run leaves it: two files of zeros.
        private func damagedMirror(mark: Int64 = 0) async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            for key in ["new", "old"] { try await fixture.put(key, ramp(500)) }
            try await fixture.run("b", .pull)
            try await fixture.put("old", ramp(600, 1))
            try fixture.write("b/new", Data(count: 500))
            try fixture.write("b/old", Data(count: 600))
            let manifest = try await openManifest(fixture)
            try await manifest.record([.forget("new")])
            try await manifest.setSetting("publication.unsynchronized", "\(mark) another-boot")
            try await manifest.checkpointAndClose()
            return fixture
        }

        @Test func `what a run leaves alone stays in doubt`() async throws {
            let fixture = try await damagedMirror()
            var engine = try fixture.engine("b")
            engine.settings.environment.sinceBoot = { .zero }
            let leaves = MirrorFixture.options { $0.conflictPolicy = .skip }
            for direction in [SyncDirection.pull, .sync] {
                let left = try await engine.run(direction, options: leaves) { _ in }
                #expect(left.conflicts == 2)
            }
            let sync = try await engine.run(.sync, options: MirrorFixture.options()) { _ in }
            #expect(sync.isInStep)
            #expect(try fixture.tree("b") == ["new": ramp(500), "old": ramp(600, 1)])
            let manifest = try await openManifest(fixture)
            #expect(try await manifest.setting("publication.unsynchronized") == nil)
            try await manifest.checkpointAndClose()
        }

        @Test(arguments: [SyncDirection.push, .sync], [7, 0])
        func `what a power cut damaged is never sent over its object`(
            direction: SyncDirection,
            trashDays: Int
        ) async throws {
            for policy in [ConflictPolicy.keepBoth, .local] {
                let fixture = try MirrorFixture()
                for key in ["f", "g"] { try await fixture.put(key, ramp(500)) }
                try await fixture.run("b", .pull)
                // A fast run fetched both again; the second one's object is a new one by now.
                try await fixture.put("g", ramp(600, 1))
                for name in ["f", "g"] { try fixture.write("b/" + name, Data(count: 400)) }
                let manifest = try await openManifest(fixture)
                try await manifest.setSetting("publication.unsynchronized", "0 another-boot")
                try await manifest.checkpointAndClose()
                var engine = try fixture.engine("b")
                engine.settings.environment.sinceBoot = { .zero }
                let options = MirrorFixture.options { options in
                    options.trashDays = trashDays
                    options.conflictPolicy = policy
                }
                var look = options
                look.isDryRun = true
                let before = try fixture.tree("b")
                _ = try await engine.run(.pull, options: look) { _ in }
                _ = try await engine.run(direction, options: look) { _ in }
                #expect(try fixture.tree("b") == before)
                let run = try await engine.run(direction, options: options) { _ in }
                #expect(try await fixture.object("f") == ramp(500))
                #expect(try await fixture.object("g") == ramp(600, 1))
                let isMended = direction == .sync && trashDays > 0
                #expect(run.isInStep == isMended)
                // What was not settled stays in doubt.
                let pull = try await engine.run(.pull, options: MirrorFixture.options()) { _ in }
                #expect(pull.isComplete)
                #expect(fixture.content("b/f") == ramp(500))
                #expect(fixture.content("b/g") == ramp(600, 1))
                let later = try await openManifest(fixture)
                #expect(try await later.setting("publication.unsynchronized") == nil)
                try await later.checkpointAndClose()
            }
        }

        @Test func `what changed after the machine started again is the user's`() async throws {
            let fixture = try await damagedMirror()
            var engine = try fixture.engine("b")
            engine.settings.environment.sinceBoot = { .seconds(3_600) }
            let pull = try await engine.run(.pull, options: MirrorFixture.options()) { _ in }
            #expect(pull.conflicts == 2)
            let tree = try fixture.tree("b")
            #expect(tree.count == 4)
            #expect(tree["new"] == ramp(500))
            #expect(Set(tree.values).isSuperset(of: [Data(count: 500), Data(count: 600)]))
        }

        @Test func `a doubt ends with the first start after the power cut, not with later ones`()
            async throws
        {
            let fixture = try await damagedMirror()
            var engine = try fixture.engine("b")
            engine.settings.environment.sinceBoot = { .zero }
            let leaves = MirrorFixture.options { $0.conflictPolicy = .skip }
            #expect(try await engine.run(.pull, options: leaves) { _ in }.conflicts == 2)
            // What the user does now is the user's, also if the machine starts again.
            try fixture.write("b/new", ramp(70))
            let pull = try await engine.run(.pull, options: MirrorFixture.options()) { _ in }
            #expect(pull.conflicts == 1)
            #expect(try fixture.tree("b").values.contains(ramp(70)))
            #expect(fixture.content("b/old") == ramp(600, 1))
        }

        @Test func `a mark in seconds, as earlier versions wrote it, is understood`() async throws {
            let fixture = try await damagedMirror(mark: MirrorFixture.now().seconds + 60)
            var engine = try fixture.engine("b")
            engine.settings.environment.sinceBoot = { nil }
            let pull = try await engine.run(.pull, options: MirrorFixture.options()) { _ in }
            #expect(pull.conflicts == 2)
        }

        @Test func `what a power cut damaged in a fast run is fetched again`() async throws {
            let fixture = try await damagedMirror()
            let log = EventLog()
            // A push leaves alone what it cannot tell from a change of the user's.
            var engine = try fixture.engine("b")
            engine.settings.environment.sinceBoot = { .zero }
            let options = MirrorFixture.options()
            let push = try await engine.run(.push, options: options) { _ in }
            #expect(push.conflicts == 2)
            #expect(try await fixture.object("old") == ramp(600, 1))
            let pull = try await engine.run(.pull, options: options, onEvent: log.add)
            #expect(pull.isInStep)
            #expect(log.warnings.contains { $0.contains("power cut") })
            #expect(try fixture.tree("b") == ["new": ramp(500), "old": ramp(600, 1)])
            let trash = contents(of: fixture.directory("b") + "/.osssync/trash")
            #expect(trash.sorted { $0.count < $1.count } == [Data(count: 500), Data(count: 600)])
            // Only once: what changes later is the user's.
            try fixture.write("b/new", ramp(70))
            #expect(try await fixture.run("b", .pull).localChanges == 1)
        }
    }
}
