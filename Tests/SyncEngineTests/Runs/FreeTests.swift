import Foundation
import LocalStorage
import SyncModel
import Synchronization
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    /// What the user has only in the bucket stays there, and comes back if it is named.
    @Suite("Freed files")
    struct FreeTests {
        private static func deleting(_ options: inout RunOptions) {
            (options.deletesKnown, options.deletionLimit) = (true, .percent(100))
            options.deletesExtra = true
        }

        @Test func `are counted whose objects are archived`() async throws {
            let fixture = try await MirrorFixture.withFilms()
            let content = MirrorFixture.ramp(100)
            try await fixture.put("films/cold", content, storageClass: .archive)
            try fixture.write("a/films/cold", content)
            try await fixture.run("a", .push)
            let (report, _) = try await fixture.free(["films"])
            #expect(report.files == 3 && report.archived == 1, "\(report)")
        }

        @Test func `go with all names of a file in one run`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/s/f", MirrorFixture.ramp(400))
            func name(_ path: String) throws {
                try FileManager.default.linkItem(
                    atPath: fixture.directory("a/s/f"),
                    toPath: fixture.directory(path)
                )
            }
            for path in ["a/s/g", "a/s/h"] { try name(path) }
            try await fixture.run("a", .push)
            // One more name, which a copy by links makes: the times of change move.
            try name("snapshot")
            let (report, kept) = try await fixture.free(["s"])
            #expect(report.files == 3 && kept.isEmpty, "\(report), \(kept)")
        }

        @Test(arguments: SyncDirection.allCases, [["films"], ["films/a", "films/b"]])
        func `are deleted and fetched by no run`(
            direction: SyncDirection,
            paths: [String]
        ) async throws {
            let fixture = try await MirrorFixture.withFilms()
            let (report, kept) = try await fixture.free(paths)
            #expect(report.files == 2 && report.bytes == 200 && kept.isEmpty)
            #expect(!fixture.exists("a/films/a") && fixture.exists("a/films"))
            for _ in 1...2 {
                let summary = try await fixture.run("a", direction) { Self.deleting(&$0) }
                #expect(summary.isComplete && summary.deleted == 0 && summary.transferred == 0)
                #expect(summary.isInStep)
            }
            #expect(!fixture.exists("a/films/a"))
            // Neither as a marker of an empty directory.
            #expect(try await fixture.objects() == MirrorFixture.films)
        }

        @Test(arguments: SyncDirection.allCases)
        func `are deleted by no run of their path, and come back by a pull or sync`(
            direction: SyncDirection
        ) async throws {
            let fixture = try await MirrorFixture.withFilms()
            try await fixture.free(["films"])
            let summary = try await fixture.run("a", direction) { options in
                Self.deleting(&options)
                options.paths = ["films"]
            }
            #expect(summary.isComplete && summary.deleted == 0, "\(summary)")
            #expect(fixture.exists("a/films/a") == (direction != .push))
            #expect(try await fixture.objects() == MirrorFixture.films)
            guard direction != .push else { return }
            // From now on they are files like any other.
            try fixture.remove("a/films/a")
            let later = try await fixture.run("a", .push) { Self.deleting(&$0) }
            #expect(later.deleted == 1)
        }

        @Test func `are safe after the manifest is lost, in a copy and in another state`()
            async throws
        {
            for damage in ["manifest", "copy"] {
                let fixture = try await MirrorFixture.withFilms()
                try await fixture.free(["films"])
                var directory = "a"
                if damage == "manifest" {
                    for name in try fixture.names(in: "a/.osssync")
                    where name.hasPrefix("manifest.db") {
                        try fixture.remove("a/.osssync/" + name)
                    }
                } else {
                    directory = "copy"
                    try fixture.copy("a", directory)
                }
                for direction in SyncDirection.allCases + [.push] {
                    let summary = try await fixture.run(directory, direction) { options in
                        Self.deleting(&options)
                        options.allowsRebinding = true
                    }
                    #expect(summary.deleted == 0, "\(damage): \(direction)")
                }
                #expect(!fixture.exists(directory + "/films/a"))
                #expect(try await fixture.objects() == MirrorFixture.films)
            }
        }

        @Test(arguments: ["filter", "limit", "failure"])
        func `of which a pull brought back some stay freed`(what: String) async throws {
            let fixture = try await MirrorFixture.withFilms()
            try await fixture.put("films/large", MirrorFixture.ramp(3 << 20))
            try await fixture.run("a", .pull)
            try await fixture.free(["films"])
            if what == "failure" {
                try fixture.setFaults(
                    """
                    [{"match": {"operation": "GetObject", "key": "mirror/films/large"},
                      "effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]
                    """
                )
            }
            _ = try? await fixture.run("a", .pull) { options in
                options.paths = ["films"]
                switch what {
                case "filter": options.filter.bounds.maximumSize = 1_000
                case "limit": options.maximumTransfer = 150
                default: options.connectionLimit = 1
                }
            }
            try fixture.setFaults("[]")
            #expect(!fixture.exists("a/films/large"))
            for _ in 0..<2 {
                try await fixture.run("a", .push)
                let summary = try await fixture.run("a", .push) { Self.deleting(&$0) }
                #expect(summary.deleted == 0)
            }
            #expect(try await fixture.objects().contains("films/large"))
        }

        @Test func `whose list is lost were not deleted either`() async throws {
            let fixture = try await MirrorFixture.withFilms()
            try await fixture.free(["films"])
            try fixture.remove("a/.osssync/freed")
            let summary = try await fixture.run("a", .push) { $0.deletesKnown = true }
            #expect(summary.deleted == 0)
            #expect(try await fixture.objects().filter { $0 != "films/" } == MirrorFixture.films)
            try await fixture.run("a", .pull) { $0.deletesExtra = true }
            #expect(!fixture.exists("a/films/a"))
            try await fixture.run("a", .pull) { $0.paths = ["films"] }
            #expect(fixture.exists("a/films/a"))
        }

        @Test func `whose list is damaged end a run before its first request`() async throws {
            let fixture = try await MirrorFixture.withFilms()
            try await fixture.free(["films"])
            try fixture.write("a/.osssync/freed", Data("osssync-freed 1\n".utf8))
            await #expect(throws: TransferError.self) {
                try await fixture.run("a", .push) { Self.deleting(&$0) }
            }
            #expect(try await fixture.objects() == MirrorFixture.films)
        }

        @Test func `only go if the bucket has what is here`() async throws {
            let fixture = try await MirrorFixture.withFilms()
            try fixture.write("a/films/a", MirrorFixture.ramp(101))
            try fixture.write("a/films/new", MirrorFixture.ramp(3))
            try await fixture.put("films/b", MirrorFixture.ramp(50))
            let (report, kept) = try await fixture.free(["films"])
            #expect(report.files == 0 && report.kept == 3)
            #expect(
                kept == [
                    "films/a": "it was changed here since the last run",
                    "films/b": "its object is not the recorded one",
                    "films/new": "it is not in the bucket",
                ]
            )
            for name in ["a", "b", "new"] { #expect(fixture.exists("a/films/" + name)) }
            // A directory of which a file stays is freed all the same.
            let summary = try await fixture.run("a", .push)
            #expect(summary.transferred == 2)
        }

        @Test func `named ones that no run mirrors are kept with the reason`() async throws {
            let fixture = try await MirrorFixture.withFilms()
            let link = fixture.directory("a/films/link")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "a")
            try fixture.write("a/films/new", MirrorFixture.ramp(100))
            var filter = FileFilter()
            for name in ["/films/new", "/films/a"] { try filter.exclude(name) }
            let paths = ["films/a", "films/link", "films/new", "other/c"]
            let selected = filter
            let (report, kept) = try await fixture.free(paths) { $0.run.filter = selected }
            #expect(report.files == 1 && report.kept == 3)
            #expect(kept["films/link"] == "it is a symbolic link")
            #expect(kept["films/new"]?.hasPrefix("no run mirrors it") == true)
            #expect(kept["films/a"]?.hasPrefix("no run mirrors it") == true)
            // Within a directory, they are nobody's wish.
            let (rest, others) = try await fixture.free(["films"]) { $0.run.filter = selected }
            #expect(rest.files == 1 && others.isEmpty)
        }

        @Test func `of which only the time moved are read`() async throws {
            let fixture = try await MirrorFixture.withFilms()
            try fixture.setModified("a/films/a", Date(timeIntervalSince1970: 1_000_000_000))
            try fixture.write("a/films/b", Data(repeating: 7, count: 100))
            let (report, kept) = try await fixture.free(["films"])
            #expect(report.files == 1)
            #expect(kept == ["films/b": "its content is not the recorded one"])
            #expect(fixture.exists("a/films/b") && !fixture.exists("a/films/a"))
        }

        @Test func `what is new in a freed directory is fetched from it and sent into it`()
            async throws
        {
            let fixture = try await MirrorFixture.withFilms()
            try await fixture.free(["films"])
            try await fixture.put("films/c", MirrorFixture.ramp(9))
            let pulled = try await fixture.run("a", .pull)
            #expect(pulled.transferred == 0 && !fixture.exists("a/films/c"))
            try fixture.write("a/films/d", MirrorFixture.ramp(8))
            let pushed = try await fixture.run("a", .push) { Self.deleting(&$0) }
            #expect(pushed.transferred == 1 && pushed.deleted == 0)
            #expect(
                try await fixture.objects()
                    == (MirrorFixture.films + ["films/c", "films/d"]).sorted()
            )
        }

        @Test(arguments: SyncDirection.allCases, ["films", "films/a"])
        func `lose nothing to a new file of their name`(
            direction: SyncDirection,
            path: String
        ) async throws {
            for size in [100, 7] {
                let fixture = try await MirrorFixture.withFilms()
                try await fixture.free([path])
                try fixture.write("a/films/a", MirrorFixture.ramp(size, 5))
                for _ in 1...2 {
                    _ = try await fixture.run("a", direction) { Self.deleting(&$0) }
                }
                let names = try await fixture.objects()
                let paths = try FileManager.default.subpathsOfDirectory(
                    atPath: fixture.directory("a")
                )
                var contents = paths.map { fixture.content("a/" + $0) }
                for name in names { contents.append(try await fixture.object(name)) }
                #expect(contents.contains(MirrorFixture.ramp(100)), "\(names)")
                #expect(contents.contains(MirrorFixture.ramp(size, 5)), "\(names)")
            }
        }

        @Test func `go only when their permissions are in the bucket`() async throws {
            let fixture = try await MirrorFixture.withFilms()
            try fixture.setMode("a/films/a", 0o600)
            let (report, kept) = try await fixture.free(["films"])
            #expect(report.files == 1 && kept["films/a"] == "its permissions were not sent yet")
            try await fixture.run("a", .push)
            #expect(try await fixture.free(["films"]).report.files == 1)
        }

        @Test func `that were put back are files like any other`() async throws {
            let fixture = try await MirrorFixture.withFilms()
            try await fixture.free(["films/a"])
            try fixture.write("a/films/a", MirrorFixture.ramp(100))
            try await fixture.run("a", .push)
            try fixture.remove("a/films/a")
            let summary = try await fixture.run("a", .push) { $0.deletesKnown = true }
            #expect(summary.deleted == 1)
            #expect(try await fixture.objects() == ["films/b", "other/c", "other/d"])
        }

        @Test func `go by age, and by what is to be free`() async throws {
            let fixture = try await MirrorFixture.withFilms()
            for (name, day) in zip(MirrorFixture.films, [4, 3, 2, 1]) {
                try fixture.setModified(
                    "a/" + name,
                    Date(timeIntervalSinceNow: -86_400 * Double(day))
                )
            }
            try await fixture.run("a", .push)
            let (old, _) = try await fixture.free([]) { $0.minimumAge = .seconds(86_400 * 7 / 2) }
            #expect(old.files == 1 && !fixture.exists("a/films/a") && fixture.exists("a/films/b"))
            let (none, _) = try await fixture.free([]) { $0.freeBytesWanted = 0 }
            #expect(none.files == 0 && none.isEnough)
            let (all, _) = try await fixture.free([]) { $0.freeBytesWanted = .max }
            #expect(all.files == 3 && !all.isEnough)
            // Not the directories: what is new in them is fetched.
            try await fixture.put("films/c", MirrorFixture.ramp(9))
            try await fixture.run("a", .pull)
            #expect(fixture.exists("a/films/c") && !fixture.exists("a/films/b"))
        }

        @Test func `a dry run tells and changes nothing`() async throws {
            let fixture = try await MirrorFixture.withFilms()
            let (report, _) = try await fixture.free(["films"]) { $0.run.isDryRun = true }
            #expect(report.files == 2 && fixture.exists("a/films/a"))
            #expect(!fixture.exists("a/.osssync/freed"))
        }

        @Test func `are named by status and explain, and not missing for verify`() async throws {
            let fixture = try await MirrorFixture.withFilms()
            try await fixture.free(["films"])
            let engine = try fixture.engine("a")
            let status = try await engine.status(options: MirrorFixture.options())
            #expect(status.freed.count == 2 && status.freed.bytes == 200)
            #expect(status.freed.paths == ["films/"])
            #expect(status.differences.onlyRemote + status.differences.deletedHere == 0)
            let outlook = try await engine.explain(path: "films/a", of: [:]).outlooks[.push]
            #expect(outlook?.reason == FreedScope.message)
            let report = try await engine.verify(VerifyOptions()) { _ in }
            #expect(report.missing == 0 && report.verified == 2)
        }

        @Test func `are listed before they go, and a full disk frees nothing without a word`()
            async throws
        {
            var (number, isDone) = (0, false)
            while !isDone {
                number += 1
                let fixture = try await MirrorFixture.withFilms()
                let faults = SystemCallFaults(
                    .fail(errno: ENOSPC),
                    at: number,
                    of: ["write", "pwrite", "fsync", "renameat", "renameat2", "unlinkat"]
                )
                let calls = SystemCalls(usesOpenat2: true, faults: faults)
                let engine = try fixture.engine("a", calls: calls)
                var options = FreeOptions(run: MirrorFixture.options())
                options.run.paths = ["films"]
                let report = try? await engine.free(options) { _ in }
                isDone = report?.files == 2 && faults.firedCall == nil
                for name in ["a", "b"] where !fixture.exists("a/films/" + name) {
                    #expect(fixture.exists("a/.osssync/freed"), "call \(number)")
                }
                let summary = try await fixture.run("a", .push) { Self.deleting(&$0) }
                #expect(summary.deleted == 0, "call \(number)")
                try #require(number < 200)
            }
            #expect(number > 3)
        }

        @Test func `of another machine are its own`() async throws {
            let fixture = try await MirrorFixture.withFilms()
            try await fixture.run("b", .pull)
            try await fixture.free(["films"])
            try fixture.write("b/films/a", MirrorFixture.ramp(5))
            try fixture.remove("b/films/b")
            try await fixture.run("b", .push) { $0.deletesKnown = true }
            let summary = try await fixture.run("a", .sync) { Self.deleting(&$0) }
            #expect(summary.deleted == 0 && !fixture.exists("a/films/a"))
            try await fixture.run("a", .pull) { $0.paths = ["films"] }
            #expect(fixture.exists("a/films/a") && !fixture.exists("a/films/b"))
        }
    }
}
