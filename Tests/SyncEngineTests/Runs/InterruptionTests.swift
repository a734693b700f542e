import Foundation
import LocalStorage
import ManifestStore
import SyncModel
import Testing

@testable import ObjectTransfer
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
                threads: .system,
                smallestSearchable: 0
            ).store
        }

        /// Leaves what a pull does that is killed before, or in the middle of, its deletions.
        private func planDeletions(of keys: [ObjectKey], _ fixture: MirrorFixture) async throws {
            let manifest = try await openManifest(fixture)
            let run = try await manifest.beginRun(
                direction: "pull",
                started: MirrorFixture.now(),
                remote: "oss://fixture/mirror/"
            )
            try await manifest.record(
                keys.map {
                    PlannedDeletion(key: $0, side: .local, size: 10, etag: nil, identity: nil)
                }.map { .planDeletion($0, run) }
            )
            try await manifest.checkpointAndClose()
        }

        @Test func `leaves no name that was tried`() async throws {
            let fixture = try MirrorFixture()
            try await fixture.put("f", ramp(10))
            try await fixture.run("b", .pull)
            for name in ["C:", "\u{1}x"] {
                try fixture.write("b/.osssync/partial/" + name, Data())
            }
            try await fixture.run("b", .pull)
            #expect(try fixture.names(in: "b/.osssync/partial") == [])
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
            var limits = RunLimits.standard
            limits.transfer.maximumUncheckpointed = 40_000
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
    }
}
