import Foundation
import ManifestStore
import ObjectStorage
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    @Suite("A manifest that was damaged")
    struct RebuiltManifestTests {
        /// One file was edited here, another one's object removed there.
        private func damaged() async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            for number in 1...3 { try fixture.write("a/\(number)", MirrorFixture.ramp(number)) }
            try await fixture.run("a", .push)
            try fixture.write("a/1", MirrorFixture.ramp(99))
            try await fixture.deleteObject("1")
            try fixture.write("a/.osssync/manifest.db", MirrorFixture.ramp(9_000))
            return fixture
        }

        private func state(_ fixture: MirrorFixture) throws -> [String: Data] {
            let folder = fixture.directory("a/.osssync")
            var files: [String: Data] = [:]
            for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
                files[name] = FileManager.default.contents(atPath: folder + "/" + name)
            }
            return files
        }

        private func pull(
            _ fixture: MirrorFixture,
            _ log: EventLog = EventLog(),
            rebinds: Bool = false,
            isDry: Bool = false
        ) async throws -> RunSummary {
            try await fixture.run("a", .pull, log) { options in
                options.deletesExtra = true
                options.allowsRebinding = rebinds
                options.isDryRun = isDry
            }
        }

        @Test func `does not let the bucket's rules send more, also after a run that failed`()
            async throws
        {
            let fixture = try MirrorFixture()
            try fixture.write("a/secret", MirrorFixture.ramp(9))
            try fixture.write("a/.osssyncignore", Data("secret\n".utf8))
            try await fixture.run("a", .push)
            try await fixture.put(".osssyncignore", Data("other\n".utf8))
            try await fixture.run("a", .pull)
            try fixture.write("a/.osssync/manifest.db", MirrorFixture.ramp(9_000))
            let failing = try fixture.engine("a") { store in
                HookedStore(store) { call throws(StorageError) in
                    guard call.operation == "ListObjectsV2" else { return }
                    throw StorageError(kind: .cancelled, operation: call.operation)
                }
            }
            await #expect(throws: (any Error).self) {
                try await failing.run(.push, options: MirrorFixture.options()) { _ in }
            }
            try await fixture.run("a", .push)
            #expect(try await fixture.objects() == [".osssyncignore"])
        }

        @Test func `is no use to a bucket that has the rules deleted, be the run killed or not`()
            async throws
        {
            let fixture = try MirrorFixture()
            try fixture.write("a/secret", MirrorFixture.ramp(9))
            try fixture.write("a/.osssyncignore", Data("secret\n".utf8))
            try await fixture.run("a", .push)
            // As a run leaves it that was killed before it had forgotten the row.
            do {
                let session = try await MirrorSession.open(
                    try fixture.engine("a").settings,
                    locks: true,
                    allowsRebinding: false
                )
                let disk = BlockingQueue(label: "test", width: 1, threads: .system)
                try await IgnoreFile.noteRemoval(in: session.directory, disk)
                try await session.manifest.checkpointAndClose()
            }
            try fixture.remove("a/.osssyncignore")
            try await fixture.deleteObject(".osssyncignore")
            try await fixture.run("a", .push)
            #expect(try await fixture.objects() == [])
            // What the user does about it counts again.
            try fixture.write("a/.osssyncignore", Data("other\n".utf8))
            try await fixture.run("a", .push)
            #expect(try await fixture.objects() == [".osssyncignore", "secret"])
        }

        @Test func `is reported by status and dry runs, which write nothing`() async throws {
            let fixture = try await damaged()
            let before = try state(fixture)
            for _ in 0..<2 {
                let status = try await fixture.engine("a").status(options: MirrorFixture.options())
                #expect(status.warnings.contains { $0.contains("the next run sets it aside") })
                let log = EventLog()
                let dry = try await pull(fixture, log, isDry: true)
                #expect(log.warnings.contains { $0.contains("the next run sets it aside") })
                #expect(dry.deletionsHeldBack != nil)
                #expect(try state(fixture) == before)
            }
            let log = EventLog()
            _ = try await pull(fixture, log)
            #expect(log.warnings.contains { $0.contains("was set aside") })
        }

        @Test func `leaves what only one side has until the user decides`() async throws {
            let fixture = try await damaged()
            for _ in 0..<3 {
                let run = try await pull(fixture)
                #expect(run.deleted == 0)
                #expect(run.deletionsHeldBack?.contains("--rebind") == true)
                #expect(fixture.content("a/1") == MirrorFixture.ramp(99))
            }
            // What is known again goes as ever.
            try await fixture.deleteObject("2")
            let known = try await fixture.run("a", .pull) { $0.deletesKnown = true }
            #expect(known.deleted == 1)
            #expect(try await pull(fixture, rebinds: true).deleted == 1)
            #expect(!fixture.exists("a/1"))
            try fixture.write("a/4", MirrorFixture.ramp(4))
            #expect(try await pull(fixture).deleted == 1)
        }

        private func push(
            _ fixture: MirrorFixture,
            rebinds: Bool = false,
            excluding pattern: String? = nil
        ) async throws -> RunSummary {
            try await fixture.run("a", .push) { options in
                options.deletesExtra = true
                options.deletionLimit = .percent(100)
                options.allowsRebinding = rebinds
                if let pattern { try? options.filter.exclude(pattern) }
            }
        }

        @Test func `is confirmed only for what the run has looked at`() async throws {
            let fixture = try await damaged()
            try await fixture.run("a", .push)
            try await fixture.put("photos/new", MirrorFixture.ramp(7))
            for _ in 0..<2 {
                #expect(try await push(fixture, excluding: "photos/").deletionsHeldBack == nil)
            }
            #expect(try await push(fixture).deleted == 0)
            #expect(try await fixture.objects().contains("photos/new"))
            // The user says so, of all but these.
            try await fixture.put("other", MirrorFixture.ramp(8))
            let part = try await push(fixture, rebinds: true, excluding: "photos/")
            #expect(part.deleted == 1)
            #expect(try await push(fixture).deleted == 0)
            try await fixture.put("other", MirrorFixture.ramp(8))
            #expect(try await push(fixture, excluding: "photos/").deleted == 1)
            #expect(try await push(fixture, rebinds: true).deleted == 1)
            try await fixture.put("other", MirrorFixture.ramp(8))
            #expect(try await push(fixture).deleted == 1)
        }

        @Test func `is not confirmed for what ages or tags hide for a while`() async throws {
            let fixture = try await damaged()
            try await fixture.run("a", .push)
            try await fixture.put("new", MirrorFixture.ramp(7))
            let options = MirrorFixture.options { options in
                options.deletesExtra = true
                options.deletionLimit = .percent(100)
                options.filter.bounds.minimumAge = .seconds(3_600)
            }
            var engine = try fixture.engine("a")
            let now = try await engine.run(.push, options: options, onEvent: { _ in })
            #expect(now.deleted == 0 && now.deletionsHeldBack == nil)
            let real = engine.settings.environment
            engine.settings.environment = EngineEnvironment(
                now: { Timestamp(seconds: real.now().seconds + 7_200) },
                monotonic: real.monotonic,
                sleep: real.sleep,
                randomUnit: real.randomUnit,
                hostName: real.hostName
            )
            let later = try await engine.run(.push, options: options, onEvent: { _ in })
            #expect(later.deleted == 0 && later.deletionsHeldBack != nil)
            #expect(try await fixture.objects().contains("new"))
        }

        @Test func `does not make a disk that is not mounted gone on purpose`() async throws {
            let fixture = try await damaged()
            try fixture.write("a/photos/one", MirrorFixture.ramp(7))
            try await fixture.run("a", .push)
            try await fixture.noteMount("photos")
            try fixture.remove("a/photos/one")
            try await fixture.put("photos/two", MirrorFixture.ramp(8))
            for _ in 0..<2 {
                let run = try await push(fixture, rebinds: true)
                #expect((run.deleted, run.skipped) == (0, 1))
            }
            let objects = try await fixture.objects()
            #expect(objects.contains("photos/one") && objects.contains("photos/two"))
            // A question of its own, which a run asks that answers no other.
            try await fixture.run("a", .push) { $0.allowsRebinding = true }
            #expect(try await push(fixture, rebinds: true).deleted == 2)
        }

        /// The list of what was found damaged is not in the manifest only.
        @Test(arguments: [SyncDirection.push, .sync], [false, true])
        func `sends nothing that was found damaged`(
            _ direction: SyncDirection,
            isRenamed: Bool
        ) async throws {
            let fixture = try MirrorFixture()
            let good = MirrorFixture.ramp(3_000, 1)
            try fixture.write("a/one", good)
            for number in 1...9 { try fixture.write("a/\(number)", MirrorFixture.ramp(number)) }
            try await fixture.run("a", .push)
            try await fixture.damage("one")
            #expect(try await fixture.engine("a").verify(VerifyOptions()) { _ in }.damaged == 1)
            try fixture.write("a/.osssync/manifest.db", MirrorFixture.ramp(9_000))
            if isRenamed { try fixture.rename("a/one", to: "a/two") }
            for isDryRun in [true, false, false] {
                let run = try await fixture.run("a", direction) { options in
                    options.isDryRun = isDryRun
                    options.conflictPolicy = .local
                    options.deletesKnown = true
                }
                #expect(run.damaged == (isRenamed ? 2 : 1) && !run.isInStep, "\(run)")
                #expect(try await fixture.object("one") == good)
                #expect(try await !fixture.objects().contains("two"))
            }
            let repairing = VerifyOptions(repairs: true)
            let repair = try await fixture.engine("a").verify(repairing) { _ in }
            #expect(repair.repaired == 1 && fixture.content("a/one") == good)
            #expect(try await fixture.run("a", .pull).damaged == 0)
        }

        @Test func `looking keeps no run from beginning`() async throws {
            let fixture = try await damaged()
            _ = try await pull(fixture)
            let looking = try await MirrorSession.open(
                try fixture.engine("a").settings,
                locks: false,
                allowsRebinding: false
            )
            try fixture.write("a/5", MirrorFixture.ramp(5))
            #expect(try await fixture.run("a", .push).transferred >= 1)
            #expect(looking.lock == nil)
        }
    }
}
