import Foundation
import LocalStorage
import StorageServer
import SyncModel
import Testing

@testable import SyncEngine

extension EngineRuns {
    /// Files that become directories and the reverse (F107, F108), over several runs.
    @Suite("Files and directories of one name")
    struct PlaceTests {
        private func ramp(_ count: Int, _ seed: Int = 0) -> Data { MirrorFixture.ramp(count, seed) }

        @Test func `an object beside keys beneath its name is skipped in every run alike`()
            async throws
        {
            let fixture = try MirrorFixture()
            try await fixture.put("a", ramp(10))
            try await fixture.put("a-b", ramp(11))
            try await fixture.put("a/b", ramp(12))
            for number in 0..<3 {
                let log = EventLog()
                let pull = try await fixture.run("b", .pull, log) { $0.deletesKnown = true }
                #expect(pull.skipped == 1, "run \(number)")
                #expect(pull.failed == 0, "run \(number)")
                #expect(pull.transferred == (number == 0 ? 2 : 0), "run \(number)")
                #expect(log.skipped("a")?.contains("directory") == true)
                #expect(try fixture.tree("b") == ["a-b": ramp(11), "a/b": ramp(12)])
            }
            for _ in 0..<3 {
                try await fixture.run("b", .push) { $0.deletesKnown = true }
                #expect(try await fixture.objects() == ["a", "a-b", "a/b"])
            }
        }

        /// One is tried before anything is fetched.
        @Test(arguments: [EPERM, ENOSYS])
        func `links on a disk without any hold back only themselves`(errno: Int32) async throws {
            let fixture = try MirrorFixture()
            for name in ["f", "gone"] { try await fixture.put(name, ramp(10)) }
            try await fixture.run("b", .pull)
            try await fixture.put("deep/l.rclonelink", Data("../f".utf8))
            try await fixture.deleteObject("gone")
            let faults = SystemCallFaults(.fail(errno: errno), at: 1, of: ["symlinkat"])
            let calls = SystemCalls(usesOpenat2: true, faults: faults)
            fixture.server.clearRequestLog()
            let log = EventLog()
            let run = try await fixture.engine("b", calls: calls).run(
                .pull,
                options: MirrorFixture.options { ($0.deletesKnown, $0.links) = (true, .store) },
                onEvent: { log.add($0) }
            )
            #expect((run.skipped, run.failed, run.deleted) == (1, 0, 1), "\(run)")
            let fetched = fixture.server.requestLog.filter { $0.operation == "GetObject" }
            #expect(fetched.isEmpty, "\(fetched)")
            #expect(log.items.contains { $0.message?.contains("no symbolic links") == true })
        }

        @Test func `a file becomes a directory and a file again`() async throws {
            let fixture = try MirrorFixture()
            try await fixture.put("a", ramp(10))
            try await fixture.put("z", ramp(1))
            try await fixture.run("b", .pull)
            try await fixture.deleteObject("a")
            try await fixture.put("a/b", ramp(12))
            for number in 0..<2 {
                let pull = try await fixture.run("b", .pull) { $0.deletesKnown = true }
                #expect(pull.isInStep, "run \(number)")
                #expect(try fixture.tree("b") == ["a/b": ramp(12), "z": ramp(1)])
            }
            try await fixture.deleteObject("a/b")
            try await fixture.put("a", ramp(13))
            for number in 0..<2 {
                let pull = try await fixture.run("b", .pull) { $0.deletesKnown = true }
                #expect(pull.isInStep, "run \(number)")
                #expect(try fixture.tree("b") == ["a": ramp(13), "z": ramp(1)])
            }
            #expect(try await fixture.run("b", .push).requests == 1)
        }

        @Test func `a changed file does not give way to a directory`() async throws {
            let fixture = try MirrorFixture()
            try await fixture.put("a", ramp(10))
            try await fixture.run("b", .pull)
            try fixture.write("b/a", ramp(20, 7))
            try await fixture.deleteObject("a")
            try await fixture.put("a/b", ramp(12))
            for number in 0..<3 {
                let pull = try await fixture.run("b", .pull) { $0.deletesKnown = true }
                #expect(pull.skipped == 2, "run \(number)")
                #expect(!pull.isInStep)
                #expect(try fixture.tree("b") == ["a": ramp(20, 7)])
            }
            let forced = try await fixture.run("b", .pull) { $0.replacesLocalChanges = true }
            #expect((forced.transferred, forced.skipped) == (0, 2))
            #expect(try fixture.tree("b") == ["a": ramp(20, 7)])
            let given = try await fixture.run("b", .pull) { options in
                options.deletesKnown = true
                options.conflictPolicy = .remote
            }
            #expect((given.transferred, given.deleted) == (1, 1))
            #expect(try fixture.tree("b") == ["a/b": ramp(12)])
        }

        @Test func `a directory with files of the user's does not give way to a file`()
            async throws
        {
            let fixture = try MirrorFixture()
            try await fixture.put("a/b", ramp(10))
            try await fixture.put("z", ramp(1))
            try await fixture.run("b", .pull)
            try fixture.write("b/a/mine", ramp(5, 5))
            try await fixture.deleteObject("a/b")
            try await fixture.put("a", ramp(12))
            for number in 0..<3 {
                let pull = try await fixture.run("b", .pull) { $0.deletesKnown = true }
                #expect(!pull.isInStep, "run \(number)")
                #expect(fixture.content("b/a/mine") == ramp(5, 5))
            }
            try fixture.remove("b/a/mine")
            for _ in 0..<2 { try await fixture.run("b", .pull) { $0.deletesKnown = true } }
            #expect(try fixture.tree("b") == ["a": ramp(12), "z": ramp(1)])
            #expect(try await fixture.run("b", .pull).isInStep)
        }

        @Test func `a directory of the mirror becomes a file and pushes as one`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/d/x", ramp(10))
            try fixture.write("a/e", ramp(11))
            try await fixture.run("a", .push)
            try fixture.remove("a/d")
            try fixture.remove("a/e")
            try fixture.write("a/d", ramp(12))
            try fixture.write("a/e/y", ramp(13))
            let push = try await fixture.run("a", .push) { $0.deletesKnown = true }
            #expect(push.isInStep)
            #expect(try await fixture.objects() == ["d", "e/y"])
            try await fixture.run("b", .pull)
            #expect(try fixture.tree("b") == ["d": ramp(12), "e/y": ramp(13)])
        }

        @Test func `files that come after many links are seen before a first run`() throws {
            let fixture = try MirrorFixture()
            func hasFiles() throws -> Bool {
                try MirrorLink.hasFiles(
                    directory: fixture.directory("a"),
                    stateDirectory: nil,
                    homeDirectory: nil
                )
            }
            try fixture.makeDirectory("a")
            for index in 100..<200 {
                try FileManager.default.createSymbolicLink(
                    atPath: fixture.directory("a") + "/link\(index)",
                    withDestinationPath: "z"
                )
            }
            #expect(try !hasFiles())
            try fixture.write("a/z", ramp(10))
            #expect(try hasFiles())
        }

        @Test func `a status names objects with osssync's own names and counts them`()
            async throws
        {
            let fixture = try MirrorFixture()
            try fixture.write("a/f", ramp(10))
            try fixture.setModified("a/f", Date(timeIntervalSince1970: 1_000_000))
            try await fixture.run("a", .push)
            for key in [".osssync/config", "d/.osssync"] { try await fixture.put(key, ramp(11)) }
            let options = MirrorFixture.options {
                $0.deletesKnown = true
                $0.deletesExtra = true
            }
            let status = try await fixture.engine("a").status(options: options)
            var wanted = Differences()
            wanted.notMirrored = 2
            #expect(status.differences == wanted)
            for work in [status.pull, status.push, status.sync] {
                #expect((work.transfers, work.deletions, work.skipped) == (0, 0, 0))
            }
            #expect(status.warnings.count == 1)
            let warning = try #require(status.warnings.first)
            #expect(warning.hasPrefix("2 objects have names reserved for osssync's own"))
        }

        @Test func `a status counts no deletion of what a link hides`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/f", ramp(10))
            try fixture.write("a/g", ramp(11))
            try await fixture.run("a", .push)
            try fixture.remove("a/f")
            try FileManager.default.createSymbolicLink(
                atPath: fixture.directory("a") + "/f",
                withDestinationPath: "g"
            )
            let options = MirrorFixture.options { $0.deletesKnown = true }
            let hidden = try await fixture.engine("a").status(options: options)
            #expect(hidden.push.deletions == 0)
            #expect(hidden.issues.count == 1)
            #expect(try await fixture.run("a", .push) { $0.deletesKnown = true }.deleted == 0)
            try fixture.remove("a/f")
            let removed = try await fixture.engine("a").status(options: options)
            // Whoever takes it away has deleted nothing of what it hid.
            #expect(removed.push.deletions == 0)
        }
    }
}
