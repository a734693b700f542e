import Foundation
import LocalStorage
import ManifestStore
import SyncModel
import Testing

@testable import SyncEngine

/// File systems give the inode of a removed file to the next one that is made.
@Suite("Files with the inode of a damaged one")
struct ReusedInodeTests {
    let fixture: MirrorFixture
    private let good = MirrorFixture.ramp(3_000, 1)
    private let new = MirrorFixture.ramp(3_000, 9)

    /// A mirror "a" with a damaged file that a verification has found.
    init() async throws {
        fixture = try MirrorFixture()
        try fixture.write("a/one", good)
        try fixture.write("a/other", MirrorFixture.ramp(500))
        try await fixture.run("a", .push)
        try await fixture.damage("one")
        #expect(try await fixture.engine("a").verify(VerifyOptions()) { _ in }.damaged == 1)
    }

    /// Gives the row of the damaged file the inode of this one, as if it had been freed and used
    /// again; false where the file system does not say when files are made.
    private func reuseInode(for path: String) async throws -> Bool {
        var isKnown = false
        try await fixture.inState { session in
            let place = try RelativePath(path: ObjectKey(path))
            guard case .file(let file) = try session.directory.identity(of: place) else {
                throw CocoaError(.fileNoSuchFile)
            }
            guard let row = try await session.manifest.entry("one") else {
                throw CocoaError(.fileNoSuchFile)
            }
            let reused = row.replacing(inode: file.inode, isDamaged: true)
            try await session.manifest.record([.upsert(reused)])
            isKnown = try session.directory.birth(of: place) != nil
        }
        return isKnown
    }

    @Test(arguments: [SyncDirection.push, .sync])
    func `are sent if they were made later`(_ direction: SyncDirection) async throws {
        try fixture.remove("a/one")
        try fixture.write("a/new", new)
        guard try await reuseInode(for: "new") else { return }
        let run = try await fixture.run("a", direction) { $0.deletesKnown = true }
        #expect((run.transferred, run.damaged) == (1, 1), "\(run)")
        #expect(try await fixture.object("new") == new)
        #expect(try await fixture.object("one") == good, "the last good copy")
    }

    /// As ext4 gives inodes, if the tests run on one.
    @Test func `are sent if the disk itself gave them the inode`() async throws {
        let path = fixture.directory("a/one")
        let old = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber]
        try fixture.remove("a/one")
        try fixture.write("a/new", new)
        let found = try FileManager.default.attributesOfItem(
            atPath: fixture.directory("a/new")
        )[.systemFileNumber]
        guard old as? UInt64 == found as? UInt64 else { return }
        let run = try await fixture.run("a", .push)
        #expect((run.transferred, run.damaged) == (1, 1), "\(run)")
    }

    @Test func `are refused if they are the damaged one, under another name and time`()
        async throws
    {
        try fixture.rename("a/one", to: "a/two")
        try fixture.setModified("a/two", Date(timeIntervalSince1970: 1_700_000_000))
        let run = try await fixture.run("a", .push) { $0.deletesKnown = true }
        #expect((run.transferred, run.deleted, run.damaged) == (0, 0, 2), "\(run)")
        #expect(try await !fixture.objects().contains("two"))
    }

    @Test func `are refused if they are copies of its time`() async throws {
        try fixture.copy("a/one", "a/two")
        try fixture.remove("a/one")
        guard try await reuseInode(for: "two") else { return }
        let run = try await fixture.run("a", .push) { $0.deletesKnown = true }
        #expect((run.transferred, run.deleted, run.damaged) == (0, 0, 2), "\(run)")
    }

    @Test func `are told apart by the times of rows and files`() {
        func row(changed: Int64?) -> ManifestEntry {
            ManifestEntry(
                key: "k",
                size: 1,
                etag: ETag(wire: "e"),
                crc64: nil,
                lastModified: nil,
                storageClass: .standard,
                localModified: Timestamp(seconds: 5),
                inode: 7,
                changed: changed
            )
        }
        let birth = Timestamp(nanosecondsSince1970: 1_000)
        #expect(row(changed: 999).isOlder(than: birth))
        #expect(!row(changed: 1_000).isOlder(than: birth), "made in the moment of its recording")
        #expect(!row(changed: nil).isOlder(than: birth))
        #expect(!row(changed: 999).isOlder(than: nil))
    }
}
