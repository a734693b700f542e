import Foundation
import ManifestStore
import ObjectStorage
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    /// What the state says of the whole mirror is not changed by a run that sees a part of it.
    @Suite("The state after runs limited to paths")
    struct LimitedStateTests {
        private static func mirror(
            _ names: [String] = ["d/f", "d/g", "e/f", "e/g", "top"]
        ) async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            for (index, name) in names.enumerated() {
                try fixture.write("a/" + name, MirrorFixture.ramp(700 + index, index))
            }
            try await fixture.run("a", .push)
            return fixture
        }

        private static func deleting(_ paths: String...) -> (inout RunOptions) -> Void {
            { options in
                options.paths = paths
                options.deletesKnown = true
                options.deletionLimit = .percent(100)
            }
        }

        private static func session(_ fixture: MirrorFixture) async throws -> MirrorSession {
            try await MirrorSession.open(
                try fixture.engine("a").settings,
                locks: false,
                allowsRebinding: false
            )
        }

        private static func refusal(
            _ fixture: MirrorFixture,
            _ direction: SyncDirection,
            _ change: (inout RunOptions) -> Void
        ) async -> TransferError? {
            await #expect(throws: TransferError.self) {
                try await fixture.run("a", direction, EventLog(), change)
            }
        }

        @Test func `a restored directory stays unknown until a run has seen all of it`()
            async throws
        {
            let fixture = try await Self.mirror()
            try fixture.copy("a", "backup")
            try fixture.write("a/e/f", MirrorFixture.ramp(900, 8))
            try await fixture.run("a", .push)
            try fixture.remove("a")
            try fixture.copy("backup", "a")
            // The directory is older than its objects, the state as well.
            try fixture.remove("a/d/g")
            try fixture.remove("a/e/g")
            for _ in 0..<2 {
                let push = try await fixture.run("a", .push, EventLog(), Self.deleting("d"))
                #expect((push.deleted, push.onlyRemote) == (0, 1))
            }
            #expect(try await !Self.session(fixture).known.isSame)
            #expect(try await fixture.objects().count == 5)
            #expect(try await fixture.object("e/f") == MirrorFixture.ramp(900, 8))
            try await fixture.run("a", .pull) { $0.conflictPolicy = .keepBoth }
            #expect(try await Self.session(fixture).known.isSame)
        }

        @Test func `a mount elsewhere that is missing holds nothing back and stays recorded`()
            async throws
        {
            let fixture = try await Self.mirror()
            try await fixture.noteMount("e")
            try fixture.remove("a/d/g")
            let push = try await fixture.run("a", .push, EventLog(), Self.deleting("d"))
            #expect((push.deleted, push.skipped) == (1, 0))
            #expect(push.isInStep)
            #expect(try await Self.session(fixture).known.unmounted == [[UInt8]("e".utf8)])
            // One that a path lies in hides the path.
            try fixture.remove("a/e/f")
            let hidden = try await fixture.run("a", .push, EventLog(), Self.deleting("e/f"))
            #expect((hidden.deleted, hidden.skipped) == (0, 1))
            #expect(try await fixture.objects().contains("e/f"))
        }

        @Test func `the names of cut-off runs wait for a run of the whole mirror`() async throws {
            let fixture = try await Self.mirror()
            let name = "abcdefghijkl"
            try await fixture.inState { session in
                try await session.manifest.setSetting("uploads.unrecorded-runs", name)
            }
            try await fixture.run("a", .push) { $0.paths = ["d"] }
            #expect(try await Self.session(fixture).cutOffRuns == [name])
            try await fixture.run("a", .push)
            #expect(try await Self.session(fixture).cutOffRuns.isEmpty)
        }

        @Test func `a limited run is not asked what other patterns exclude`() async throws {
            let fixture = try await Self.mirror()
            func excluding(_ options: inout RunOptions) { try? options.filter.exclude("e/f") }
            let log = EventLog()
            try await fixture.run("a", .push, log) { options in
                options.paths = ["d"]
                excluding(&options)
            }
            #expect(log.warnings.isEmpty)
            try await fixture.run("a", .push, log, excluding)
            #expect(log.warnings.contains { $0.contains("filters have changed") })
        }

        @Test(arguments: [SyncDirection.push, .sync, .pull])
        func `nothing is deleted by rules that the bucket has others of`(
            direction: SyncDirection
        ) async throws {
            let fixture = try await Self.mirror()
            try fixture.write("a/.osssyncignore", Data("*.x\n".utf8))
            try await fixture.run("a", .push)
            try await fixture.put(".osssyncignore", Data("*.x\nd/\n".utf8))
            if direction == .pull {
                try await fixture.deleteObject("d/f")
            } else {
                try fixture.remove("a/d/f")
            }
            func run(_ paths: [String]) async throws -> RunSummary {
                try await fixture.run("a", direction) { options in
                    (options.paths, options.deletesKnown) = (paths, true)
                }
            }
            let limited = try await run(["d"])
            #expect(limited.deleted == 0 && !limited.isComplete)
            #expect(limited.deletionsHeldBack?.contains("'.osssyncignore'") == true)
            #expect(fixture.exists("a/d/f") == (direction == .pull))
            #expect(try await fixture.objects().contains("d/f") == (direction != .pull))
        }

        @Test func `the ignore file rules beneath paths, too`() async throws {
            let fixture = try await Self.mirror()
            try fixture.write("a/.osssyncignore", Data("*.tmp\n".utf8))
            try fixture.write("a/d/x.tmp", Data([1]))
            try fixture.write("a/d/x", Data([1]))
            let push = try await fixture.run("a", .push) { $0.paths = ["d"] }
            #expect((push.transferred, push.excluded) == (1, 1))
            #expect(try await !fixture.objects().contains(".osssyncignore"))
        }

        @Test func `an unusable ignore file is fetched only by a run that it is of`() async throws {
            let fixture = try await Self.mirror()
            try fixture.write("a/.osssyncignore", Data("*.tmp\n".utf8))
            try await fixture.run("a", .push)
            // As an earlier version had fetched it, which took it for usable.
            let bad: [UInt8] = [0x61, 0]
            try await fixture.inState { session in
                let row = try #require(try await session.manifest.entry(IgnoreFile.key))
                let received = ManifestEntry(
                    key: row.key,
                    size: 2,
                    etag: row.etag,
                    crc64: CRC64(of: bad),
                    lastModified: row.lastModified,
                    storageClass: row.storageClass,
                    localModified: row.localModified,
                    inode: row.inode
                )
                try await session.manifest.record([.upsert(received)])
            }
            try fixture.write("a/.osssyncignore", Data(bad))
            try await fixture.put(".osssyncignore", Data("*.bak\n".utf8))
            let other = await Self.refusal(fixture, .pull) { $0.paths = ["d"] }
            #expect(other?.code == .configuration)
            #expect(fixture.content("a/.osssyncignore") == Data(bad))
            try await fixture.run("a", .pull) { $0.paths = [".osssyncignore"] }
            #expect(fixture.content("a/.osssyncignore") == Data("*.bak\n".utf8))
        }

        @Test func `what a killed run emptied elsewhere is left to a later run`() async throws {
            let fixture = try await Self.mirror()
            let keys: [ObjectKey] = ["d/f", "d/g", "e/f", "e/g"]
            try await fixture.inState { session in
                let manifest = session.manifest
                let run = try await manifest.beginRun(
                    direction: "pull",
                    started: MirrorFixture.now(),
                    remote: "r"
                )
                let deletions = keys.map { key in
                    PlannedDeletion(key: key, side: .local, size: 1, etag: nil, identity: nil)
                }
                try await manifest.record(deletions.map { .planDeletion($0, run) })
                try await manifest.record(keys.map { .forget($0) })
            }
            for key in keys {
                try fixture.remove("a/" + key.display)
                try await fixture.deleteObject(key.display)
            }
            try await fixture.run("a", .pull) { $0.paths = ["d", "top"] }
            #expect(!fixture.exists("a/d") && fixture.exists("a/e"))
            try await fixture.run("a", .pull)
            #expect(!fixture.exists("a/e"))
        }

        @Test func `an object in the place of a parent is no obstacle, a file is one`()
            async throws
        {
            let fixture = try await Self.mirror(["top"])
            try await fixture.put("x", MirrorFixture.ramp(5))
            try await fixture.put("x/y", MirrorFixture.ramp(6))
            let pull = try await fixture.run("a", .pull) { $0.paths = ["x/y"] }
            #expect(pull.isInStep)
            #expect(fixture.content("a/x/y") == MirrorFixture.ramp(6))
            try fixture.remove("a/x")
            try fixture.write("a/x", MirrorFixture.ramp(7))
            let error = await Self.refusal(fixture, .pull, Self.deleting("x/y"))
            #expect(error?.code == .configuration)
            #expect(
                error?.message == "'x/y' cannot be reached: 'x' is a file here, not a directory; "
                    + "nothing was transferred. Move it away, or specify 'x' itself"
            )
            #expect(fixture.content("a/x") == MirrorFixture.ramp(7))
        }

        @Test(arguments: [
            ("../b", "is not a path beneath DIR"), ("d/../e", "is not a path beneath DIR"),
            ("/d", "it must be relative to DIR"), ("d//f", "is not a path beneath DIR"),
            ("..", "is not a path beneath DIR"), ("", "is not a path beneath DIR"),
            (".osssync", "reserved"), ("d/.osssync/x", "reserved"), ("link/f", "a symbolic link"),
            ("link/../link/f", "is not a path beneath DIR"),
            ("nowhere", "exists neither in the directory nor in the bucket"),
            ("d/fo", "exists neither in the directory nor in the bucket"),
            ("to", "exists neither in the directory nor in the bucket"),
        ])
        func `a path that leads nowhere is refused`(path: String, reason: String) async throws {
            let fixture = try await Self.mirror()
            try fixture.link("a/link", to: "d")
            let runs = try await fixture.engine("a").history.runs(limit: 9).count
            for direction in [SyncDirection.pull, .push, .sync] {
                let error = await Self.refusal(fixture, direction) { $0.paths = ["d/f", path] }
                #expect(error?.code == .configuration)
                #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
            }
            let status = await #expect(throws: TransferError.self) {
                try await fixture.engine("a").status(
                    options: MirrorFixture.options { $0.paths = [path] }
                )
            }
            #expect(status?.message.contains(reason) == true)
            #expect(try await fixture.engine("a").history.runs(limit: 9).count == runs)
        }

        @Test(arguments: [".", "./"])
        func `a point means all of it`(path: String) async throws {
            let fixture = try await Self.mirror()
            try fixture.remove("a/d/f")
            let run = try await fixture.run("a", .pull) { $0.paths = ["d/g", path] }
            #expect(run.transferred == 1 && run.paths.isEmpty && run.isInStep, "\(run)")
        }

        @Test func `a path that one side or the manifest has is one`() async throws {
            let fixture = try await Self.mirror()
            try await fixture.put("there", Data([1]))
            try await fixture.put("dir/there", Data([1]))
            try await fixture.put("dir-x", Data([1]))
            try fixture.write("a/here", Data([1]))
            try fixture.remove("a/d")
            for key in ["d/f", "d/g", "top"] { try await fixture.deleteObject(key) }
            try fixture.remove("a/top")
            for path in ["there", "dir", "dir/there/", "here", "d", "top"] {
                let dry = try await fixture.run("a", .sync) { options in
                    options.paths = [path]
                    options.isDryRun = true
                    options.allowsEmpty = true
                }
                #expect(dry.isComplete, "\(path)")
            }
        }

        @Test func `nothing of the whole mirror can be confirmed`() async throws {
            let fixture = try await Self.mirror()
            let error = await Self.refusal(fixture, .pull) { options in
                options.paths = ["d"]
                options.allowsRebinding = true
            }
            #expect(error?.code == .configuration)
        }

        @Test func `the log and status say what they were limited to`() async throws {
            let fixture = try await Self.mirror()
            try fixture.write("a/d/new", Data([1]))
            try fixture.write("a/e/new", Data([1]))
            let status = try await fixture.engine("a").status(
                options: MirrorFixture.options { $0.paths = ["d", "d/new", "top"] }
            )
            #expect(status.paths == ["d", "top"])
            #expect((status.push.transfers, status.differences.onlyLocal) == (1, 1))
            #expect(status.recorded == 3)
            try await fixture.run("a", .push) { $0.paths = ["top", "d"] }
            let runs = try await fixture.engine("a").history.runs(limit: 9)
            #expect(runs.map(\.paths) == [["d", "top"], []])
        }

        @Test func `markers without their slashes keep their order beside other paths`()
            async throws
        {
            let fixture = try await Self.mirror(["p/f", "p-q/f", "p-q/d/f", "other/f"])
            try await fixture.inState { session in
                await ShortenedMarkers.record(true, in: session.manifest)
            }
            try await fixture.run("a", .pull)
            let store = try fixture.store(StoreObserver())
            for key in ["p", "p-q", "p-q/d"] {
                var request = PutRequest(key: ObjectKey("mirror/" + key), storageClass: nil)
                request.contentType = ShortenedMarkers.contentType
                _ = try await store.put(request, body: .bytes([])) { _ in }
            }
            let pull = try await fixture.run("a", .pull) { $0.paths = ["p-q", "p"] }
            #expect(pull.isComplete)
            #expect(pull.isInStep)
        }
    }
}
