import Foundation
import SyncModel
import Testing

@testable import SyncEngine

extension EngineRuns {
    /// The list of them is the directory's, and each state has rows of its own.
    @Suite("Freed files and other states of the directory")
    struct FreedStateTests {
        @Test func `are the directory's, whichever state a run has`() async throws {
            let fixture = try await MirrorFixture.withFilms()
            try await fixture.free(["films"])
            let engine = try fixture.engine("a", state: "state")
            for _ in 0..<2 {
                let summary = try await engine.run(
                    .push,
                    options: MirrorFixture.options { options in
                        (options.deletesKnown, options.deletionLimit) = (true, .percent(100))
                        options.deletesExtra = true
                        options.allowsRebinding = true
                    }
                ) { _ in }
                #expect(summary.deleted == 0)
            }
            #expect(try await fixture.objects() == MirrorFixture.films)
        }

        /// `knows` is whether the other state has recorded the file before.
        @Test(arguments: ["mirror/", "offsite/"], [true, false])
        func `are not replaced by a new file, which another state met first`(
            prefix: String,
            knows: Bool
        ) async throws {
            let fixture = try await MirrorFixture.withFilms()
            let other = try fixture.engine("a", state: "state", prefix: prefix)
            func runOther() async throws -> RunSummary {
                try await other.run(.push, options: MirrorFixture.options()) { _ in }
            }
            if knows { #expect(try await runOther().isInStep) }
            let old = try await fixture.object("films/a")
            try await fixture.free(["films/a"])
            try fixture.write("a/films/a", MirrorFixture.ramp(70, 9))
            let isFirst = !knows && prefix == "offsite/"
            for _ in 0..<2 {
                #expect(try await runOther().conflicts == (isFirst ? 0 : 1))
                #expect(try await fixture.run("a", .push).conflicts == 1)
                #expect(try await fixture.object("films/a") == old)
            }
            // What the user decides ends it, for both.
            let summary = try await fixture.run("a", .push) { $0.conflictPolicy = .local }
            #expect(summary.transferred == 1, "\(summary)")
            try fixture.write("a/films/a", MirrorFixture.ramp(80, 9))
            #expect(try await fixture.run("a", .push).isInStep)
            #expect(try await fixture.object("films/a") == MirrorFixture.ramp(80, 9))
        }

        @Test(arguments: [SyncDirection.pull, .sync], ["films", "films/a"])
        func `are not replaced by a new file after a run of their path that fetched nothing`(
            direction: SyncDirection,
            path: String
        ) async throws {
            let fixture = try await MirrorFixture.withFilms()
            let old = try await fixture.object("films/a")
            try await fixture.free([path])
            try fixture.write("a/films/a", MirrorFixture.ramp(70, 9))
            try await fixture.run("a", direction) { options in
                (options.paths, options.conflictPolicy) = ([path], .skip)
            }
            let summary = try await fixture.run("a", .push)
            #expect(summary.conflicts == 1 && summary.transferred == 0, "\(summary)")
            #expect(try await fixture.object("films/a") == old)
        }

        @Test func `of a directory that all came back are like any others`() async throws {
            let fixture = try await MirrorFixture.withFilms()
            try await fixture.free(["films"])
            for name in ["films/a", "films/b"] {
                try await fixture.run("a", .pull) { $0.paths = [name] }
            }
            for direction in SyncDirection.allCases {
                let summary = try await fixture.run("a", direction)
                #expect(summary.isInStep && summary.isComplete, "\(summary)")
            }
        }

        /// As far as it has run since.
        @Test func `are freed to another state, too, whoever ends the entry`() async throws {
            let fixture = try await MirrorFixture.withFilms()
            let other = try fixture.engine("a", state: "state")
            _ = try await other.run(.push, options: MirrorFixture.options()) { _ in }
            let old = try await fixture.object("films/a")
            try await fixture.free(["films/a"])
            _ = try await other.run(.push, options: MirrorFixture.options()) { _ in }
            try fixture.remove("a/.osssync/freed")
            let deleting = MirrorFixture.options { options in
                (options.deletesKnown, options.deletionLimit) = (true, .percent(100))
                options.deletesExtra = true
            }
            #expect(try await other.run(.push, options: deleting) { _ in }.deleted == 0)
            try fixture.write("a/films/a", MirrorFixture.ramp(70, 9))
            let summary = try await other.run(.push, options: deleting) { _ in }
            #expect(summary.conflicts == 1 && summary.transferred == 0, "\(summary)")
            #expect(try await fixture.object("films/a") == old)
        }

        @Test(arguments: [SyncDirection.push, .sync, .pull], ["films", "films/a"])
        func `are named where the bucket has nothing of them`(
            direction: SyncDirection,
            path: String
        ) async throws {
            let fixture = try await MirrorFixture.withFilms()
            try await fixture.free([path])
            let other = try fixture.engine("a", state: "state", prefix: "offsite/")
            for _ in 0..<2 {
                let log = EventLog()
                let options = MirrorFixture.options()
                let run = try await other.run(direction, options: options, onEvent: log.add)
                #expect(run.skipped == 1 && !run.isInStep, "\(run)")
                #expect(log.warnings.contains { $0.contains("'\(path)") }, "\(log.warnings)")
            }
            #expect(fixture.exists("a/.osssync/freed"))
            // What the one gives up the other one keeps.
            let named = MirrorFixture.options { $0.paths = [path] }
            _ = try? await other.run(.pull, options: named) { _ in }
            let last = try await fixture.run("a", .push) { options in
                (options.deletesKnown, options.deletionLimit) = (true, .percent(100))
                options.deletesExtra = true
            }
            #expect(last.deleted == 0 && last.isInStep, "\(last)")
            #expect(try await fixture.objects().filter { $0 != "films/" } == MirrorFixture.films)
            try await fixture.run("a", .pull) { $0.paths = [path] }
            #expect(fixture.exists("a/films/a"))
        }

        @Test func `are not replaced by the older version of another bucket`() async throws {
            let fixture = try await MirrorFixture.withFilms()
            let other = try fixture.engine("a", state: "state", prefix: "offsite/")
            _ = try await other.run(.push, options: MirrorFixture.options()) { _ in }
            let new = MirrorFixture.ramp(90, 4)
            try fixture.write("a/films/a", new)
            try await fixture.run("a", .push)
            try await fixture.free(["films/a"])
            let named = MirrorFixture.options { $0.paths = ["films/a"] }
            #expect(try await other.run(.pull, options: named) { _ in }.transferred == 1)
            let summary = try await fixture.run("a", .push)
            #expect(summary.conflicts == 1 && summary.transferred == 0, "\(summary)")
            #expect(try await fixture.object("films/a") == new)
        }

        @Test func `in a freed directory, what is new is a file like any other`() async throws {
            let fixture = try await MirrorFixture.withFilms()
            try await fixture.free(["films"])
            for size in [60, 61] {
                try fixture.write("a/films/new", MirrorFixture.ramp(size, 3))
                let summary = try await fixture.run("a", .push)
                #expect(summary.transferred == 1 && summary.isInStep, "\(summary)")
            }
        }
    }
}
