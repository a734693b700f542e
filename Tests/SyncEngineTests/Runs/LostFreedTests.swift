import Foundation
import ObjectStorage
import SyncModel
import Testing

@testable import SyncEngine

extension EngineRuns {
    /// What the bucket had of them is gone, or another bucket is asked.
    @Suite("Freed files that are not in the bucket")
    struct LostFreedTests {
        private static func deleting(_ options: inout RunOptions) {
            (options.deletesKnown, options.deletionLimit) = (true, .percent(100))
            options.deletesExtra = true
        }

        private func free(
            _ fixture: MirrorFixture,
            _ paths: [String],
            in directory: String = "a"
        ) async throws {
            let report = try await fixture.free(paths, in: directory).report
            #expect(report.files > 0, "\(report)")
        }

        /// Both have the files, each under its own keys.
        @Test(
            arguments: [("a/films", ["a"], "a", "films/a"), ("a", ["films/a"], "a/films", "a")],
            SyncDirection.allCases
        )
        func `are deleted or fetched by no mirror around the one that freed them, or within`(
            nested: (freeing: String, paths: [String], deleting: String, key: String),
            direction: SyncDirection
        ) async throws {
            let fixture = try await MirrorFixture.withFilms()
            try await fixture.run("a/films", .push)
            try await free(fixture, nested.paths, in: nested.freeing)
            #expect(!fixture.exists("a/films/a"))
            for _ in 1...2 {
                let run = try await fixture.run(nested.deleting, direction) { options in
                    (options.deletesKnown, options.deletionLimit) = (true, .percent(100))
                }
                #expect(run.deleted == 0 && run.isComplete, "\(run)")
                #expect(!fixture.exists("a/films/a"))
                #expect(try await fixture.objects().contains(nested.key))
            }
        }

        /// To a name that tells nothing of the keys; or out of sight, once a run has seen it.
        @Test(arguments: ["a/moved", "moved"], [SyncDirection.push, .sync])
        func `are deleted by no mirror around one that was moved`(
            place: String,
            direction: SyncDirection
        ) async throws {
            let fixture = try await MirrorFixture.withFilms()
            func deleting(_ options: inout RunOptions) {
                (options.deletesKnown, options.deletionLimit) = (true, .percent(100))
            }
            let inner = try fixture.engine("a/films", state: nil, prefix: "mirror/films/")
            _ = try await inner.run(.push, options: MirrorFixture.options()) { _ in }
            var freeing = FreeOptions(run: MirrorFixture.options())
            freeing.run.paths = ["a"]
            #expect(try await inner.free(freeing) { _ in }.files == 1)
            if place == "moved" {
                let kept = try await fixture.run("a", direction) { deleting(&$0) }
                #expect(kept.deleted == 0 && kept.isComplete, "\(kept)")
            }
            try fixture.rename("a/films", to: place)
            let run = try await fixture.run("a", direction) { deleting(&$0) }
            #expect(run.deleted == (run.renamed == 0 ? 1 : 0), "\(run)")
            let objects = try await fixture.objects()
            #expect(objects.contains("films/a") && !objects.contains("films/b"), "\(objects)")
        }

        /// By a second state of the directory, by a mirror around, and by one within.
        @Test(arguments: ["films", "films/a"], ["state", "around", "within"])
        func `are not replaced by a new file of the name, whichever mirror meets it first`(
            freed: String,
            other: String
        ) async throws {
            let fixture = try await MirrorFixture.withFilms()
            let inner = try fixture.engine("a/films", state: nil, prefix: "mirror/films/")
            let engine =
                switch other {
                case "state": try fixture.engine("a", state: "second")
                case "within": inner
                default: try fixture.engine("a")
                }
            _ = try await engine.run(.push, options: MirrorFixture.options()) { _ in }
            if other == "around" {
                _ = try await inner.run(.push, options: MirrorFixture.options()) { _ in }
                var freeing = FreeOptions(run: MirrorFixture.options())
                freeing.run.paths = freed == "films" ? ["a", "b"] : ["a"]
                _ = try await inner.free(freeing) { _ in }
            } else {
                try await free(fixture, [freed])
            }
            try fixture.write("a/films/a", MirrorFixture.ramp(7, 3))
            for _ in 1...2 {
                let run = try await engine.run(.push, options: MirrorFixture.options()) { _ in }
                #expect((run.conflicts, run.transferred) == (1, 0), "\(run)")
                #expect(try await fixture.object("films/a") == MirrorFixture.ramp(100))
            }
        }

        @Test func `of a directory that came back one by one are like any others`() async throws {
            let fixture = try await MirrorFixture.withFilms()
            try await free(fixture, ["films"])
            let pull = try await fixture.run("a", .pull) { $0.paths = ["films/a", "films/b"] }
            #expect(pull.transferred == 2, "\(pull)")
            try fixture.write("a/films/a", MirrorFixture.ramp(7, 3))
            #expect(try await fixture.run("a", .push).isInStep)
        }

        /// By a second state and by a mirror around, which have never seen the disk.
        @Test(arguments: [false, true])
        func `are not what is missing on a disk that is not mounted`(isAround: Bool) async throws {
            let fixture = try await MirrorFixture.withFilms()
            let inner = try fixture.engine("a/films", state: nil, prefix: "mirror/films/")
            _ = try await inner.run(.push, options: MirrorFixture.options()) { _ in }
            let other = try fixture.engine("a", state: isAround ? nil : "second")
            _ = try await other.run(.push, options: MirrorFixture.options()) { _ in }
            let list = MountList(paths: [isAround ? "a" : "films/a"])
            let place = isAround ? "a/films/.osssync/mounts" : "a/.osssync/mounts"
            try fixture.write(place, Data(list.content))
            for name in ["films/a", "other/c"] { try fixture.remove("a/" + name) }
            for rebinds in [false, false, true] {
                let options = MirrorFixture.options { options in
                    Self.deleting(&options)
                    options.allowsRebinding = rebinds
                }
                let run = try await other.run(.push, options: options) { _ in }
                #expect(run.skipped == (rebinds ? 0 : 1), "\(run)")
                #expect(try await fixture.objects().contains("films/a") != rebinds)
            }
        }

        /// Its bucket need not have all of them.
        @Test func `of a directory are expected until the state that freed it has them back`()
            async throws
        {
            let fixture = try await MirrorFixture.withFilms()
            let smaller = try fixture.engine("a", state: "smaller", prefix: "smaller/")
            let third = try fixture.engine("a", state: "third")
            var excluding = MirrorFixture.options()
            try excluding.filter.exclude("/films/b")
            _ = try await smaller.run(.push, options: excluding) { _ in }
            _ = try await third.run(.push, options: MirrorFixture.options()) { _ in }
            try await free(fixture, ["films"])
            let pulling = MirrorFixture.options { $0.paths = ["films"] }
            let pull = try await smaller.run(.pull, options: pulling) { _ in }
            #expect(pull.transferred == 1, "\(pull)")
            let push = try await third.run(
                .push,
                options: MirrorFixture.options { Self.deleting(&$0) }
            ) { _ in }
            #expect(push.deleted == 0, "\(push)")
            #expect(try await fixture.objects().contains("films/b"))
            _ = try await fixture.run("a", .pull) { $0.paths = ["films"] }
            #expect(!fixture.exists("a/.osssync/freed") && fixture.exists("a/films/b"))
        }

        @Test func `may be any where a list cannot be read`() async throws {
            let fixture = try await MirrorFixture.withFilms()
            let inner = try fixture.engine("a/films", state: nil, prefix: "mirror/films/")
            _ = try await inner.run(.push, options: MirrorFixture.options()) { _ in }
            try fixture.makeDirectory("a/films/.osssync/freed")
            for name in ["films/a", "other/c"] { try fixture.remove("a/" + name) }
            for _ in 1...2 {
                let log = EventLog()
                let run = try await fixture.run("a", .push, log) { Self.deleting(&$0) }
                #expect(run.skipped == 1 && !run.isInStep, "\(run)")
                #expect(log.items.contains { $0.message?.contains("cannot be read") == true })
            }
            let objects = try await fixture.objects()
            #expect(objects.contains("films/a") && !objects.contains("other/c"), "\(objects)")
        }

        /// As `restore` asks for them.
        @Test func `are named one by one where only what is there comes back`() async throws {
            let fixture = try await MirrorFixture.withFilms()
            try await free(fixture, ["films", "other/c"])
            for name in ["films/a", "other/c"] { try await fixture.deleteObject(name) }
            let log = EventLog()
            let pull = try await fixture.run("a", .pull, log) { options in
                options.freed = .comeBack
                options.paths = ["films", "other/c"]
            }
            #expect(pull.transferred == 1 && pull.skipped == 2 && !pull.isComplete, "\(pull)")
            let lost = log.items.filter { $0.message == ItemEvent.lostText }.map(\.key)
            #expect(lost == ["films/a", "other/c"] && fixture.exists("a/films/b"))
            for _ in 1...2 {
                let log = EventLog()
                let run = try await fixture.run("a", .sync, log) { Self.deleting(&$0) }
                #expect(run.skipped == 2 && !run.isInStep, "\(run)")
                #expect(log.warnings.contains { $0.contains("'films/a' and 1 other freed file") })
            }
        }

        /// Other machines could have only one of both.
        @Test(
            arguments: [
                ("films", "films", "films/a"), ("films/a", "films/a/new", "films/a"),
                ("deep", "deep/er", "deep/er/x"),
            ],
            [SyncDirection.push, .sync]
        )
        func `keep their places`(
            case: (freed: String, new: String, key: String),
            direction: SyncDirection
        ) async throws {
            let fixture = try await MirrorFixture.withFilms()
            for name in ["deep/er/x", "deep/y"] { try fixture.write("a/" + name, Data(name.utf8)) }
            try await fixture.run("a", .push)
            try await free(fixture, [`case`.freed])
            if fixture.exists("a/" + `case`.new) { try fixture.remove("a/" + `case`.new) }
            try fixture.write("a/" + `case`.new, MirrorFixture.ramp(10))
            try fixture.write("a/films.new", MirrorFixture.ramp(10))
            for number in 1...2 {
                let log = EventLog()
                let run = try await fixture.run("a", direction, log) { Self.deleting(&$0) }
                #expect(run.skipped == 1 && !run.isInStep && !run.isComplete, "\(run)")
                #expect(run.transferred == (number == 1 ? 1 : 0) && run.deleted == 0, "\(run)")
                let names = log.items.filter { $0.state == .skipped }.map(\.key)
                #expect(names == [`case`.new == "films/a/new" ? "films/a" : `case`.new])
                let objects = try await fixture.objects()
                #expect(objects.contains(`case`.key) && !objects.contains(`case`.new))
            }
            let status = try await fixture.engine("a").status(options: MirrorFixture.options())
            #expect(!status.isInStep && status.push.transfers == 0, "\(status)")
            if `case`.new != "films/a/new" {
                let explained = try await fixture.engine("a").explain(path: `case`.new, of: [:])
                #expect(explained.outlooks[.push]?.action != .upload, "\(explained)")
            }
            try fixture.rename(
                "a/" + (`case`.new == "films/a/new" ? "films/a" : `case`.new),
                to: "a/renamed"
            )
            let pull = try await fixture.run("a", .pull) { $0.paths = [`case`.freed] }
            #expect(pull.isComplete && fixture.exists("a/" + `case`.key), "\(pull)")
            #expect(try await fixture.run("a", direction).isInStep)
        }

        @Test(arguments: [SyncDirection.push, .sync], [false, true])
        func `keep their places where links are stored`(
            direction: SyncDirection,
            isLinkNew: Bool
        ) async throws {
            let fixture = try await MirrorFixture.withFilms()
            try fixture.link("a/films/link", to: "a")
            func storing(_ options: inout RunOptions) { options.links = .store }
            try await fixture.run("a", .push) { storing(&$0) }
            try await free(fixture, ["films"])
            let new = isLinkNew ? "films/a" : "films/link"
            if isLinkNew {
                try fixture.link("a/films/a", to: "../other/c")
            } else {
                try fixture.remove("a/films/link")
                try fixture.write("a/films/link", MirrorFixture.ramp(10))
            }
            let before = try await fixture.objects()
            for _ in 1...2 {
                let log = EventLog()
                let run = try await fixture.run("a", direction, log) {
                    storing(&$0)
                    Self.deleting(&$0)
                }
                #expect(run.skipped == 1 && !run.isInStep && run.transferred == 0, "\(run)")
                let messages = log.items.compactMap(\.message)
                #expect(messages.contains { $0.contains("'\(new)' is in the place of") })
                #expect(try await fixture.objects() == before)
            }
            try fixture.remove("a/" + new)
            let back = try await fixture.run("a", .pull) {
                storing(&$0)
                $0.paths = ["films"]
            }
            #expect(back.isComplete && fixture.exists("a/" + new), "\(back)")
            #expect(try await fixture.run("a", direction) { storing(&$0) }.isInStep)
        }

        /// Named as a directory and as a file.
        @Test(arguments: SyncDirection.allCases)
        func `that are gone from the bucket are named until the user gives them up`(
            direction: SyncDirection
        ) async throws {
            let fixture = try await MirrorFixture.withFilms()
            try await free(fixture, ["films", "other/c"])
            for name in ["films/a", "other/c"] { try await fixture.deleteObject(name) }
            try await fixture.put("films/b", MirrorFixture.ramp(50))
            for _ in 1...2 {
                let log = EventLog()
                let run = try await fixture.run("a", direction, log) { Self.deleting(&$0) }
                #expect(run.skipped == 2 && run.deleted == 0 && !run.isInStep, "\(run)")
                #expect(log.warnings.contains { $0.contains("'films/a' and 1 other freed file") })
                #expect(log.warnings.contains { $0.contains("'films/b' was freed") })
            }
            let engine = try fixture.engine("a")
            let status = try await engine.status(options: MirrorFixture.options())
            #expect(!status.isInStep && status.issues.contains { $0.contains("'films/a'") })
            let verified = try await engine.verify(VerifyOptions(checksRemote: true)) { _ in }
            #expect(verified.remoteMissing == 2, "\(verified)")
            let outlook = try await engine.explain(path: "films/a", of: [:]).outlooks[.push]
            #expect(outlook?.reason.contains("is not in the bucket") == true)
            let given = try await fixture.run("a", .pull) { $0.paths = ["films", "other/c"] }
            #expect(given.skipped == 2 && fixture.exists("a/films/b"), "\(given)")
            #expect(!fixture.exists("a/.osssync/freed"))
            let after = try await fixture.run("a", direction) { Self.deleting(&$0) }
            #expect(after.isInStep, "\(after)")
        }

        @Test func `of a directory that is gone from the bucket are given up as a whole`()
            async throws
        {
            let fixture = try await MirrorFixture.withFilms()
            try await free(fixture, ["films"])
            for key in ["films/a", "films/b"] { try await fixture.deleteObject(key) }
            #expect(try await !fixture.run("a", .sync).isComplete)
            let pull = try await fixture.run("a", .pull) { $0.paths = ["films"] }
            #expect(pull.deleted == 0, "\(pull)")
            try await fixture.put("films/new", Data([1]))
            let sync = try await fixture.run("a", .sync) { Self.deleting(&$0) }
            #expect(sync.isInStep && fixture.exists("a/films/new"), "\(sync)")
        }

        @Test func `that the bucket of another state does not have are named`() async throws {
            let fixture = try await MirrorFixture.withFilms()
            try await free(fixture, ["films/a", "films/b"])
            try await fixture.deleteObject("films/a")
            var engine = try fixture.engine("a")
            engine.settings.stateDirectory = fixture.directory("state")
            let options = MirrorFixture.options { options in
                Self.deleting(&options)
                options.allowsRebinding = true
            }
            let run = try await engine.run(.push, options: options) { _ in }
            #expect(run.skipped == 1 && !run.isInStep, "\(run)")
            var filter = FileFilter()
            try filter.exclude("/films/")
            let excluding = try await engine.run(
                .push,
                options: MirrorFixture.options { $0.filter = filter }
            ) { _ in }
            #expect(excluding.skipped == 0, "\(excluding)")
        }

        @Test func `have the names that they have, which are not for a terminal`() async throws {
            let fixture = try await MirrorFixture.withFilms()
            try fixture.write("a/films/a\tb", MirrorFixture.ramp(100))
            try await fixture.run("a", .push)
            try await free(fixture, ["films/a\tb"])
            let status = try await fixture.engine("a").status(options: MirrorFixture.options())
            #expect(status.freed.paths == ["films/a\tb"])
        }
    }
}
