import Foundation
import SyncModel
import Testing

@testable import SyncEngine

extension EngineRuns {
    /// Symbolic links that are mirrored as the files that they lead to.
    @Suite("Followed links")
    struct FollowedLinkTests {
        let fixture: MirrorFixture

        /// "a" with links that lead to files, all sent.
        init() async throws {
            fixture = try MirrorFixture()
            try fixture.write("a/d/f", MirrorFixture.ramp(3_000))
            try fixture.write("a/g", MirrorFixture.ramp(500_000, 1))
            try fixture.link("a/l", to: "d/f")
            try fixture.link("a/d/m", to: "../g")
        }

        @discardableResult
        private func run(
            _ direction: SyncDirection,
            _ log: EventLog = EventLog(),
            _ change: (inout RunOptions) -> Void = { _ in }
        ) async throws -> RunSummary {
            try await fixture.run("a", direction, log) { options in
                options.links = .follow
                options.deletionLimit = .percent(100)
                change(&options)
            }
        }

        private func isLink(_ path: String) -> Bool {
            let path = fixture.folder.appendingPathComponent(path).path
            return (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != nil
        }

        private static let keys = ["d/f", "d/m", "g", "l"]

        @Test func `are objects with the content of the files`() async throws {
            #expect(try await run(.push).transferred == 4)
            #expect(try await fixture.objects() == Self.keys)
            #expect(try await fixture.object("l") == MirrorFixture.ramp(3_000))
            #expect(try await fixture.object("d/m") == MirrorFixture.ramp(500_000, 1))
            for direction in SyncDirection.allCases {
                let summary = try await run(direction) { $0.comparesContent = true }
                #expect(summary.transferred == 0 && summary.isInStep, "\(direction)")
            }
            // A change of the file is one of each link to it.
            try fixture.write("a/d/f", MirrorFixture.ramp(4_000, 2))
            #expect(try await run(.sync).transferred == 2)
            #expect(try await fixture.object("l") == MirrorFixture.ramp(4_000, 2))
            let report = try await fixture.engine("a").verify(VerifyOptions()) { _ in }
            #expect(report.verified == 4 && report.missing == 0)
            #expect(try await fixture.run("b", .pull).transferred == 4)
            #expect(try fixture.tree("b").count == 4)
        }

        @Test func `are never written through, replaced or deleted`() async throws {
            try await run(.push)
            try await fixture.put("l", MirrorFixture.ramp(100, 9))
            try await fixture.deleteObject("d/m")
            let log = EventLog()
            let summary = try await run(.pull, log) { options in
                (options.deletesKnown, options.replacesLocalChanges) = (true, true)
            }
            #expect(summary.transferred == 0 && summary.deleted == 0 && !summary.isComplete)
            for key in ["l", "d/m"] {
                #expect(log.skipped(key)?.contains("symbolic link is at this path") == true)
            }
            #expect(fixture.content("a/d/f") == MirrorFixture.ramp(3_000))
            #expect(isLink("a/l") && isLink("a/d/m"))
        }

        /// What a directory around the file keeps from others, its copy keeps from them, too.
        @Test(arguments: [(0o700, 0o600), (0o750, 0o640), (0o711, 0o644)])
        func `lead to files in private directories`(around: Int, copy: Int) async throws {
            try fixture.setMode("a/d", around)
            try await run(.push)
            try await fixture.run("b", .pull)
            #expect(try fixture.mode("b/l") == copy)
            // A link that lies in the same directory is as private as the file.
            #expect(try fixture.mode("b/d/m") == 0o644 && fixture.mode("b/g") == 0o644)
        }

        @Test func `take the place of a directory`() async throws {
            try fixture.write("a/x/e", Data([1]))
            try await run(.push)
            try fixture.remove("a/x")
            try fixture.link("a/x", to: "g")
            for isDryRun in [true, false] {
                let summary = try await run(.push) {
                    ($0.deletesKnown, $0.isDryRun) = (true, isDryRun)
                }
                #expect((summary.transferred + summary.renamed, summary.deleted) == (1, 1))
                #expect(summary.failed == 0, "\(summary)")
            }
            #expect(try await fixture.objects() == (Self.keys + ["x"]))
            #expect(try await run(.push) { $0.deletesKnown = true }.isInStep)
        }

        @Test func `are not followed to what the filters leave out`() async throws {
            try fixture.write("a/.osssyncignore", Data("/secret\n/private/\n".utf8))
            try fixture.write("a/secret", Data("s".utf8))
            try fixture.write("a/private/f", Data("p".utf8))
            try fixture.write("a/open", Data("o".utf8))
            for (name, target) in [("l1", "secret"), ("l2", "private/f"), ("l3", "open")] {
                try fixture.link("a/" + name, to: target)
            }
            try await run(.push)
            let sent = [".osssyncignore", "d/f", "d/m", "g", "l", "l3", "open"]
            #expect(try await fixture.objects() == sent)
        }

        @Test func `are not followed to directories, out of the mirror, or over links`()
            async throws
        {
            try fixture.write("outside", Data("secret".utf8))
            try fixture.makeDirectory("a/.osssync")
            let links = [
                "up": "..", "self": "self", "one": "two", "two": "one", "dir": "d",
                "out": "../outside", "absolute": fixture.directory("a/g"), "none": "no/such",
                "chain": "l", "through": "dir/f", "state": ".osssync/marker", "d/root": "../",
            ]
            for (name, target) in links { try fixture.link("a/" + name, to: target) }
            let log = EventLog()
            let summary = try await run(.push, log)
            #expect(summary.transferred == 4 && summary.notMirrored == links.count)
            #expect(summary.isComplete)
            #expect(try await fixture.objects() == Self.keys)
            for name in links.keys {
                #expect(log.skipped(name)?.contains("a symbolic link that leads") == true)
            }
        }

        @Test(arguments: [LinkPolicy.skip, .store], [true, false])
        func `are left as they are by a run with another policy`(
            policy: LinkPolicy,
            isThere: Bool
        ) async throws {
            try await run(.push)
            if !isThere { for name in ["l", "d/m"] { try fixture.remove("a/" + name) } }
            for direction in SyncDirection.allCases {
                let summary = try await fixture.run("a", direction) { options in
                    (options.links, options.deletesKnown) = (policy, true)
                    options.deletionLimit = .percent(100)
                }
                #expect(summary.deleted == 0 && summary.conflicts == 0)
            }
            #expect(try await Set(fixture.objects()).isSuperset(of: Self.keys))
            #expect(!isThere || isLink("a/l"))
            guard !isThere else { return }
            #expect(!fixture.exists("a/l"))
            // What went while they were left out, nobody deleted.
            let later = try await run(.push) { $0.deletesKnown = true }
            #expect(later.deleted == 0 && later.onlyRemote == 2)
        }

        @Test func `can become files, and the reverse`() async throws {
            try await run(.push)
            try fixture.remove("a/l")
            try fixture.write("a/l", MirrorFixture.ramp(50, 5))
            // A file is one whatever it was.
            #expect(try await fixture.run("a", .push).transferred == 1)
            try fixture.remove("a/l")
            try fixture.link("a/l", to: "d/f")
            #expect(try await run(.push).transferred == 1)
            #expect(try await fixture.object("l") == MirrorFixture.ramp(3_000))
            try fixture.remove("a/l")
            try fixture.write("a/l/x", MirrorFixture.ramp(60, 6))
            #expect(try await run(.push) { $0.deletesKnown = true }.deleted == 1)
            #expect(try await fixture.objects() == ["d/f", "d/m", "g", "l/x"])
        }
    }
}
