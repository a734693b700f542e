import Foundation
import Glibc
import ManifestStore
import SyncModel
import Testing

@testable import SyncEngine

extension EngineRuns {
    /// What one side loses while filters leave it out is unknown, and not deleted.
    @Suite("What vanished while it was left out")
    struct LeftOutRowsTests {
        struct Case: Sendable, CustomTestStringConvertible {
            let testDescription: String
            /// Leaves out "films/a" and "films/b".
            let leavingOut: @Sendable (inout RunOptions) -> Void
        }

        private static func patterns(_ patterns: [String]) -> @Sendable (inout RunOptions) -> Void {
            { options in
                for pattern in patterns { try? options.filter.exclude(pattern) }
            }
        }

        static let cases = [
            Case(testDescription: "a directory", leavingOut: patterns(["/films/"])),
            Case(testDescription: "files", leavingOut: patterns(["/films/*"])),
            Case(testDescription: "small sizes") { $0.filter.bounds.minimumSize = 1_000 },
            Case(testDescription: "large sizes") { $0.filter.bounds.maximumSize = 5 },
            Case(testDescription: "young files") { $0.filter.bounds.minimumAge = .seconds(86_400) },
            Case(testDescription: "old files") { $0.filter.bounds.maximumAge = .zero },
        ]

        private static let names = ["films/a", "films/b", "other/c", "other/d"]

        private func mirror() async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            for name in Self.names {
                try fixture.write("a/" + name, MirrorFixture.ramp(100))
            }
            try await fixture.run("a", .push)
            return fixture
        }

        private static func deleting(_ options: inout RunOptions) {
            (options.deletesKnown, options.deletionLimit) = (true, .percent(100))
        }

        @Test(arguments: SyncDirection.allCases)
        func `and is asked for by its path is not taken for a disk that is not mounted`(
            direction: SyncDirection
        ) async throws {
            let fixture = try await mirror()
            try fixture.remove("a/films")
            try await fixture.run("a", .push) { options in
                Self.deleting(&options)
                try? options.filter.exclude("/films/")
            }
            let summary = try await fixture.run("a", direction) { options in
                Self.deleting(&options)
                options.paths = ["films"]
            }
            #expect(summary.isComplete && summary.deleted == 0, "\(summary)")
            #expect(fixture.exists("a/films/a") == (direction != .push))
            #expect(try await fixture.objects() == Self.names)
        }

        @Test(arguments: cases, SyncDirection.allCases)
        func `here is fetched by a pull or sync, and kept by a push`(
            one: Case,
            direction: SyncDirection
        ) async throws {
            let fixture = try await mirror()
            try fixture.remove("a/films")
            try await fixture.run("a", .push) { options in
                Self.deleting(&options)
                one.leavingOut(&options)
            }
            let status = try await fixture.engine("a").status(options: MirrorFixture.options())
            #expect(status.differences.onlyRemote == 2 && status.differences.deletedHere == 0)
            for extra in [true, false] {
                let summary = try await fixture.run("a", direction) { options in
                    Self.deleting(&options)
                    if direction == .push { options.deletesExtra = extra }
                }
                #expect(summary.isComplete && summary.deleted == 0, "\(summary)")
                if direction == .push { #expect(summary.onlyRemote == 2 && !summary.isInStep) }
            }
            #expect(try await fixture.objects() == Self.names)
            #expect(fixture.exists("a/films/a") == (direction != .push))
            guard direction == .push else { return }
            // They are like what was never recorded from then on.
            let summary = try await fixture.run("a", .push) { options in
                Self.deleting(&options)
                options.deletesExtra = true
            }
            #expect(summary.deleted == 2 && summary.isInStep, "\(summary)")
        }

        @Test(arguments: cases, SyncDirection.allCases)
        func `there is kept by a pull, and sent by a push or sync`(
            one: Case,
            direction: SyncDirection
        ) async throws {
            let fixture = try await mirror()
            for name in Self.names.prefix(2) { try await fixture.deleteObject(name) }
            try await fixture.run("a", .pull) { options in
                Self.deleting(&options)
                one.leavingOut(&options)
            }
            let summary = try await fixture.run("a", direction) { options in
                Self.deleting(&options)
                if direction == .pull { options.deletesExtra = true }
            }
            #expect(summary.isComplete && summary.deleted == 0, "\(summary)")
            #expect(try fixture.tree("a").count == 4)
            #expect(try await fixture.objects().count == (direction == .pull ? 2 : 4))
            guard direction == .pull else { return }
            // Once a run that deletes nothing of one side alone has kept it.
            try await fixture.run("a", .pull)
            let second = try await fixture.run("a", .pull) { options in
                Self.deleting(&options)
                options.deletesExtra = true
            }
            #expect(second.deleted == 2 && second.isInStep, "\(second)")
        }

        @Test func `by an ignore file that was never sent is fetched once that is gone`()
            async throws
        {
            let fixture = try await mirror()
            try fixture.write("a/.osssyncignore", Data("/films/\n".utf8))
            try await fixture.run("a", .pull)
            for name in ["films", ".osssyncignore"] { try fixture.remove("a/" + name) }
            let status = try await fixture.engine("a").status(options: MirrorFixture.options())
            #expect(status.differences.onlyRemote == 2)
            let push = try await fixture.run("a", .push, EventLog(), Self.deleting)
            #expect(push.onlyRemote == 2 && !push.isInStep, "\(push)")
            let summary = try await fixture.run("a", .sync, EventLog(), Self.deleting)
            #expect(summary.transferred + summary.renamed == 2 && summary.isInStep, "\(summary)")
            #expect(try await fixture.objects() == Self.names)
        }

        /// A run that deletes or renames the ignore file here, as its object was, accepts nothing,
        /// and neither does one without a manifest.
        @Test(arguments: ["deleted", "renamed", "lost"])
        func `by rules that are gone in the bucket is fetched, and what is here stays here`(
            _ change: String
        ) async throws {
            let fixture = try await mirror()
            try fixture.write("a/.osssyncignore", Data("/films/\n".utf8))
            try await fixture.run("a", .push)
            try fixture.remove("a/films/a")
            try fixture.write("a/films/private", Data([1]))
            try await fixture.deleteObject(".osssyncignore")
            if change == "renamed" { try await fixture.put("rules", Data("/films/\n".utf8)) }
            if change == "lost" {
                try fixture.remove("a/.osssyncignore")
                for name in try fixture.names(in: "a/.osssync") where name.hasPrefix("manifest") {
                    try fixture.remove("a/.osssync/" + name)
                }
            }
            for _ in 0..<2 {
                try await fixture.run("a", .sync, EventLog(), Self.deleting)
                #expect(!fixture.exists("a/.osssyncignore"))
            }
            try fixture.remove("a/films/b")
            let push = try await fixture.run("a", .push, EventLog(), Self.deleting)
            #expect(push.onlyRemote > 0 && push.skipped == 1 && !push.isInStep, "\(push)")
            try await fixture.run("a", .sync, EventLog(), Self.deleting)
            #expect(fixture.exists("a/films/a") && fixture.exists("a/films/b"))
            #expect(try await !fixture.objects().contains("films/private"))
            // Until the user says so.
            try fixture.write("a/.osssyncignore", Data())
            let last = try await fixture.run("a", .sync)
            #expect(last.transferred == 2 && last.isInStep, "\(last)")
        }

        @Test func `what was seen again on both sides is deleted as ever`() async throws {
            let fixture = try await mirror()
            try await fixture.run("a", .push, EventLog(), Self.patterns(["/films/"]))
            let seen = try await fixture.run("a", .push)
            #expect(seen.unchanged == 4 && seen.isInStep, "\(seen)")
            try fixture.remove("a/films/a")
            let summary = try await fixture.run("a", .push, EventLog(), Self.deleting)
            #expect(summary.deleted == 1 && summary.isInStep)
            #expect(try await fixture.objects() == ["films/b", "other/c", "other/d"])
        }

        /// Runs of "other" and of "films/a": only what both look at is known afterwards.
        @Test(arguments: SyncDirection.allCases)
        func `elsewhere while runs were limited is unknown`(direction: SyncDirection) async throws {
            let fixture = try await mirror()
            try fixture.write("a/films/e", MirrorFixture.ramp(100))
            try await fixture.run("a", .push)
            for paths in [["films"], ["films/a", "films/b"], ["films/", "other/c"]] {
                try await fixture.run("a", .push) { $0.paths = paths }
            }
            for name in ["films/a", "films/e", "other/c"] { try fixture.remove("a/" + name) }
            let dry = try await fixture.run("a", direction) { options in
                Self.deleting(&options)
                options.isDryRun = true
            }
            let expected = direction == .pull ? 0 : 1
            #expect(dry.deleted == expected, "\(dry)")
            let status = try await fixture.engine("a").status(options: MirrorFixture.options())
            #expect(status.differences.onlyRemote == 2 && status.differences.deletedHere == 1)
            let log = EventLog()
            let summary = try await fixture.run("a", direction, log, Self.deleting)
            #expect(summary.isComplete && summary.deleted == expected, "\(summary)")
            let told = "'films/e' and 1 more went missing on one side"
            #expect(log.warnings.count { $0.hasPrefix(told) } == 1, "\(log.warnings)")
            if direction == .push { #expect(summary.onlyRemote == 2 && !summary.isInStep) }
            #expect(try await fixture.objects().contains("films/a") == (direction == .pull))
            #expect(fixture.exists("a/films/e") == (direction != .push))
            #expect(fixture.exists("a/other/c") == (direction != .push))
            // The run has seen all there is.
            try fixture.remove("a/other/d")
            let later = EventLog()
            let next = try await fixture.run("a", .sync, later, Self.deleting)
            #expect(next.deleted == 1 && later.warnings.isEmpty, "\(next) \(later.warnings)")
            #expect(fixture.exists("a/films/e") && fixture.exists("a/other/c"))
        }

        @Test func `elsewhere is known to a run of its path`() async throws {
            let fixture = try await mirror()
            for _ in 1...3 { try await fixture.run("a", .push) { $0.paths = ["other"] } }
            try fixture.remove("a/films/a")
            let summary = try await fixture.run("a", .push) { options in
                Self.deleting(&options)
                options.paths = ["films"]
            }
            #expect(summary.deleted == 1 && summary.isComplete, "\(summary)")
        }

        @Test func `elsewhere stays unknown until a run has seen all`() async throws {
            let fixture = try await mirror()
            try await fixture.run("a", .push) { $0.paths = ["other"] }
            try fixture.remove("a/films/a")
            // It only looks, and the next one deletes nothing that one side has alone.
            try await fixture.run("a", .push) { $0.isDryRun = true }
            for _ in 1...2 {
                let summary = try await fixture.run("a", .push) { options in
                    Self.deleting(&options)
                    options.deletesExtra = true
                }
                #expect(summary.deleted == 0 && summary.onlyRemote == 1, "\(summary)")
            }
        }

        @Test func `elsewhere while changes were followed is known`() async throws {
            let fixture = try await mirror()
            try await fixture.run("a", .push) { options in
                (options.paths, options.allowsMissingPaths) = (["other"], true)
            }
            try fixture.remove("a/films/a")
            let summary = try await fixture.run("a", .push, EventLog(), Self.deleting)
            #expect(summary.deleted == 1 && summary.isInStep, "\(summary)")
        }

        @Test func `is all unknown after a list of paths that is too long`() async throws {
            let fixture = try await mirror()
            let (manifest, _) = try await ManifestStore.open(
                directory: fixture.directory("a") + "/.osssync",
                now: MirrorFixture.now(),
                usesWriteAheadLog: true,
                threads: .system,
                smallestSearchable: 0
            )
            let names = (0..<4_000).map { "films/\($0)-" + String(repeating: "n", count: 20) }
            let paths = try RunPaths(["other"] + names, links: .skip)
            try await LimitedRuns.note(paths, in: manifest)
            #expect(try await LimitedRuns.recorded(in: manifest).seen == KeyRanges([]))
            let few = try RunPaths(["other"], links: .skip)
            try await LimitedRuns.note(few, in: manifest)
            #expect(try await LimitedRuns.recorded(in: manifest).seen == KeyRanges([]))
            try await LimitedRuns.forget(in: manifest)
            try await LimitedRuns.note(few, in: manifest)
            let seen = try #require(try await LimitedRuns.recorded(in: manifest).seen)
            #expect(seen.contains("other/c") && !seen.contains("films/a"))
            try await manifest.checkpointAndClose()
        }

        @Test func `and is left out of a limited run is unknown`() async throws {
            let fixture = try await mirror()
            for name in ["films", "other/c", "other/d"] { try fixture.remove("a/" + name) }
            try fixture.write("a/other/e", Data([1]))
            try await fixture.run("a", .push) { options in
                options.paths = ["other"]
                try? options.filter.exclude("c")
            }
            let summary = try await fixture.run("a", .push, EventLog(), Self.deleting)
            #expect(summary.deleted == 1 && summary.onlyRemote == 3, "\(summary)")
            #expect(
                try await fixture.objects() == ["films/a", "films/b", "other/c", "other/e"]
            )
        }

        @Test func `edits of what was left out are sent and fetched as ever`() async throws {
            let fixture = try await mirror()
            try await fixture.run("a", .push, EventLog(), Self.patterns(["/films/"]))
            try fixture.write("a/films/a", MirrorFixture.ramp(50))
            try await fixture.put("films/b", MirrorFixture.ramp(70))
            let summary = try await fixture.run("a", .sync, EventLog(), Self.deleting)
            #expect(summary.transferred == 2 && summary.conflicts == 0 && summary.isInStep)
            #expect(try await fixture.object("films/a").count == 50)
            #expect(fixture.content("a/films/b")?.count == 70)
        }

        @Test func `the markers of empty directories are no exception`() async throws {
            let fixture = try await mirror()
            try fixture.makeDirectory("a/films/empty")
            try await fixture.run("a", .push)
            try await fixture.run("a", .push, EventLog(), Self.patterns(["/films/"]))
            #expect(try await fixture.run("a", .push).isInStep)
            try await fixture.run("a", .push, EventLog(), Self.patterns(["/films/"]))
            try fixture.remove("a/films")
            let summary = try await fixture.run("a", .sync, EventLog(), Self.deleting)
            #expect(summary.deleted == 0 && summary.isInStep, "\(summary)")
            #expect(fixture.exists("a/films/empty"))
        }

        @Test func `what the user has deleted by name goes`() async throws {
            let fixture = try await mirror()
            let excluding = Self.patterns(["/films/"])
            try await fixture.run("a", .push, EventLog(), excluding)
            let summary = try await fixture.run("a", .push) { options in
                Self.deleting(&options)
                excluding(&options)
                options.deletesExcluded = true
            }
            #expect(summary.deleted == 2, "\(summary)")
            #expect(try await fixture.objects() == ["other/c", "other/d"])
        }

        @Test func `a stored link is no exception`() async throws {
            let fixture = try await mirror()
            try fixture.link("a/link", to: "films/a")
            try await fixture.run("a", .push) { $0.links = .store }
            try await fixture.run("a", .push)
            try fixture.remove("a/link")
            let summary = try await fixture.run("a", .sync) { options in
                Self.deleting(&options)
                options.links = .store
            }
            #expect(summary.deleted == 0 && summary.transferred == 1, "\(summary)")
            #expect(try await fixture.objects().contains("link.rclonelink"))
        }

        @Test func `a directory that goes with its tag is no exception`() async throws {
            let fixture = try await mirror()
            try fixture.write("a/films/.nobackup", Data())
            func run() async throws -> RunSummary {
                try await fixture.run("a", .push) { options in
                    Self.deleting(&options)
                    options.filter.tags.names = [".nobackup"]
                }
            }
            _ = try await run()
            try fixture.remove("a/films")
            let summary = try await run()
            #expect(summary.deleted == 0 && summary.onlyRemote == 2, "\(summary)")
            #expect(try await fixture.objects() == Self.names)
        }

        @Test func `a dry run marks nothing`() async throws {
            let fixture = try await mirror()
            try await fixture.run("a", .push) { options in
                options.isDryRun = true
                try? options.filter.exclude("/films/")
            }
            try fixture.remove("a/films")
            let summary = try await fixture.run("a", .push, EventLog(), Self.deleting)
            #expect(summary.deleted == 2, "\(summary)")
        }
    }
}
