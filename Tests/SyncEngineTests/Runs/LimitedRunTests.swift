import Foundation
import ManifestStore
import StorageServer
import SyncModel
import Testing

@testable import LocalStorage
@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    /// What lies at and beneath the paths of a run, and nothing else.
    @Suite("Runs limited to paths")
    struct LimitedRunTests {
        private static let names = ["d/f", "d/g/h", "d-x", "d0", "e/f", "top"]

        /// A mirror "a" of ``names``, all sent, with all kinds of changes since.
        private static func changed() async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            for (index, name) in names.enumerated() {
                try fixture.write("a/" + name, MirrorFixture.ramp(500 + index, index))
            }
            try await fixture.run("a", .push)
            for name in ["d", "e"] {
                try fixture.write("a/\(name)/local", MirrorFixture.ramp(40, 1))
                try await fixture.put("\(name)/remote", MirrorFixture.ramp(41, 2))
                try fixture.write("a/\(name)/f", MirrorFixture.ramp(600, 9))
            }
            return fixture
        }

        private static func rows(_ fixture: MirrorFixture) async throws -> [ManifestEntry] {
            let session = try await MirrorSession.open(
                try fixture.engine("a").settings,
                locks: false,
                allowsRebinding: false
            )
            return try await session.manifest.rows(.entries(in: .all), limit: 1_000)
        }

        private static func isInside(_ key: String) -> Bool { key == "d" || key.hasPrefix("d/") }

        @Test(arguments: [SyncDirection.pull, .push, .sync])
        func `change nothing beside them`(direction: SyncDirection) async throws {
            let fixture = try await Self.changed()
            try fixture.remove("a/d/g/h")
            try fixture.remove("a/d0")
            try await fixture.deleteObject("top")
            let (tree, objects) = (try fixture.tree("a"), try await fixture.objects())
            let rows = try await Self.rows(fixture)
            let summary = try await fixture.run("a", direction) { options in
                options.paths = ["d"]
                options.deletesKnown = true
                options.replacesLocalChanges = true
                options.deletionLimit = .percent(100)
            }
            #expect(summary.isComplete)
            #expect(summary.paths == ["d"])
            #expect(summary.transferred > 0)
            func beside(_ tree: [String: Data]) -> [String: Data] {
                tree.filter { !Self.isInside($0.key) }
            }
            #expect(beside(try fixture.tree("a")) == beside(tree))
            let listed = try await fixture.objects()
            #expect(listed.filter { !Self.isInside($0) } == objects.filter { !Self.isInside($0) })
            for key in ["e/f", "top"] where objects.contains(key) {
                #expect(try await fixture.object(key).count == (key == "top" ? 505 : 504))
            }
            func outside(_ rows: [ManifestEntry]) -> [ManifestEntry] {
                rows.filter { !Self.isInside($0.key.display) }
            }
            #expect(outside(try await Self.rows(fixture)) == outside(rows))
            #expect(listed.contains("d/remote"))
            #expect(listed.contains("d/local") == (direction != .pull))
            #expect(fixture.exists("a/d/remote") == (direction != .push))
            #expect(listed.contains("d/g/h") == (direction == .pull))
        }

        @Test func `list and ask for nothing beside them`() async throws {
            let fixture = try await Self.changed()
            let before = fixture.server.requestLog.count
            try await fixture.run("a", .sync) { $0.paths = ["d/", "./d/g", "top"] }
            let log = fixture.server.requestLog.dropFirst(before)
            let listed = log.filter { $0.operation == "ListObjectsV2" }
            #expect(listed.count == 4)
            for request in log where request.operation != "ListObjectsV2" {
                let key = try #require(request.key)
                #expect(key.hasPrefix("mirror/d/") || key == "mirror/top", "\(request)")
            }
        }

        @Test func `of one file count it alone`() async throws {
            let fixture = try await Self.changed()
            let pull = try await fixture.run("a", .pull) { $0.paths = ["d/remote"] }
            #expect(pull.transferred == 1)
            #expect(pull.isInStep)
            #expect(fixture.content("a/d/remote") == MirrorFixture.ramp(41, 2))
            #expect(!fixture.exists("a/e/remote"))
            // Of a single file that is gone nothing need be confirmed.
            try await fixture.deleteObject("d/remote")
            let delete = try await fixture.run("a", .pull) { options in
                options.paths = ["d/remote"]
                options.deletesKnown = true
            }
            #expect(delete.deleted == 1)
            #expect(!fixture.exists("a/d/remote"))
        }

        @Test func `take a rename across their border for something new`() async throws {
            let fixture = try await Self.changed()
            // Out of the paths and into them, on both sides.
            try FileManager.default.moveItem(
                atPath: fixture.directory("a/d0"),
                toPath: fixture.directory("a/d/in")
            )
            let push = try await fixture.run("a", .push) { options in
                options.paths = ["d"]
                options.deletesKnown = true
            }
            #expect(push.renamed == 1)
            #expect(try await fixture.objects().contains("d0"), "its own name stays")
            try await fixture.put("d/in2", MirrorFixture.ramp(505, 5))
            try await fixture.deleteObject("top")
            let pull = try await fixture.run("a", .pull) { options in
                options.paths = ["d/in2"]
                options.deletesKnown = true
            }
            #expect(pull.renamed == 1)
            #expect(fixture.content("a/d/in2") == MirrorFixture.ramp(505, 5))
            #expect(fixture.content("a/top") == MirrorFixture.ramp(505, 5))
        }

        @Test func `count deletions of what lies there`() async throws {
            let fixture = try MirrorFixture()
            for index in 0..<20 {
                try fixture.write("a/d/f\(index)", MirrorFixture.ramp(30, index))
                try fixture.write("a/e/f\(index)", MirrorFixture.ramp(31, index))
            }
            try await fixture.run("a", .push)
            for index in 0..<11 { try fixture.remove("a/d/f\(index)") }
            let error = await #expect(throws: TransferError.self) {
                try await fixture.run("a", .push) { options in
                    options.paths = ["d"]
                    options.deletesKnown = true
                }
            }
            #expect(error?.code == .refused)
            #expect(error?.message.contains("50% of the 20 recorded entries") == true)
            let whole = try await fixture.run("a", .push) { options in
                options.isDryRun = true
                options.deletesKnown = true
            }
            #expect(whole.deleted == 11, "of the whole mirror it is fewer than a half")
        }

        @Test(arguments: [true, false])
        func `refuse a directory that is empty or missing`(isThere: Bool) async throws {
            let fixture = try await Self.changed()
            try fixture.remove("a/d")
            if isThere { try fixture.makeDirectory("a/d") }
            let deleting: (inout RunOptions) -> Void = { options in
                // The others do not make up for it.
                options.paths = ["d", "e", "top"]
                options.deletesKnown = true
            }
            let error = await #expect(throws: TransferError.self) {
                try await fixture.run("a", .push, EventLog(), deleting)
            }
            #expect(error?.code == .refused)
            #expect(
                error?.message
                    == "the directory 'd' is missing or empty, and the manifest has 2 entries "
                    + "there; nothing was deleted. Check that its disk is mounted; if that is "
                    + "right, run again with --allow-empty."
            )
            #expect(try await fixture.objects().contains("d/f"))
            let allowed = try await fixture.run("a", .push) { options in
                deleting(&options)
                options.allowsEmpty = true
            }
            #expect(allowed.deleted == 2)
            #expect(try await fixture.objects().contains("d/remote"))
        }

        @Test func `refuse a listing that is empty`() async throws {
            let fixture = try await Self.changed()
            for key in ["d/f", "d/g/h", "d/remote"] { try await fixture.deleteObject(key) }
            let error = await #expect(throws: TransferError.self) {
                try await fixture.run("a", .pull) { options in
                    options.paths = ["d"]
                    options.deletesKnown = true
                }
            }
            #expect(error?.message.hasPrefix("the bucket has nothing beneath 'd'") == true)
            #expect(fixture.exists("a/d/g/h"))
        }

        @Test func `send a new directory, whatever the bucket lacks`() async throws {
            let fixture = try await Self.changed()
            for index in 0..<5 { try fixture.write("a/new/f\(index)", Data([UInt8(index)])) }
            for direction in [SyncDirection.sync, .pull] {
                let run = try await fixture.run("a", direction) { $0.paths = ["new"] }
                #expect(run.isInStep, "\(direction)")
            }
            #expect(try await fixture.objects().count { $0.hasPrefix("new/") } == 5)
        }

        @Test func `remove no directory above them`() async throws {
            let fixture = try await Self.changed()
            try await fixture.deleteObject("d/g/h")
            let pull = try await fixture.run("a", .pull) { options in
                options.paths = ["d/g/h"]
                options.deletesKnown = true
            }
            #expect(pull.deleted == 1)
            #expect(fixture.exists("a/d/g") && !fixture.exists("a/d/g/h"))
            try await fixture.put("d/g/h", Data([1]))
            try await fixture.run("a", .pull)
            try await fixture.deleteObject("d/g/h")
            try await fixture.run("a", .pull) { options in
                options.paths = ["d/g"]
                options.deletesKnown = true
                options.allowsEmpty = true
            }
            #expect(!fixture.exists("a/d/g") && fixture.exists("a/d"))
        }

        @Test func `leave the trash and what other keys were interrupted at`() async throws {
            let fixture = try await Self.changed()
            try await fixture.run("a", .pull)
            try await fixture.deleteObject("top")
            try await fixture.run("a", .pull) { $0.deletesKnown = true }
            try await fixture.inState { session in
                for key in ["d/x", "e/x"] as [ObjectKey] {
                    let name = try session.directory.partials.create(size: 8).name
                    try await session.manifest.record(
                        .beginDownload(
                            DownloadCheckpoint(
                                key: key,
                                size: 8,
                                etag: ETag(wire: "t"),
                                crc64: nil,
                                partialName: name,
                                rangeSize: 8,
                                ranges: []
                            )
                        )
                    )
                }
            }
            try await fixture.run("a", .pull) { options in
                options.paths = ["d"]
                options.trashDays = 0
            }
            let report = try await fixture.engine("a").status(options: .standard)
            #expect(report.interrupted.map(\.key) == ["e/x"])
            let trash = fixture.directory("a/.osssync/trash")
            let kept = try FileManager.default.subpathsOfDirectory(atPath: trash)
            #expect(kept.contains { $0.hasSuffix("/top") })
        }

        @Test func `are no success of the whole mirror`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/d/f", MirrorFixture.ramp(10))
            try await fixture.run("a", .push) { $0.paths = ["d"] }
            let limited = try await fixture.engine("a").status(options: .standard)
            #expect(limited.lastSuccess.isEmpty)
            try await fixture.run("a", .push)
            let whole = try await fixture.engine("a").status(options: .standard)
            #expect(Set(whole.lastSuccess.keys) == [.push])
        }
    }
}
