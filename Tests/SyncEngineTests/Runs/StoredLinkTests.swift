import Foundation
import Glibc
import LocalStorage
import ManifestStore
import SyncModel
import Testing

@testable import SyncEngine

extension EngineRuns {
    /// Symbolic links whose texts are objects.
    @Suite("Stored links")
    struct StoredLinkTests {
        let fixture: MirrorFixture

        init() throws {
            fixture = try MirrorFixture()
        }

        /// The text of a link; nil if there is none.
        private func target(_ path: String) -> String? {
            var bytes = [CChar](repeating: 0, count: 5_000)
            let path = fixture.folder.appendingPathComponent(path).path
            let count = unsafe readlink(path, &bytes, bytes.count)
            guard count >= 0 else { return nil }
            return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        private func text(_ key: String) async throws -> String {
            String(decoding: try await fixture.object(key), as: UTF8.self)
        }

        @discardableResult
        private func run(
            _ name: String,
            _ direction: SyncDirection,
            _ log: EventLog = EventLog(),
            _ change: (inout RunOptions) -> Void = { _ in }
        ) async throws -> RunSummary {
            try await fixture.run(name, direction, log) { options in
                options.links = .store
                options.deletionLimit = .percent(100)
                change(&options)
            }
        }

        private func expectNothingToDo(_ name: String) async throws {
            for direction in SyncDirection.allCases {
                let summary = try await run(name, direction) { $0.deletesKnown = true }
                #expect(summary.transferred == 0 && summary.deleted == 0, "\(direction)")
                #expect(summary.isComplete && summary.isInStep, "\(direction)")
            }
        }

        private func rows(_ name: String = "a") async throws -> [ManifestEntry] {
            let session = try await MirrorSession.open(
                try fixture.engine(name).settings,
                locks: false,
                allowsRebinding: false
            )
            return try await session.manifest.rows(.entries(in: .all), limit: 1_000)
        }

        /// "a" with links to a file, to a directory, out of the mirror and to nothing, in keys
        /// around those of files.
        private func store() async throws {
            for name in ["d/f", "l-x", "l.a", "l0", "l.rclonelinks"] {
                try fixture.write("a/" + name, MirrorFixture.ramp(100))
            }
            try fixture.link("a/l", to: "d/f")
            try fixture.link("a/m", to: "d")
            try fixture.link("a/d/up", to: "../..")
            try fixture.link("a/none", to: "/no/such/file")
            let summary = try await run("a", .push)
            #expect(summary.transferred == 9 && summary.isComplete && summary.isInStep)
        }

        @Test(arguments: [SyncDirection.pull, .sync])
        func `take the places of untouched copies of their objects`(
            direction: SyncDirection
        ) async throws {
            try await fixture.put("f", Data([1]))
            for name in ["l", "edited", "d/m"] {
                try await fixture.put(name + ".rclonelink", Data("f".utf8))
            }
            let log = EventLog()
            try await fixture.run("b", .pull, log)
            let hint = "3 objects are symbolic links (NAME.rclonelink); --links store creates them"
            #expect(log.warnings.contains(hint), "\(log.warnings)")
            let second = EventLog()
            try await fixture.run("b", .pull, second)
            #expect(second.warnings.isEmpty)
            try fixture.write("b/edited.rclonelink", Data("mine".utf8))
            let summary = try await run("b", direction) { $0.deletesKnown = true }
            #expect(summary.transferred == 2 && summary.deleted == 0, "\(summary)")
            #expect(target("b/l") == "f" && target("b/d/m") == "f" && target("b/edited") == nil)
            #expect(!fixture.exists("b/l.rclonelink") && !fixture.exists("b/d/m.rclonelink"))
            #expect(fixture.content("b/edited.rclonelink") == Data("mine".utf8))
            try fixture.remove("b/edited.rclonelink")
            try await run("b", .pull)
            try await expectNothingToDo("b")
        }

        private static let keys = [
            "d/f", "d/up.rclonelink", "l-x", "l.a", "l.rclonelink", "l.rclonelinks", "l0",
            "m.rclonelink", "none.rclonelink",
        ]

        @Test func `are objects with their texts, and links again elsewhere`() async throws {
            try await store()
            #expect(try await fixture.objects() == Self.keys)
            #expect(try await text("l.rclonelink") == "d/f")
            #expect(try await text("none.rclonelink") == "/no/such/file")
            try await expectNothingToDo("a")
            #expect(try await rows().filter(\.isLink).count == 4)
            let summary = try await run("b", .pull)
            #expect(summary.transferred == 9 && summary.isComplete && summary.isInStep)
            #expect(try await rows("b").filter(\.isLink).count == 4)
            #expect(target("b/l") == "d/f" && target("b/m") == "d")
            #expect(target("b/d/up") == "../.." && target("b/none") == "/no/such/file")
            #expect(!fixture.exists("b/l.rclonelink"))
            func modified(_ path: String) throws -> Date? {
                let path = fixture.folder.appendingPathComponent(path).path
                return try FileManager.default.attributesOfItem(atPath: path)[.modificationDate]
                    as? Date
            }
            #expect(try modified("b/none") == modified("a/none"))
            try await expectNothingToDo("b")
            // A directory of a key's name is beside the link.
            try fixture.write("a/m.rclonelink/f", MirrorFixture.ramp(100))
            #expect(try await run("a", .push).transferred == 1)
            try await expectNothingToDo("a")
        }

        @Test func `that change replace each other, and a conflict keeps both`() async throws {
            try await store()
            try await run("b", .pull)
            try fixture.remove("a/l")
            try fixture.link("a/l", to: "l0")
            #expect(try await run("a", .push).transferred == 1)
            #expect(try await text("l.rclonelink") == "l0")
            #expect(try await run("b", .pull).transferred == 1)
            #expect(target("b/l") == "l0")

            for (name, place) in [("a", "first"), ("b", "other")] {
                try fixture.remove("\(name)/none")
                try fixture.link("\(name)/none", to: place)
            }
            try await run("a", .push)
            let summary = try await run("b", .sync)
            #expect(summary.conflicts == 1)
            #expect(target("b/none") == "first")
            let kept = try FileManager.default.contentsOfDirectory(
                atPath: fixture.directory("b")
            ).filter { $0.hasPrefix("none.conflict-") }
            #expect(kept.count == 1)
            #expect(target("b/" + (kept.first ?? "")) == "other")
            try await run("b", .sync)
            try await expectNothingToDo("b")
        }

        @Test func `are deleted on the other side, and come back from the trash`() async throws {
            try await store()
            try fixture.remove("a/l")
            try await fixture.deleteObject("none.rclonelink")
            let summary = try await run("a", .sync) { $0.deletesKnown = true }
            #expect(summary.deleted == 2 && summary.isInStep)
            #expect(target("a/none") == nil)
            #expect(try await !fixture.objects().contains("l.rclonelink"))

            let settings = try fixture.engine("a").settings
            let trash = MirrorTrash(
                settings: LocalMirror(
                    directory: settings.directory,
                    stateDirectory: nil,
                    homeDirectory: nil,
                    environment: settings.environment
                )
            )
            let request = RestoreRequest(
                paths: ["none"],
                version: .latest,
                target: nil,
                replaces: false
            )
            let report = try await trash.restore(request) { _ in }
            #expect(report.restored == 1 && report.isComplete)
            #expect(target("a/none") == "/no/such/file")
            #expect(try await run("a", .push).transferred == 1)
            try await expectNothingToDo("a")
        }

        @Test(arguments: SyncDirection.allCases)
        func `are left as they are by a run that skips links`(direction: SyncDirection) async throws
        {
            try await store()
            try fixture.remove("a/l")
            try await fixture.deleteObject("none.rclonelink")
            // Not even a file of that name is one of theirs.
            try fixture.write("a/m.rclonelink.txt", Data("m".utf8))
            let (objects, rows) = (try await fixture.objects(), try await rows())
            let log = EventLog()
            let summary = try await fixture.run("a", direction, log) { options in
                (options.deletesKnown, options.deletesExcluded) = (true, true)
                options.deletionLimit = .percent(100)
            }
            #expect(summary.deleted == 0 && summary.conflicts == 0)
            #expect(summary.transferred == (direction == .pull ? 0 : 1))
            #expect(log.warnings.contains { $0.hasPrefix("4 symbolic links") })
            let added = direction == .pull ? [] : ["m.rclonelink.txt"]
            #expect(try await fixture.objects() == (objects + added).sorted())
            let left = try await self.rows().filter(\.isLink)
            #expect(left.map(\.key) == rows.filter(\.isLink).map(\.key))
            #expect(target("a/none") == "/no/such/file" && target("a/m") == "d")
            #expect(!fixture.exists("a/l.rclonelink"))
            // To the next one that stores them, what went meanwhile is not deleted.
            let later = try await run("a", .sync) { $0.deletesKnown = true }
            #expect(later.deleted == 0 && later.isInStep)
            #expect(target("a/l") == "d/f")
        }

        @Test func `of a restored directory are not fetched as files`() async throws {
            try await store()
            try fixture.copy("a", "b")
            try fixture.remove("b/l")
            try await fixture.run("b", .pull)
            #expect(!fixture.exists("b/l.rclonelink") && !fixture.exists("b/none.rclonelink"))
            #expect(target("b/l") == nil && target("b/none") == "/no/such/file")
        }

        @Test func `are named where a file has the name of a key`() async throws {
            try fixture.write("a/x.rclonelink", Data("f".utf8))
            try fixture.write("a/y.rclonelink", Data("f".utf8))
            try fixture.write("a/f", Data("f".utf8))
            // Without the option it is a file as any.
            #expect(try await fixture.run("a", .push).transferred == 3)
            try fixture.link("a/x", to: "f")
            let log = EventLog()
            for direction in SyncDirection.allCases {
                let summary = try await run("a", direction, log) { $0.deletesKnown = true }
                #expect(summary.transferred == 0 && summary.deleted == 0 && !summary.isComplete)
            }
            for name in ["x.rclonelink", "y.rclonelink"] {
                #expect(log.items.contains { $0.key == name && $0.state == .skipped })
                #expect(fixture.content("a/" + name) == Data("f".utf8))
            }
            #expect(try await text("x.rclonelink") == "f")
        }

        @Test func `give way to a file or a directory only as links`() async throws {
            try await store()
            try await run("b", .pull)
            try fixture.remove("a/l")
            try fixture.write("a/l", Data("file".utf8))
            try fixture.remove("a/none")
            try fixture.write("a/none/f", Data("f".utf8))
            let push = try await run("a", .push) { $0.deletesKnown = true }
            #expect(push.isInStep && push.deleted == 2)
            let log = EventLog()
            let first = try await run("b", .pull, log) { $0.deletesKnown = true }
            // The links go, and what was in their way is named.
            #expect(first.deleted == 2 && !first.isComplete)
            #expect(log.skipped("l")?.contains("symbolic link is at this path") == true)
            #expect(log.skipped("none/f")?.contains("symbolic link is at this path") == true)
            let second = try await run("b", .pull) { $0.deletesKnown = true }
            #expect(second.isInStep)
            #expect(fixture.content("b/l") == Data("file".utf8))
            try await expectNothingToDo("b")

            // And back.
            for name in ["l", "none"] {
                try fixture.remove("a/" + name)
                try fixture.link("a/" + name, to: "d/f")
            }
            let back = EventLog()
            #expect(try await run("a", .push, back) { $0.deletesKnown = true }.deleted == 1)
            // What is beneath a link is not deleted on its account.
            #expect(back.skipped("none/f") != nil)
            try await fixture.deleteObject("none/f")
            try await run("a", .push)
            let here = EventLog()
            #expect(try await run("b", .pull, here) { $0.deletesKnown = true }.deleted == 2)
            #expect(here.skipped("l.rclonelink")?.contains("a file has the name") == true)
            #expect(try await run("b", .pull) { $0.deletesKnown = true }.isInStep)
            #expect(target("b/l") == "d/f" && target("b/none") == "d/f")
        }

        @Test func `lead no read and no write out of the mirror`() async throws {
            try fixture.write("outside/secret", Data("secret".utf8))
            try fixture.makeDirectory("a")
            try await fixture.put("l.rclonelink", Data("../outside".utf8))
            try await fixture.put("l/secret", Data("hostile".utf8))
            try await fixture.put("l/new", Data("hostile".utf8))
            for _ in 1...3 {
                let summary = try await run("a", .pull) { $0.replacesLocalChanges = true }
                #expect(!summary.isComplete)
            }
            try await run("a", .push)
            #expect(try fixture.tree("outside") == ["secret": Data("secret".utf8)])
            #expect(try await text("l/secret") == "hostile")
        }

        @Test func `have names as files have`() async throws {
            let names = [
                ".rclonelink", "..rclonelink", "...rclonelink", "d/.rclonelink", "d/...rclonelink",
                ".osssyncignore.rclonelink",
            ]
            for name in names { try await fixture.put(name, Data("../x".utf8)) }
            try await fixture.put(".osssync.rclonelink", Data("../x".utf8))
            try await fixture.put("kept", Data("k".utf8))
            let log = EventLog()
            let summary = try await run("a", .pull, log)
            #expect(summary.transferred == 1 && summary.skipped == names.count)
            for name in names { #expect(log.skipped(name) != nil, "\(name)") }
            #expect(try fixture.tree("a").keys.sorted() == ["kept"])
            // As long as a name may be, and a key's segment need not.
            let long = String(repeating: "n", count: 255)
            try fixture.link("a/" + long, to: "kept")
            #expect(try await run("a", .push).transferred == 1)
            try await run("b", .pull)
            #expect(target("b/" + long) == "kept")
        }

        @Test func `are not made of what no link can say`() async throws {
            try await fixture.put("empty.rclonelink", Data())
            try await fixture.put("long.rclonelink", MirrorFixture.ramp(4_096, 1))
            try await fixture.put("nul.rclonelink", Data([0x61, 0, 0x62]))
            try await fixture.put("most.rclonelink", Data(repeating: 0x61, count: 4_095))
            let log = EventLog()
            let summary = try await run("a", .pull, log)
            #expect(summary.transferred == 1 && summary.skipped == 2 && summary.failed == 1)
            #expect(log.skipped("long.rclonelink")?.contains("4096 bytes") == true)
            #expect(target("a/most")?.utf8.count == 4_095)
            #expect(target("a/empty") == nil && target("a/nul") == nil)
        }

        @Test(arguments: ["symlinkat", "utimensat", "unlinkat", "renameat2", "syncfs"])
        func `are made by the next run where one was killed`(call: String) async throws {
            try await store()
            for number in 1...3 {
                let name = "b\(number)"
                let faults = SystemCallFaults(.failFromHereOn(errno: EIO), at: number, of: [call])
                let engine = try fixture.engine(
                    name,
                    calls: SystemCalls(usesOpenat2: true, faults: faults)
                )
                var options = RunOptions.standard
                options.links = .store
                _ = try? await engine.run(.pull, options: options, onEvent: { _ in })
                let next = try await run(name, .pull)
                #expect(next.isComplete)
                #expect(target(name + "/l") == "d/f" && target(name + "/none") == "/no/such/file")
                try await expectNothingToDo(name)
                let partials = fixture.directory(name) + "/.osssync/partial"
                #expect(try FileManager.default.contentsOfDirectory(atPath: partials).isEmpty)
            }
        }

        @Test func `are verified by their texts`() async throws {
            try await store()
            var options = VerifyOptions()
            options.checksRemote = true
            let report = try await fixture.engine("a").verify(options) { _ in }
            #expect(report.verified == 9 && report.missing == 0 && report.damaged == 0)
            #expect(try await run("a", .push) { $0.comparesContent = true }.isInStep)
        }

        @Test func `are not the files that were mirrored under their keys`() async throws {
            try await fixture.put("x.rclonelink", Data("target".utf8))
            try await fixture.put("y", Data("y".utf8))
            try await fixture.run("b", .pull)
            try await fixture.deleteObject("x.rclonelink")
            try fixture.remove("b/x.rclonelink")
            try fixture.link("b/x", to: "target")
            let pull = try await run("b", .pull) { $0.deletesKnown = true }
            #expect(pull.deleted == 0)
            #expect(target("b/x") == "target")
        }

        @Test func `belong to the path of a limited run`() async throws {
            try await store()
            for name in ["l", "none"] {
                try fixture.remove("a/" + name)
                try fixture.link("a/" + name, to: "new")
            }
            #expect(try await run("a", .push) { $0.paths = ["l"] }.transferred == 1)
            #expect(try await text("l.rclonelink") == "new")
            #expect(try await text("none.rclonelink") == "/no/such/file")
            try fixture.makeDirectory("b")
            #expect(try await run("b", .pull) { $0.paths = ["none"] }.transferred == 1)
            #expect(target("b/none") == "/no/such/file")
        }
    }
}
