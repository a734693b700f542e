import Foundation
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

/// A damaged file, with its time, in the place of another one that is recorded.
@Suite("Damaged files in the places of others")
struct DamagedCopyTests {
    enum Way: CaseIterable {
        /// As `cp -p` does: the file keeps its inode.
        case writesOver
        /// As `tar` does.
        case replaces
        case moves
    }

    private let good = MirrorFixture.ramp(3_000, 1)

    /// Gives "a/other" what "a/f" has.
    private func put(_ way: Way, _ fixture: MirrorFixture) throws {
        switch way {
        case .writesOver:
            let content = try #require(fixture.content("a/f"))
            let file = try FileHandle(
                forWritingTo: URL(filePath: fixture.directory("a/other"))
            )
            try file.truncate(atOffset: 0)
            try file.write(contentsOf: content)
            try file.close()
            let times = try FileManager.default.attributesOfItem(atPath: fixture.directory("a/f"))
            try fixture.setModified("a/other", try #require(times[.modificationDate] as? Date))
        case .replaces:
            try fixture.remove("a/other")
            try fixture.copy("a/f", "a/other")
        case .moves:
            try fixture.remove("a/other")
            try fixture.rename("a/f", to: "a/other")
        }
    }

    /// No repair goes through it.
    @Test(arguments: [SyncDirection.push, .sync, .pull])
    func `are named for the link that took their place, and repaired without it`(
        direction: SyncDirection
    ) async throws {
        let fixture = try MirrorFixture()
        try fixture.write("a/f", good)
        try fixture.write("a/other", MirrorFixture.ramp(500, 2))
        try await fixture.run("a", .push)
        try await fixture.damage("f")
        let engine = try fixture.engine("a")
        #expect(try await engine.verify(VerifyOptions()) { _ in }.damaged == 1)
        try fixture.remove("a/f")
        try FileManager.default.createSymbolicLink(
            atPath: fixture.directory("a/f"),
            withDestinationPath: "other"
        )
        for _ in 0..<2 {
            let log = EventLog()
            let run = try await fixture.run("a", direction, log) { $0.deletesKnown = true }
            #expect(run.skipped == 1 && run.deleted == 0 && !run.isInStep, "\(run)")
            let item = try #require(log.items.first { $0.key == "f" && $0.state == .skipped })
            #expect(item.message?.contains("symbolic link") == true, "\(item)")
            #expect(try await fixture.object("f") == good)
        }
        try fixture.remove("a/f")
        #expect(try await engine.verify(VerifyOptions(repairs: true)) { _ in }.repaired == 1)
        #expect(try await fixture.run("a", direction).isInStep)
    }

    @Test(arguments: Way.allCases, [SyncDirection.push, .sync])
    func `are not sent, and keep the object there`(
        way: Way,
        direction: SyncDirection
    ) async throws {
        let fixture = try MirrorFixture()
        let other = MirrorFixture.ramp(500, 2)
        try fixture.write("a/f", good)
        try fixture.write("a/other", other)
        try await fixture.run("a", .push)
        // Times that every file system keeps as they are.
        for name in ["f", "other"] {
            try fixture.setModified("a/" + name, Date(timeIntervalSince1970: 1_700_000_000))
        }
        try await fixture.run("a", .push)
        try await fixture.damage("f")
        let engine = try fixture.engine("a")
        #expect(try await engine.verify(VerifyOptions()) { _ in }.damaged == 1)
        try put(way, fixture)
        for _ in 0..<2 {
            let run = try await fixture.run("a", direction) { $0.deletesKnown = true }
            #expect(run.damaged > 0 && run.transferred == 0 && !run.isInStep, "\(run)")
            #expect(try await fixture.object("other") == other)
            #expect(try await fixture.object("f") == good)
        }
        // An edit is one, whatever is damaged beside it.
        let edit = MirrorFixture.ramp(2_999, 3)
        try fixture.write("a/other", edit)
        try await fixture.run("a", direction)
        #expect(try await fixture.object("other") == edit)
    }

    /// What a copy has in common with it is what it is now, and not what was recorded.
    @Test(arguments: [SyncDirection.push, .sync], [false, true])
    func `are not sent under new names after somebody touched them`(
        direction: SyncDirection,
        hasNewInode: Bool
    ) async throws {
        let fixture = try MirrorFixture()
        try fixture.write("a/f", good)
        try await fixture.run("a", .push)
        try await fixture.damage("f")
        #expect(try await fixture.engine("a").verify(VerifyOptions()) { _ in }.damaged == 1)
        if hasNewInode {
            try fixture.copy("a/f", "a/other")
            try fixture.remove("a/f")
            try fixture.rename("a/other", to: "a/f")
        }
        let time = Date(timeIntervalSince1970: 1_700_000_000)
        try fixture.setModified("a/f", time)
        try fixture.copy("a/f", "a/copied")
        try FileManager.default.linkItem(
            atPath: fixture.directory("a/f"),
            toPath: fixture.directory("a/linked")
        )
        let other = MirrorFixture.ramp(3_000, 2)
        try fixture.write("a/new", other)
        try fixture.setModified("a/new", time)
        for _ in 0..<2 {
            let run = try await fixture.run("a", direction) { $0.deletesKnown = true }
            #expect(run.damaged == 3 && !run.isInStep, "\(run)")
            let objects = try await fixture.objects()
            #expect(objects.contains("new") && objects.count == 2, "\(objects)")
            #expect(try await fixture.object("f") == good)
        }
    }
}
