import Foundation
import ObjectStorage
import SyncModel
import Testing

@testable import SyncEngine

/// Directories with permissions of their own that a run makes again because it fetches a file into
/// them.
@Suite("Directories that come back")
struct ReturningDirectoryTests {
    private let fixture: MirrorFixture
    private let content = MirrorFixture.ramp(500, 3)

    init() throws {
        fixture = try MirrorFixture()
        try fixture.write("a/plain/f", content)
        try fixture.write("a/private/f", content)
        try fixture.write("a/private/g", content)
    }

    private func modeOfMarker() async throws -> String? {
        let store = try fixture.store(StoreObserver())
        let key = ObjectKey("mirror/private/")
        return try await store.head(key, versionID: nil).userMetadata["mode"]
    }

    private func push(_ permissions: Int) async throws {
        try fixture.setMode("a/private", permissions)
        try await fixture.run("a", .push)
    }

    private func removePrivate() throws {
        try fixture.setMode("a/private", 0o755)
        try FileManager.default.removeItem(atPath: fixture.directory("a/private"))
    }

    /// It is as its marker says, and no later run sends other permissions.
    private func expectMode(_ permissions: Int, in name: String) async throws {
        let octal = String(permissions, radix: 8)
        #expect(try fixture.mode(name + "/private") == permissions)
        for direction in [SyncDirection.push, .sync, .pull] {
            #expect(try await fixture.run(name, direction).modes == 0, "\(direction)")
            #expect(try fixture.mode(name + "/private") == permissions, "\(direction)")
        }
        #expect(try await modeOfMarker() == "40" + octal)
        try fixture.setMode(name + "/private", 0o755)
    }

    @Test(arguments: [0o700, 0o750, 0o555], [false, true])
    func `have their permissions when another machine adds a file`(
        _ permissions: Int,
        _ deletes: Bool
    ) async throws {
        try await push(permissions)
        try removePrivate()
        try await fixture.put("private/n", content)
        let run = try await fixture.run("a", .sync) { $0.deletesKnown = deletes }
        #expect((run.failed, run.skipped, run.modes, run.deletedHere) == (0, 0, 0, deletes ? 0 : 2))
        #expect(try await fixture.objects().contains("private/f") == !deletes)
        #expect(fixture.content("a/private/n") == content)
        try await expectMode(permissions, in: "a")
    }

    @Test func `have them though nothing makes empty directories`() async throws {
        try await push(0o700)
        try await fixture.put("private/n", content)
        try removePrivate()
        try await fixture.run("a", .pull) { $0.keepsEmptyDirectories = false }
        try await expectMode(0o700, in: "a")
        try await fixture.run("b", .pull) { $0.keepsEmptyDirectories = false }
        try await expectMode(0o700, in: "b")
    }

    @Test func `keep their markers as long as something is beneath`() async throws {
        try await push(0o700)
        try removePrivate()
        let filter = EngineRuns.FilterTests.filter("/private/f")
        let run = try await fixture.run("a", .push) {
            $0.deletesKnown = true
            $0.filter = filter
        }
        #expect((run.deleted, run.failed) == (1, 0))
        #expect(try await fixture.objects() == ["plain/f", "private/", "private/f"])
        try await fixture.run("a", .sync)
        try await expectMode(0o700, in: "a")
        // It goes with the last of them.
        try removePrivate()
        try await fixture.run("a", .push) { $0.deletesKnown = true }
        #expect(try await fixture.objects() == ["plain/f"])
    }

    @Test func `within others that go take their markers along in one run`() async throws {
        for name in ["private/p", "private/p/q", "private/p/q-r"] {
            try fixture.write("a/\(name)/f", content)
            try fixture.setMode("a/" + name, 0o700)
        }
        try await push(0o700)
        #expect(try await fixture.objects().count { $0.hasSuffix("/") } == 4)
        try removePrivate()
        try await fixture.run("a", .push) { $0.deletesKnown = true }
        #expect(try await fixture.objects() == ["plain/f"])
    }

    @Test(arguments: [0o700, 0o555])
    func `above the paths of a limited run have them`(_ permissions: Int) async throws {
        try await push(permissions)
        for direction in [SyncDirection.push, .sync, .pull] {
            for name in ["a", "new-\(direction)"] {
                if name == "a" { try removePrivate() }
                try await fixture.run(name, .pull) { $0.paths = ["private/f"] }
                #expect(try fixture.mode(name + "/private") == permissions)
                try await fixture.run(name, direction) { $0.deletesKnown = name != "a" }
                try await fixture.run(name, .pull)
                try await expectMode(permissions, in: name)
                try fixture.setMode(name + "/private", 0o755)
                if name == "a" { try await push(permissions) }
            }
        }
    }

    @Test(arguments: [0o700, 0o555], ["in", "empty", "in/f"])
    func `above directories that are the paths of a limited run have them`(
        _ permissions: Int,
        _ path: String
    ) async throws {
        try fixture.write("a/private/in/f", content)
        try fixture.makeDirectory("a/private/empty")
        for name in ["in", "empty"] { try fixture.setMode("a/private/" + name, 0o750) }
        try await push(permissions)
        try removePrivate()
        for name in ["a", "b"] {
            let run = try await fixture.run(name, .pull) { $0.paths = ["private/" + path] }
            #expect(run.failed == 0 && run.transferred > 0, "\(run)")
            #expect(try fixture.mode(name + "/private") == permissions)
            try fixture.setMode(name + "/private", 0o755)
        }
    }

    @Test func `above a file that a limited run renames have them`() async throws {
        let large = MirrorFixture.ramp(600_000)
        try fixture.write("a/plain/large", large)
        try await push(0o700)
        try await fixture.run("b", .pull)
        try FileManager.default.removeItem(atPath: fixture.directory("b/private"))
        try fixture.rename("a/plain/large", to: "a/private/large")
        try await fixture.run("a", .push) { $0.deletesKnown = true }
        let run = try await fixture.run("b", .pull) { options in
            options.paths = ["plain", "private/large"]
            options.deletesKnown = true
        }
        #expect(run.renamed == 1 && fixture.content("b/private/large") == large, "\(run)")
        #expect(try fixture.mode("b/private") == 0o700)
    }

    @Test(arguments: [0o700, 0o555])
    func `of another shard have them`(_ permissions: Int) async throws {
        try await push(permissions)
        var options = CutOptions()
        options.bounds = [[UInt8]("private/m".utf8)]
        _ = try await fixture.engine("a").cut(options) { _ in }
        try removePrivate()
        try await fixture.put("private/n", content)
        for _ in 0..<2 {
            for task in [0, 1] {
                _ = try await fixture.run("a", .sync) {
                    $0.deletesKnown = true
                    $0.shard = ShardSelection(task: task, of: 2, round: "r")
                }
            }
            #expect(try fixture.mode("a/private") == permissions)
        }
        #expect(try await modeOfMarker() == "40" + String(permissions, radix: 8))
        try fixture.setMode("a/private", 0o755)
    }

    /// The other one may have closed it again, or not; what a user gave it is sent.
    @Test func `that another shard opens after the walk are not sent so`() async throws {
        try await push(0o555)
        let key = ObjectKey("private/")
        try await fixture.inState { session in
            func shard(_ number: Int) -> Shard {
                Shard(
                    number: number,
                    range: .all,
                    cutting: Cutting(name: "cutting", bounds: ["z"]),
                    rules: nil,
                    whole: nil,
                    outcome: nil
                )
            }
            var settings = try fixture.engine("a").settings
            settings.shard = shard(0)
            let setup = try RunSetup(settings, session, .sync, .standard)
            let closed = ItemParts(setup).context.closed
            #expect(try await !closed.areChosen(0o755, key))
            try fixture.setMode("a/private", 0o755)
            #expect(try await closed.areChosen(0o755, key))
            let other = OpenedDirectories(of: shard(1).folder, in: session.directory)
            try other.write([OpenedDirectories.Item(key: key, mode: 0o555)])
            #expect(try await !closed.areChosen(0o755, key))
            try other.write([])
            #expect(try await closed.areChosen(0o755, key))
        }
    }
}
