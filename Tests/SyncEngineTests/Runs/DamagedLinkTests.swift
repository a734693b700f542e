import Foundation
import ManifestStore
import SyncModel
import Testing

@testable import SyncEngine

/// A file with two names is one file: damage that was found of one name is the other's, too.
@Suite("Damaged files with two names")
struct DamagedLinkTests {
    let fixture: MirrorFixture
    private let good = MirrorFixture.ramp(3_000, 1)

    /// A mirror "a" in which only "d/one" was verified.
    init() async throws {
        fixture = try MirrorFixture()
        try await fixture.pushLinked(good, "d/one", "d/two", beside: "other")
        try await fixture.damage("d/one", link: "d/two")
        let options = VerifyOptions(paths: ["d/one"])
        #expect(try await fixture.engine("a").verify(options) { _ in }.damaged == 1)
    }

    private func keepsBoth(_ direction: SyncDirection, damaged: Int) async throws {
        for isDryRun in [true, false, false] {
            let run = try await fixture.run("a", direction) {
                ($0.deletesKnown, $0.isDryRun) = (true, isDryRun)
            }
            #expect(run.damaged == damaged && run.transferred == 0 && run.deleted == 0, "\(run)")
            #expect(try await fixture.object("d/one") == good)
            #expect(try await fixture.object("d/two") == good)
        }
    }

    @Test(arguments: [SyncDirection.push, .sync])
    func `keep both objects when they are touched`(_ direction: SyncDirection) async throws {
        try fixture.setModified("a/d/two", Date(timeIntervalSince1970: 1_700_000_000))
        try await keepsBoth(direction, damaged: 2)
    }

    @Test(arguments: [SyncDirection.push, .sync])
    func `keep both objects when the other name goes`(_ direction: SyncDirection) async throws {
        try fixture.remove("a/d/two")
        try await keepsBoth(direction, damaged: 2)
    }

    @Test func `keep both objects when the other name is another one`() async throws {
        try fixture.rename("a/d/two", to: "a/d/three")
        try await keepsBoth(.push, damaged: 3)
        #expect(try await !fixture.objects().contains("d/three"))
    }

    /// The first name has a file of its own then, and the other one still has the damage.
    @Test(arguments: ["touched", "moved", "left"])
    func `keep the other object when one name is repaired`(_ name: String) async throws {
        switch name {
        case "touched":
            try fixture.setModified("a/d/two", Date(timeIntervalSince1970: 1_700_000_000))
        case "moved": try fixture.rename("a/d/two", to: "a/d/three")
        default: break
        }
        var options = VerifyOptions(paths: ["d/one"])
        options.repairs = true
        #expect(try await fixture.engine("a").verify(options) { _ in }.repaired == 1)
        #expect(fixture.content("a/d/one") == good)
        let run = try await fixture.run("a", .push) { $0.deletesKnown = true }
        #expect(run.damaged > 0 && run.transferred == 0 && run.deleted == 0, "\(run)")
        #expect(try await fixture.object("d/two") == good)
        options = VerifyOptions()
        options.repairs = true
        #expect(try await fixture.engine("a").verify(options) { _ in }.repaired == 1)
        #expect(fixture.content("a/d/two") == good)
    }

    @Test func `are no damage of a file that took the other name before`() async throws {
        let new = MirrorFixture.ramp(3_000, 9)
        try await fixture.inState { session in
            for key in ["d/one", "d/two"] as [ObjectKey] {
                let row = try #require(try await session.manifest.entry(key))
                try await session.manifest.record([.upsert(row.replacing())])
            }
        }
        try fixture.remove("a/d/two")
        try fixture.write("a/d/two", new)
        // Whole, and damaged again behind the ctime that it has with a single name.
        for _ in 0..<2 { try await fixture.damage("d/one") }
        let options = VerifyOptions(paths: ["d/one"])
        #expect(try await fixture.engine("a").verify(options) { _ in }.damaged == 1)
        let run = try await fixture.run("a", .push)
        #expect((run.damaged, run.transferred) == (1, 1))
        #expect(try await fixture.object("d/two") == new)
    }

    /// Killed after it was marked, and before its other names were looked for.
    @Test func `are looked for by the next run if the last one was killed`() async throws {
        try await fixture.inState { session in
            let row = try #require(try await session.manifest.entry("d/two"))
            try await session.manifest.record([.upsert(row.replacing())])
            try await session.manifest.setSetting(DamagedRows.unsearchedSetting, "1")
        }
        try fixture.remove("a/d/one")
        try await fixture.run("a", .pull)
        #expect(fixture.content("a/d/one") == good)
        try fixture.setModified("a/d/two", Date(timeIntervalSince1970: 1_700_000_000))
        try await keepsBoth(.push, damaged: 1)
    }

    @Test func `are a difference of which every look at the mirror knows`() async throws {
        let engine = try fixture.engine("a")
        let local = try fixture.localMirror("a")
        try await fixture.run("a", .push)
        let report = try await engine.status(options: .standard)
        #expect(report.differences.damaged == 2 && !report.isInStep, "\(report)")
        #expect(try await local.damagedFiles() == 2)
        #expect(try await local.wasInStep() == false)
        #expect(try await engine.explain(path: "d/two", of: [:]).recorded?.isDamaged == true)
        #expect(try await engine.verify(VerifyOptions(repairs: true)) { _ in }.repaired > 0)
        #expect(try await engine.status(options: .standard).differences.damaged == 0)
        #expect(try await local.damagedFiles() == 0)
        #expect(try await engine.explain(path: "d/two", of: [:]).recorded?.isDamaged == false)
    }
}

/// What one shard knows of damage, the others ask.
@Suite("Damaged files of a cut mirror")
struct DamagedShardTests {
    let fixture: MirrorFixture
    private let good = MirrorFixture.ramp(3_000, 1)

    init() async throws {
        fixture = try MirrorFixture()
        try await fixture.pushLinked(good, "docs/one", "two", beside: "z")
        try await fixture.damage("docs/one", link: "two")
    }

    private func cut(_ bounds: [String]) async throws {
        var options = CutOptions()
        options.bounds = bounds.map { [UInt8]($0.utf8) }
        _ = try await fixture.engine("a").cut(options) { _ in }
    }

    private func join() async throws {
        var options = CutOptions()
        options.count = 1
        _ = try await fixture.engine("a").cut(options) { _ in }
    }

    private func verify() async throws {
        let options = VerifyOptions(paths: ["docs/one"])
        #expect(try await fixture.engine("a").verify(options) { _ in }.damaged == 1)
    }

    /// A directory that was left empty gets a marker, which has no bytes.
    private func keepsGood(damaged: Int) async throws {
        for isDryRun in [true, false, false] {
            let run = try await fixture.run("a", .push) {
                ($0.deletesKnown, $0.isDryRun) = (true, isDryRun)
            }
            #expect(run.damaged == damaged && run.bytes == 0 && run.deleted == 0, "\(run)")
            #expect(try await fixture.object("docs/one") == good)
            #expect(try await fixture.object("two") == good)
        }
        #expect(try await !fixture.objects().contains { $0 == "z/one" || $0 == "b" })
    }

    @Test func `are not sent from another shard, whatever moved there`() async throws {
        try await verify()
        try await cut(["e", "t"])
        try fixture.rename("a/docs/one", to: "a/z/one")
        try fixture.rename("a/two", to: "a/b")
        try await keepsGood(damaged: 4)
        try await cut(["docs/p", "z/a"])
        try await keepsGood(damaged: 4)
        try await join()
        try await keepsGood(damaged: 4)
    }

    @Test func `come back by a pull once they were moved away, which replaces nothing else`()
        async throws
    {
        try fixture.write("a/mine", MirrorFixture.ramp(10))
        try await fixture.run("a", .push)
        try await cut(["e", "t"])
        let log = EventLog()
        _ = try await fixture.run("a", .push, log) { $0.comparesContent = true }
        for key in ["docs/one", "two"] {
            let advice = "once the file is moved out of DIR, 'osssync pull DIR' downloads it again"
            let message = try #require(log.skipped(key))
            #expect(message.contains(advice) && !message.contains("verify"), "\(message)")
        }
        let mine = MirrorFixture.ramp(20)
        try fixture.write("a/mine", mine)
        for key in ["docs/one", "two"] { try fixture.remove("a/" + key) }
        try await fixture.run("a", .pull)
        for key in ["docs/one", "two"] { #expect(fixture.content("a/" + key) == good) }
        #expect(fixture.content("a/mine") == mine)
        let run = try await fixture.run("a", .push) { $0.deletesKnown = true }
        #expect((run.damaged, run.transferred, run.deleted) == (0, 1, 0))
    }

    /// A file that was removed from another shard, and is no damaged one.
    @Test func `hold back the objects of files like them, which are not damaged`() async throws {
        try fixture.write("a/z/like", MirrorFixture.ramp(3_000, 77))
        let time = Date(timeIntervalSince1970: 1_600_000_000)
        for name in ["docs/one", "z/like"] { try fixture.setModified("a/" + name, time) }
        try await fixture.run("a", .push)
        try await fixture.run("a", .push)
        try await fixture.damage("docs/one", link: "two")
        try await verify()
        try await cut(["e", "t"])
        try fixture.remove("a/z/like")
        for isDryRun in [true, false] {
            let log = EventLog()
            let run = try await fixture.run("a", .push, log) {
                ($0.deletesKnown, $0.isDryRun) = (true, isDryRun)
            }
            #expect((run.damaged, run.skipped, run.deleted) == (2, 1, 0), "\(run)")
            let message = try #require(log.skipped("z/like"))
            #expect(message.contains("had the size and time of"), "\(message)")
        }
        #expect(try await fixture.objects().contains("z/like"))
    }

    @Test func `that the run of a shard found are known to the next one`() async throws {
        try await cut(["e", "t"])
        // All that lies behind is in another shard than the first.
        let options: (inout RunOptions) -> Void = {
            $0.comparesContent = true
            $0.shard = ShardSelection(task: 0, of: 3, round: "r")
        }
        let found = try await fixture.run("a", .push, EventLog(), options)
        #expect(found.damaged == 1)
        try fixture.copy("a/docs/one", "a/z/one")
        try fixture.setModified("a/two", Date(timeIntervalSince1970: 1_700_000_000))
        try await keepsGood(damaged: 3)
        // Good again, and no longer in any list.
        try fixture.remove("a/z/one")
        try fixture.write("a/docs/one", good)
        try fixture.write("a/two", good)
        let end = try await fixture.run("a", .push) { $0.replacesLocalChanges = true }
        #expect(end.damaged == 0 && end.isComplete, "\(end)")
        // The first shard's goes when it has seen that the last one knows.
        try await fixture.run("a", .push)
        try await fixture.run("a", .push)
        #expect(try lists().isEmpty)
    }

    private func lists() throws -> [String] {
        try fixture.names(in: "a/.osssync/shards").flatMap {
            (try? fixture.names(in: "a/.osssync/shards/\($0)/damaged")) ?? []
        }
    }

    /// One shard finds the damage and has good content again before another, which has the second
    /// name, is run at all.
    @Test(arguments: ["touched", "removed", "cut anew", "joined"])
    func `that a shard has repaired are known to the next one`(_ name: String) async throws {
        try await cut(["e", "t"])
        let first: (inout RunOptions) -> Void = {
            $0.comparesContent = true
            $0.shard = ShardSelection(task: 0, of: 3, round: "r")
        }
        #expect(try await fixture.run("a", .push, EventLog(), first).damaged == 1)
        try fixture.remove("a/docs/one")
        try await fixture.run("a", .pull, EventLog()) {
            $0.shard = ShardSelection(task: 0, of: 3, round: "s")
        }
        #expect(fixture.content("a/docs/one") == good)
        switch name {
        case "cut anew": try await cut(["docs/p", "z/a"])
        case "joined": try await join()
        case "removed": try fixture.remove("a/two")
        default: break
        }
        if name != "removed" {
            try fixture.setModified("a/two", Date(timeIntervalSince1970: 1_700_000_000))
        }
        try await keepsGood(damaged: 1)
        if name != "removed" { try fixture.remove("a/two") }
        try await fixture.run("a", .pull)
        #expect(fixture.content("a/two") == good)
        for _ in 0..<2 { #expect(try await fixture.run("a", .push).damaged == 0) }
        #expect(try name == "joined" || lists().allSatisfy { $0.hasSuffix("searched") })
    }
}

/// Files of one size and time, of which one is damaged.
@Suite("Files like a damaged one")
struct LikeDamagedTests {
    let fixture: MirrorFixture

    /// A mirror "a" in which "d/0" is marked.
    init() async throws {
        fixture = try MirrorFixture()
        for index in 0..<6 {
            try fixture.write("a/d/\(index)", content(index))
            try setTime("d/\(index)")
        }
        try await fixture.run("a", .push)
        try await fixture.damage("d/0")
        let options = VerifyOptions(paths: ["d/0"])
        #expect(try await fixture.engine("a").verify(options) { _ in }.damaged == 1)
    }

    private func content(_ index: Int) -> Data { MirrorFixture.ramp(3_000, index + 1) }

    private func setTime(_ key: String) throws {
        try fixture.setModified("a/" + key, Date(timeIntervalSince1970: 1_700_000_000))
    }

    @Test(arguments: [SyncDirection.push, .sync])
    func `are sent under new names if they are sound`(_ direction: SyncDirection) async throws {
        try fixture.rename("a/d/1", to: "a/d/renamed")
        try fixture.copy("a/d/2", "a/d/copy")
        try setTime("d/copy")
        try fixture.write("a/d/new", content(9))
        try setTime("d/new")
        let run = try await fixture.run("a", direction) { $0.deletesKnown = true }
        #expect((run.damaged, run.deleted) == (1, 0), "\(run)")
        #expect(try await fixture.object("d/renamed") == content(1))
        #expect(try await fixture.object("d/copy") == content(2))
        #expect(try await fixture.object("d/new") == content(9))
        #expect(try await fixture.object("d/0") == content(0))
    }

    /// Nothing tells whether a file is a copy of a damaged one that is not in its place any more.
    @Test func `are refused if the damaged one is gone, and no object of their size goes`()
        async throws
    {
        try fixture.remove("a/d/0")
        try fixture.rename("a/d/1", to: "a/d/renamed")
        try fixture.write("a/d/new", content(9))
        try setTime("d/new")
        try fixture.remove("a/d/2")
        for isDryRun in [true, false] {
            let run = try await fixture.run("a", .push) {
                ($0.deletesKnown, $0.isDryRun) = (true, isDryRun)
            }
            #expect((run.damaged, run.deleted) == (2, 0), "\(run)")
        }
        #expect(try await fixture.object("d/renamed") == content(1))
        #expect(try await fixture.object("d/2") == content(2))
        #expect(try await !fixture.objects().contains("d/new"))
    }

    /// One that was damaged, too, which nobody had found before it was renamed.
    @Test func `are marked if they are not what their own row records`() async throws {
        try await fixture.damage("d/2")
        try fixture.rename("a/d/2", to: "a/d/renamed")
        for _ in 0..<2 {
            let run = try await fixture.run("a", .push) { $0.deletesKnown = true }
            #expect(run.deleted == 0 && run.transferred == 0, "\(run)")
            #expect(try await fixture.object("d/2") == content(2))
        }
        var options = VerifyOptions()
        options.repairs = true
        #expect(try await fixture.engine("a").verify(options) { _ in }.repaired == 2)
        #expect(fixture.content("a/d/2") == content(2))
    }
}

extension MirrorFixture {
    /// Pushes a new mirror "a" with a file that has two names, and others beneath `folder`.
    fileprivate func pushLinked(
        _ content: Data,
        _ name: String,
        _ link: String,
        beside folder: String
    ) async throws {
        try write("a/" + name, content)
        try FileManager.default.linkItem(
            atPath: directory("a/" + name),
            toPath: directory("a/" + link)
        )
        for index in 0..<20 {
            try write("a/\(folder)/f\(index)", Self.ramp(500, index + 5))
        }
        try await run("a", .push)
    }
}
