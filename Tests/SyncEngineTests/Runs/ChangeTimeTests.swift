import Foundation
import LocalStorage
import ManifestStore
import SyncModel
import Testing

@testable import SyncEngine

/// The ctime tells an edit from damage: whatever writes a file moves it.
@Suite("Changes behind the modification time")
struct ChangeTimeTests {
    let fixture: MirrorFixture

    /// A mirror "a" of five files, recorded so long ago that their times tell of each change.
    init() async throws {
        fixture = try MirrorFixture()
        for index in 0..<5 {
            try fixture.write("a/f\(index)", MirrorFixture.ramp(2_000, index))
            try setBack("a/f\(index)")
        }
        try await fixture.run("a", .push)
        try await fixture.run("b", .pull)
    }

    private func setBack(_ path: String) throws {
        try fixture.setModified(path, Date(timeIntervalSince1970: 1_700_000_000.5))
    }

    /// As a program that edits tags and keeps the time.
    private func edit(_ path: String) throws -> Data {
        var content = try #require(fixture.content(path))
        content[7] ^= 0xFF
        let file = try FileHandle(forWritingTo: URL(filePath: fixture.directory(path)))
        try file.write(contentsOf: content)
        try file.close()
        try setBack(path)
        return content
    }

    /// The rows of "a" whose files do not have the recorded ctime.
    private func moved() async throws -> [String] {
        var moved: [String] = []
        try await fixture.inState { session in
            for row in try await session.manifest.rows(.entries(in: .all), limit: 1_000) {
                let found = try session.directory.identity(of: try row.path)
                guard case .file(let file) = found else { continue }
                if row.changed != file.recordedChange { moved.append(row.key.display) }
            }
        }
        return moved
    }

    @Test(arguments: [SyncDirection.push, .sync])
    func `are sent as edits`(_ direction: SyncDirection) async throws {
        let edited = try edit("a/f1")
        let run = try await fixture.run("a", direction)
        #expect((run.transferred, run.damaged, run.unchanged) == (1, 0, 4))
        #expect(run.isComplete)
        #expect(try await fixture.object("f1") == edited)
        #expect(try await fixture.run("a", direction).transferred == 0)
    }

    @Test func `are local changes to a pull`() async throws {
        let edited = try edit("b/f1")
        let run = try await fixture.run("b", .pull)
        #expect((run.transferred, run.localChanges, run.damaged) == (0, 1, 0))
        #expect(fixture.content("b/f1") == edited)
    }

    @Test func `are no damage to a verification, which undoes none`() async throws {
        let edited = try edit("a/f1")
        let engine = try fixture.engine("a")
        let report = try await engine.verify(VerifyOptions(repairs: true)) { _ in }
        #expect((report.changed, report.damaged, report.repaired) == (1, 0, 0))
        #expect(fixture.content("a/f1") == edited)
        let checked = try await fixture.run("a", .push) { $0.comparesContent = true }
        #expect((checked.transferred, checked.damaged) == (1, 0))
    }

    @Test func `are none where only other names or rights changed: read once, not sent`()
        async throws
    {
        try FileManager.default.linkItem(
            atPath: fixture.directory("a/f1"),
            toPath: fixture.directory("elsewhere")
        )
        #expect(try await moved() == ["f1"])
        let run = try await fixture.run("a", .push)
        #expect((run.transferred, run.unchanged) == (0, 5) && run.isComplete)
        #expect(try await moved().isEmpty)
    }

    @Test func `made by runs are recorded: the next one reads nothing`() async throws {
        #expect(try await moved().isEmpty)
        for index in 0..<5 {
            try fixture.write("b/f\(index)", MirrorFixture.ramp(3_000, index + 9))
        }
        try fixture.write("b/new", MirrorFixture.ramp(300_000, 3))
        try await fixture.run("b", .push)
        #expect(try await fixture.run("a", .pull).transferred == 6)
        #expect(try await moved().isEmpty)
        // A rename in the bucket is one on the disk.
        try FileManager.default.moveItem(
            atPath: fixture.directory("b/new"),
            toPath: fixture.directory("b/newer")
        )
        try await fixture.run("b", .push) { $0.deletesKnown = true }
        #expect(try await fixture.run("a", .pull) { $0.deletesKnown = true }.renamed == 1)
        #expect(try await moved().isEmpty)
        // Of two names of a file, the one that is replaced moves the other's.
        try FileManager.default.removeItem(atPath: fixture.directory("a/f2"))
        try FileManager.default.linkItem(
            atPath: fixture.directory("a/f1"),
            toPath: fixture.directory("a/f2")
        )
        try await fixture.run("a", .push)
        try await fixture.run("a", .push)
        #expect(try await moved().isEmpty)
        try fixture.write("b/f1", MirrorFixture.ramp(77, 1))
        try await fixture.run("b", .push)
        #expect(try await fixture.run("a", .pull).transferred == 1)
        #expect(try await fixture.run("a", .pull).isComplete)
        #expect(try await moved().isEmpty)
    }

    @Test func `are seen from a verification on where a row has none`() async throws {
        try await fixture.inState { session in
            for row in try await session.manifest.rows(.entries(in: .all), limit: 9) {
                let old = ManifestEntry(
                    key: row.key,
                    size: row.size,
                    etag: row.etag,
                    crc64: row.crc64,
                    lastModified: row.lastModified,
                    storageClass: row.storageClass,
                    localModified: row.localModified,
                    inode: row.inode
                )
                try await session.manifest.record([.upsert(old)])
            }
        }
        _ = try edit("a/f1")
        #expect(try await fixture.run("a", .push).transferred == 0, "as it was without it")
        let engine = try fixture.engine("a")
        #expect(try await engine.verify(VerifyOptions()) { _ in }.damaged == 1)
        let edited = try edit("a/f2")
        #expect(try await fixture.run("a", .push).transferred == 1)
        #expect(try await fixture.object("f2") == edited)
    }
}
