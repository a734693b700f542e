import Foundation
import Glibc
import LocalStorage
import ManifestStore
import ObjectStorage
import StorageServer
import SyncModel
import Testing

@testable import SyncEngine

/// Permissions that changed without the content.
@Suite("Permissions alone")
struct ModeTests {
    private let fixture: MirrorFixture
    private let content = MirrorFixture.ramp(2_000, 3)

    /// Two mirrors of three files that anybody may read, of which one object has properties of
    /// other tools.
    init() async throws {
        fixture = try MirrorFixture()
        for name in ["f", "g", "h"] {
            try fixture.write("a/" + name, content)
            try fixture.setMode("a/" + name, 0o644)
        }
        try await fixture.run("a", .push) {
            $0.properties.metadata["colour"] = "blue"
            $0.properties.contentHeaders["cache-control"] = "max-age=7"
        }
        try await fixture.run("b", .pull)
        fixture.server.clearRequestLog()
    }

    /// In a directory in which all users may take names away.
    @Test(arguments: SyncDirection.allCases, [true, false])
    func `of a file that another user put there are neither sent nor given to a new version`(
        _ direction: SyncDirection,
        hasOldInode: Bool
    ) async throws {
        guard geteuid() == 0 else { return }
        try fixture.setMode("a/f", 0o600)
        try await fixture.run("a", .push)
        try fixture.setMode("a", 0o777)
        try fixture.remove("a/f")
        try fixture.write("a/f", content)
        try fixture.setMode("a/f", 0o666)
        let path = fixture.directory("a/f")
        #expect(unsafe chown(path, 12_345, 12_346) == 0)
        if hasOldInode {
            // As file systems do that give it to the next file.
            try await fixture.inState { session in
                let row = try #require(try await session.manifest.entry("f"))
                let found = try session.directory.identity(of: try row.path)
                guard case .file(let file) = found else { throw CocoaError(.fileNoSuchFile) }
                try await session.manifest.record([.upsert(row.replacing(inode: file.inode))])
            }
        }
        for _ in 0..<2 {
            #expect(try await fixture.run("a", direction).modes == 0)
            #expect(try await fixture.head("f").userMetadata["mode"] == "100600")
        }
        guard direction != .push else { return }
        try await fixture.put("f", Data("a secret".utf8))
        try await fixture.run("a", direction)
        #expect(fixture.content("a/f") == Data("a secret".utf8))
        #expect(try fixture.mode("a/f") == 0o600)
        let owner = try FileManager.default.attributesOfItem(atPath: path)[.ownerAccountID]
        #expect(owner as? NSNumber == 0)
    }

    @Test(arguments: [SyncDirection.push, .sync])
    func `are sent by a copy in place, which keeps all else`(
        _ direction: SyncDirection
    ) async throws {
        let before = try await fixture.head("f")
        try fixture.setMode("a/f", 0o600)
        let log = EventLog()
        let run = try await fixture.run("a", direction, log)
        #expect((run.modes, run.transferred, run.unchanged) == (1, 0, 2) && run.isComplete)
        #expect(Set(fixture.operations) == ["HeadObject", "CopyObject"])
        let after = try await fixture.head("f")
        #expect(after.userMetadata["mode"] == "100600")
        var kept = after.userMetadata
        kept["mode"] = before.userMetadata["mode"]
        #expect(kept == before.userMetadata && kept["colour"] == "blue")
        #expect(after.contentHeaders == before.contentHeaders)
        #expect(after.contentType == before.contentType && after.etag == before.etag)
        #expect(try await fixture.object("f") == content)
        fixture.server.clearRequestLog()
        #expect(try await fixture.run("a", direction).modes == 0)
        #expect(fixture.operations.isEmpty, "\(fixture.operations)")
    }

    @Test(arguments: [SyncDirection.pull, .sync])
    func `that are not sent yet are sent after a new version came`(
        _ direction: SyncDirection
    ) async throws {
        try fixture.setMode("a/f", 0o600)
        try fixture.write("b/f", MirrorFixture.ramp(2_100, 4))
        #expect(try await fixture.run("b", .push).transferred == 1)
        let log = EventLog()
        let fetched = try await fixture.run("a", direction, log)
        #expect(fetched.transferred == 1, "\(fetched) \(log.items) \(log.warnings)")
        #expect(try fixture.mode("a/f") == 0o600)
        let sent = try await fixture.run("a", .push, log)
        #expect(sent.modes == 1, "\(sent) \(log.items) \(log.warnings)")
        #expect(try await fixture.head("f").userMetadata["mode"] == "100600")
        try await fixture.run("b", .pull)
        #expect(try fixture.mode("b/f") == 0o600)
    }

    @Test(arguments: [SyncDirection.pull, .sync])
    func `of a new version and of a new name take away at once`(
        _ direction: SyncDirection
    ) async throws {
        let large = MirrorFixture.ramp(300_000, 5)
        try fixture.write("a/large", large)
        try fixture.setMode("a/large", 0o644)
        try await fixture.run("a", .push)
        try await fixture.run("b", .pull)
        for name in ["f", "g"] { try fixture.write("a/" + name, MirrorFixture.ramp(2_100, 4)) }
        try fixture.setMode("a/f", 0o600)
        try fixture.setMode("a/g", 0o755)
        try fixture.setMode("b/h", 0o600)
        try fixture.write("a/h", MirrorFixture.ramp(2_100, 4))
        try fixture.setMode("a/large", 0o600)
        try fixture.rename("a/large", to: "a/moved")
        try await fixture.run("a", .push) { $0.deletesKnown = true }
        let run = try await fixture.run("b", direction) { $0.deletesKnown = true }
        #expect(run.renamed == 1 && fixture.content("b/moved") == large)
        let modes = try ["f", "g", "h", "moved"].map { try fixture.mode("b/" + $0) }
        #expect(modes == [0o600, 0o755, 0o600, 0o600])
        #expect(try await fixture.run("b", .push).modes == 1)
    }

    @Test(arguments: [SyncDirection.pull, .sync])
    func `are taken once, for one request`(_ direction: SyncDirection) async throws {
        try fixture.setMode("a/f", 0o600)
        try await fixture.run("a", .push)
        fixture.server.clearRequestLog()
        let run = try await fixture.run("b", direction)
        #expect((run.modes, run.transferred, run.unchanged) == (1, 0, 2) && run.isComplete)
        #expect(fixture.operations == ["HeadObject"])
        #expect(try fixture.mode("b/f") == 0o600 && fixture.mode("b/g") == 0o644)
        fixture.server.clearRequestLog()
        #expect(try await fixture.run("b", direction).modes == 0)
        #expect(fixture.operations.isEmpty, "\(fixture.operations)")
        // Back again, on the machine that sent them.
        try fixture.setMode("b/f", 0o640)
        #expect(try await fixture.run("b", .push).modes == 1)
        #expect(try await fixture.run("a", .pull).modes == 1)
        #expect(try fixture.mode("a/f") == 0o640)
    }

    @Test func `are never more than new files have here`() async throws {
        try fixture.setMode("a/f", 0o777)
        try await fixture.run("a", .push)
        try await fixture.run("b", .pull)
        #expect(try fixture.mode("b/f") == Int(MirrorDirectory.ordinaryPermissions))
        #expect(try await fixture.run("b", .push).modes == 0)
    }

    @Test func `that changed here stay in a pull, and are sent by the next push`() async throws {
        try fixture.setMode("a/f", 0o600)
        try await fixture.run("a", .push)
        try fixture.setMode("b/f", 0o640)
        #expect(try await fixture.run("b", .pull).modes == 0)
        #expect(try fixture.mode("b/f") == 0o640)
        // Both sides are not equal, and the file is not read again to see it.
        let kept = try await fixture.run("b", .pull)
        #expect((kept.localChanges, kept.unchanged) == (1, 2) && !kept.isInStep)
        #expect(try await fixture.run("b", .push).modes == 1)
        #expect(try await fixture.head("f").userMetadata["mode"] == "100640")
        try fixture.setMode("b/g", 0o600)
        #expect(try await fixture.run("b", .pull) { $0.replacesLocalChanges = true }.modes == 1)
        #expect(try fixture.mode("b/g") == 0o644)
    }

    @Test(arguments: [true, false])
    func `that both sides changed in the same way are equal`(isForced: Bool) async throws {
        try fixture.setMode("a/f", 0o600)
        try await fixture.run("a", .push)
        try fixture.setMode("b/f", 0o600)
        let first = try await fixture.run("b", .pull) { $0.replacesLocalChanges = isForced }
        #expect(first.localChanges == 0 && first.isInStep)
        fixture.server.clearRequestLog()
        #expect(try await fixture.run("b", .sync).isInStep)
        #expect(fixture.operations.isEmpty, "\(fixture.operations)")
    }

    @Test func `that changed with the name are on the copy`() async throws {
        try fixture.write("a/big", MirrorFixture.ramp(300_000, 8))
        try fixture.setMode("a/big", 0o644)
        try await fixture.run("a", .push)
        try fixture.rename("a/big", to: "a/renamed")
        try fixture.setMode("a/renamed", 0o600)
        let run = try await fixture.run("a", .push) { $0.deletesKnown = true }
        #expect((run.renamed, run.deleted) == (1, 0) && run.isInStep)
        #expect(try await fixture.head("renamed").userMetadata["mode"] == "100600")
        #expect(try await fixture.run("a", .push).modes == 0)
    }

    @Test func `are of no interest without metadata`() async throws {
        try fixture.setMode("a/f", 0o600)
        let run = try await fixture.run("a", .push) { $0.keepsFileMetadata = false }
        #expect((run.modes, run.unchanged) == (0, 3))
        #expect(Set(fixture.operations).isEmpty)
        // Nothing is lost by it.
        #expect(try await fixture.run("a", .push).modes == 1)
    }

    @Test func `are told by a dry run, status and the summary`() async throws {
        try fixture.setMode("a/f", 0o600)
        let log = EventLog()
        let dry = try await fixture.run("a", .push, log) { $0.isDryRun = true }
        #expect((dry.modes, dry.unchanged, dry.transferred) == (1, 2, 0))
        let said = log.events { event -> String? in
            if case .item(let item) = event, item.action == .mode { item.message } else { nil }
        }
        #expect(said == ["permissions changed"])
        #expect(fixture.operations.isEmpty)
        #expect(try fixture.mode("a/f") == 0o600)
    }

    @Test func `are no other writer's to overwrite`() async throws {
        try fixture.setMode("a/f", 0o600)
        try await fixture.put("f", MirrorFixture.ramp(2_000, 9))
        let run = try await fixture.run("a", .push)
        #expect((run.modes, run.conflicts) == (0, 1))
        #expect(try await fixture.object("f") == MirrorFixture.ramp(2_000, 9))
    }

    @Test func `and other metadata that a copy loses come with the content`() async throws {
        let fixture = try MirrorFixture(dialect: .s3)
        for name in ["f", "g"] { try fixture.write("a/" + name, content + Data(name.utf8)) }
        try await fixture.run("a", .push) { $0.properties.metadata["colour"] = "blue" }
        try fixture.setFaults(
            #"[{"match": {"operation": "HeadObject", "key": "mirror/f2"},"#
                + #""effect": {"headers": {"remove": ["x-amz-meta-mtime"]}}}]"#
        )
        let log = EventLog()
        for name in ["f", "g"] {
            try FileManager.default.moveItem(
                atPath: fixture.directory("a/" + name),
                toPath: fixture.directory("a/\(name)2")
            )
            let run = try await fixture.run("a", .push, log) { $0.deletesKnown = true }
            #expect((run.renamed, run.deleted) == (1, 0) && run.isInStep, "\(run)")
        }
        #expect(fixture.operations.count { $0 == "CopyObject" } == 1)
        #expect(log.warnings.count == 1)
        try fixture.setFaults("[]")
        for name in ["f2", "g2"] {
            let object = try await fixture.store(StoreObserver()).head(
                ObjectKey("mirror/" + name),
                versionID: nil
            )
            #expect(object.userMetadata["colour"] == "blue" && object.userMetadata["mtime"] != nil)
        }
    }

    @Test func `are tried once at a store that drops them from copies`() async throws {
        let fixture = try MirrorFixture(dialect: .s3)
        func set(_ path: String, _ mode: Int) throws {
            try FileManager.default.setAttributes(
                [.posixPermissions: mode],
                ofItemAtPath: fixture.directory(path)
            )
        }
        for name in ["f", "g"] { try fixture.write("a/" + name, content) }
        try fixture.makeDirectory("a/d")
        try fixture.setMode("a/d", 0o700)
        try await fixture.run("a", .push)
        try fixture.setFaults(
            #"[{"match": {"operation": "HeadObject"},"#
                + #""effect": {"headers": {"remove": ["x-amz-meta-mode"]}}}]"#
        )
        try fixture.setMode("a/f", 0o600)
        let log = EventLog()
        let first = try await fixture.run("a", .push, log)
        #expect(first.modes == 0 && first.isComplete)
        #expect(log.warnings.count { $0.hasPrefix("this store does not keep") } == 1)
        #expect(log.warnings.count == 2)
        try fixture.setMode("a/g", 0o600)
        try fixture.setMode("a/d", 0o750)
        let status = try await fixture.engine("a").status(options: .standard)
        #expect(status.push.modes == 0 && status.differences.localChanges == 0)
        #expect(try await fixture.run("a", .push) { $0.isDryRun = true }.modes == 0)
        fixture.server.clearRequestLog()
        let later = EventLog()
        for _ in 0..<2 {
            #expect(try await fixture.run("a", .push, later).isInStep)
            #expect(fixture.operations.isEmpty, "\(fixture.operations)")
        }
        #expect(later.warnings.isEmpty)
    }

    @Test(arguments: [SyncDirection.push, .sync])
    func `of an archived object stay here, and are counted`(_ direction: SyncDirection) async throws
    {
        try fixture.write("a/cold", content)
        try fixture.setMode("a/cold", 0o644)
        try await fixture.run("a", .push) { $0.properties.storageClass = "Archive" }
        #expect(try await fixture.run("a", direction).isInStep)
        try fixture.setMode("a/cold", 0o600)
        fixture.server.clearRequestLog()
        for _ in 0..<2 {
            let log = EventLog()
            let run = try await fixture.run("a", direction, log)
            #expect((run.modes, run.localChanges, run.isInStep) == (0, 1, false))
            #expect(log.skipped("cold")?.contains("its object is archived") == true)
        }
        #expect(!fixture.operations.contains("CopyObject"))
        #expect(try await fixture.head("cold").userMetadata["mode"] == "100644")
    }
}
