import Foundation
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    /// Keys that fit no file name.
    @Suite("Escaped names")
    struct EscapedNameTests {
        let fixture: MirrorFixture

        init() throws {
            fixture = try MirrorFixture()
        }

        /// Keys around those of files, and what they have as names.
        private static let names = [
            "a//b.txt": "a%2F%2Fb.txt",
            "a/../up": "a%2F..%2Fup",
            "/top": "%2Ftop",
            "d//": "d%2F%2F",
            "z/\(String(repeating: "x", count: 300))": "z%2F\(String(repeating: "x", count: 234))%/"
                + String(repeating: "x", count: 66),
        ]
        private static let ordinary = ["a", "d/f", "y/g"]

        private static func place(_ key: String) -> String {
            ".osssync-names/" + (names[key] ?? "")
        }

        private static func data(_ key: String) -> Data { Data(("content of " + key).utf8) }

        private func fill() async throws {
            for key in Self.names.keys { try await fixture.put(key, Self.data(key)) }
            for key in Self.ordinary { try await fixture.put(key, Self.data(key)) }
        }

        @discardableResult
        private func run(
            _ name: String,
            _ direction: SyncDirection,
            _ log: EventLog = EventLog(),
            _ change: (inout RunOptions) -> Void = { _ in }
        ) async throws -> RunSummary {
            try await fixture.run(name, direction, log) { options in
                options.names = .escape
                options.deletionLimit = .percent(100)
                change(&options)
            }
        }

        private func expectNothingToDo(_ name: String) async throws {
            for direction in SyncDirection.allCases {
                let summary = try await run(name, direction) {
                    ($0.deletesKnown, $0.deletesExtra) = (true, direction != .sync)
                }
                #expect(summary.transferred == 0 && summary.deleted == 0, "\(direction)")
                #expect(summary.isComplete && summary.isInStep, "\(direction)")
            }
        }

        @Test func `keep no directory that their keys lie beneath`() async throws {
            try await fixture.put("a//b.txt", Self.data("a//b.txt"))
            try await run("a", .pull)
            try await fixture.put("a", Self.data("a"))
            try fixture.makeDirectory("a/a")
            let pull = try await run("a", .pull) { $0.deletesExtra = true }
            #expect(pull.deleted == 1 && pull.transferred == 1 && pull.isComplete)
            #expect(fixture.content("a/a") == Self.data("a"))
            #expect(fixture.content("a/" + Self.place("a//b.txt")) == Self.data("a//b.txt"))
        }

        @Test func `hold objects that are pulled, and go back to the same keys`() async throws {
            try await fill()
            let summary = try await run("a", .pull)
            #expect(summary.transferred == 8 && summary.isComplete && summary.isInStep)
            for key in Self.names.keys {
                #expect(fixture.content("a/" + Self.place(key)) == Self.data(key), "\(key)")
            }
            try await expectNothingToDo("a")
            // The directories of the keys, which may be private, do not enclose the files.
            #expect(try fixture.mode("a/.osssync-names") == 0o700)

            try fixture.write("a/" + Self.place("a//b.txt"), Data("edited here".utf8))
            try await fixture.put("/top", Data("edited there".utf8))
            let both = try await run("a", .sync)
            #expect(both.transferred == 2 && both.isInStep)
            #expect(try await fixture.object("a//b.txt") == Data("edited here".utf8))
            #expect(fixture.content("a/" + Self.place("/top")) == Data("edited there".utf8))
            // One that another machine never had.
            try fixture.write("a/.osssync-names/n%2F%2Fm", Data("new".utf8))
            #expect(try await run("a", .push).transferred == 1)
            #expect(try await fixture.object("n//m") == Data("new".utf8))
            try await expectNothingToDo("a")
        }

        @Test func `are deleted with what they stand for, and come back`() async throws {
            try await fill()
            try await run("a", .pull)
            try fixture.remove("a/" + Self.place("a//b.txt"))
            try await fixture.deleteObject("/top")
            try await fixture.deleteObject("d//")
            let summary = try await run("a", .sync) { $0.deletesKnown = true }
            #expect(summary.deleted == 3 && summary.isInStep)
            #expect(!fixture.exists("a/" + Self.place("/top")))
            #expect(!fixture.exists("a/" + Self.place("d//")))
            #expect(try await !fixture.objects().contains("a//b.txt"))

            let trash = try fixture.localMirror("a").trash
            let request = RestoreRequest(
                paths: [Self.place("/top")],
                version: .latest,
                target: nil,
                replaces: false
            )
            let report = try await trash.restore(request) { _ in }
            #expect(report.restored == 1 && report.isComplete)
            #expect(fixture.content("a/" + Self.place("/top")) == Self.data("/top"))
            #expect(try await run("a", .push).transferred == 1)
            #expect(try await fixture.object("/top") == Self.data("/top"))
            for key in Self.names.keys where key != "/top" {
                try? await fixture.deleteObject(key)
            }
            try await run("a", .pull) { $0.deletesKnown = true }
            try await fixture.deleteObject("/top")
            try await run("a", .pull) { $0.deletesKnown = true }
            #expect(!fixture.exists("a/.osssync-names"))
            try await expectNothingToDo("a")
        }

        @Test(arguments: SyncDirection.allCases)
        func `are left as they are by a run without them`(direction: SyncDirection) async throws {
            try await fill()
            try await run("a", .pull)
            try fixture.remove("a/" + Self.place("a//b.txt"))
            try await fixture.deleteObject("/top")
            let objects = try await fixture.objects()
            let log = EventLog()
            let summary = try await fixture.run("a", direction, log) { options in
                (options.deletesKnown, options.deletesExcluded) = (true, true)
                options.deletionLimit = .percent(100)
            }
            #expect(summary.deleted == 0 && summary.transferred == 0 && summary.conflicts == 0)
            #expect(log.warnings.contains { $0.hasPrefix("5 objects") })
            #expect(try await fixture.objects() == objects)
            #expect(fixture.content("a/" + Self.place("/top")) == Self.data("/top"))
            let later = try await run("a", .sync) { $0.deletesKnown = true }
            #expect(later.deleted == 0 && later.isInStep)
        }

        @Test func `are found again without a manifest`() async throws {
            try await fill()
            try await run("a", .pull)
            for name in ["manifest.db", "manifest.db-wal", "manifest.db-shm"]
            where fixture.exists("a/.osssync/" + name) {
                try fixture.remove("a/.osssync/" + name)
            }
            let summary = try await run("a", .sync)
            #expect(summary.transferred == 0 && summary.adopted == 8 && summary.isInStep)
        }

        @Test func `are named by a run without them that has no record of them`() async throws {
            try fixture.write("a/f", Data([1]))
            try fixture.write("a/.osssync-names/x%2F%2Fy", Data([2]))
            for _ in 0..<2 {
                let log = EventLog()
                let summary = try await fixture.run("a", .push, log)
                #expect(summary.notMirrored == 1 && !summary.isInStep, "\(summary)")
                #expect(log.skipped(".osssync-names")?.contains("--names escape") == true)
                let report = try await fixture.engine("a").status(options: MirrorFixture.options())
                #expect(report.differences.notMirrored == 1 && !report.isInStep)
            }
            #expect(try await run("a", .push).isInStep)
            #expect(try await fixture.objects() == ["f", "x//y"])
        }

        @Test func `of versions that are kept in conflicts are keys of their own`() async throws {
            try await fill()
            try await run("a", .pull)
            for key in Self.names.keys {
                try fixture.write("a/" + Self.place(key), Data("mine".utf8))
                try await fixture.put(key, Data("theirs, longer".utf8))
            }
            let summary = try await run("a", .sync)
            #expect(summary.conflicts == 5)
            try await run("a", .sync)
            try await expectNothingToDo("a")
            let kept = try await fixture.objects().filter { $0.contains(".conflict-") }
            #expect(kept.count == 5)
            for key in Self.names.keys {
                let place = "a/" + Self.place(key)
                #expect(fixture.content(place) == Data("theirs, longer".utf8))
            }
        }

        @Test func `can be the paths of a run, and follow the filters of keys`() async throws {
            try await fill()
            let one = try await run("a", .pull) { $0.paths = ["y", Self.place("a//b.txt")] }
            #expect(one.transferred == 2)
            #expect(fixture.content("a/" + Self.place("a//b.txt")) == Self.data("a//b.txt"))
            let beneath = try await run("a", .pull) { $0.paths = ["d"] }
            #expect(beneath.transferred == 2)
            #expect(fixture.exists("a/" + Self.place("d//")))
            var filter = FileFilter()
            try filter.exclude("z/")
            let rest = try await run("a", .pull) { $0.filter = filter }
            #expect(rest.isComplete && fixture.exists("a/" + Self.place("/top")))
            #expect(!fixture.exists("a/.osssync-names/z%2F" + String(repeating: "x", count: 234)))
        }

        @Test func `that are no keys are named and left`() async throws {
            try await fill()
            try await run("a", .pull)
            // The last four are names of keys that have files of their own, or none.
            let names = [
                "Upper", "dir/file", "a", "4913", "new%2F", "%2Eosssync%2F%2Fx",
            ]
            for name in names { try fixture.write("a/.osssync-names/" + name, Data("x".utf8)) }
            for direction in SyncDirection.allCases {
                let summary = try await run("a", direction) { $0.deletesKnown = true }
                #expect(summary.deleted == 0 && summary.transferred == 0, "\(direction)")
                #expect(summary.isComplete && summary.notMirrored == 6, "\(direction)")
            }
            for name in names { #expect(fixture.exists("a/.osssync-names/" + name)) }
            #expect(throws: TransferError.self) { try LocalMirror.path(".osssync-names/a") }
        }

        @Test func `behind links are neither read, written nor deleted`() async throws {
            try await fill()
            try await run("a", .pull)
            let place = "a/" + Self.place("a//b.txt")
            try fixture.remove(place)
            try fixture.link(place, to: "/etc/passwd")
            try await fixture.put("a//b.txt", Data("newer".utf8))
            for direction in SyncDirection.allCases {
                let summary = try await run("a", direction) { $0.deletesKnown = true }
                #expect(summary.deleted == 0 && summary.transferred == 0, "\(direction)")
            }
            #expect(try await fixture.object("a//b.txt") == Data("newer".utf8))
        }

        @Test func `of damaged files are repaired`() async throws {
            try await fill()
            try await run("a", .pull)
            let place = "a/" + Self.place("a//b.txt")
            try await fixture.damage("a//b.txt", at: place)
            let report = try await fixture.engine("a").verify(VerifyOptions(repairs: true)) { _ in }
            #expect(report.damaged == 1 && report.repaired == 1)
            #expect(fixture.content(place) == Self.data("a//b.txt"))
        }

        @Test func `of conflicts stay among themselves, where a file is above their keys`()
            async throws
        {
            try await fixture.put("x", Self.data("x"))
            try await fixture.put("x/..", Self.data("x/.."))
            try await run("a", .pull)
            try fixture.write("a/.osssync-names/x%2F.%2E", Data("mine".utf8))
            try await fixture.put("x/..", Data("theirs, longer".utf8))
            let summary = try await run("a", .sync)
            #expect(summary.conflicts == 1 && summary.failed == 0)
            try await run("a", .sync)
            try await expectNothingToDo("a")
            #expect(try await fixture.objects().count == 3)
        }

        @Test func `are told as such where they are skipped`() async throws {
            try await fill()
            let log = EventLog()
            let summary = try await fixture.run("a", .pull, log)
            #expect(summary.transferred == 3 && !summary.isComplete)
            #expect(log.skipped("a//b.txt")?.contains("--names escape") == true)
            #expect(!fixture.exists("a/.osssync-names"))
        }
    }
}
