import Foundation
import ObjectStorage
import SyncModel
import Testing

@testable import SyncEngine

/// Permissions of directories that are made again because something in them comes back.
@Suite("Permissions of restored directories")
struct RestoredDirectoryModeTests {
    private let fixture: MirrorFixture
    private let content = MirrorFixture.ramp(5_000, 3)

    init() throws {
        fixture = try MirrorFixture()
        for name in ["plain", "private", "private/inner", "closed"] {
            try fixture.write("a/\(name)/f", content)
            try fixture.setMode("a/" + name, 0o755)
        }
        try fixture.setMode("a/private", 0o700)
        try fixture.setMode("a/closed", 0o500)
    }

    private func restore(
        _ paths: [String],
        _ version: TrashVersion = .latest,
        _ change: (inout RestoreRequest) -> Void = { _ in }
    ) async throws -> RestoreReport {
        let trash = try fixture.localMirror("a").trash
        var request = RestoreRequest(
            paths: paths,
            version: version,
            target: nil,
            replaces: false
        )
        change(&request)
        return try await trash.restore(request) { _ in }
    }

    private func modeOfMarker(_ key: String) async throws -> String? {
        let store = try fixture.store(StoreObserver())
        return try await store.head(ObjectKey("mirror/" + key), versionID: nil).userMetadata["mode"]
    }

    /// A run here deletes what the bucket lost.
    private func deleteAll() async throws {
        try await fixture.run("a", .push)
        try await fixture.put("z", MirrorFixture.ramp(50, 7))
        for key in try await fixture.objects() where key != "z" {
            try await fixture.deleteObject(key)
        }
        try await fixture.run("a", .pull) { $0.deletesKnown = true }
        #expect(try fixture.names(in: "a").filter { $0 != ".osssync" } == ["z"])
    }

    private func check() throws {
        #expect(try fixture.mode("a/private") == 0o700)
        #expect(try fixture.mode("a/private/inner") == 0o755)
        #expect(try fixture.mode("a/plain") == 0o755)
        #expect(try fixture.mode("a/closed") == 0o500)
    }

    @Test(arguments: [true, false])
    func `are those of the directories that the run removed`(isUndo: Bool) async throws {
        try await deleteAll()
        let report = try await restore(["."], .run(2)) { $0.isUndo = isUndo }
        #expect(report.restored >= 4 && report.isComplete)
        try check()
        // They are sent as they were.
        try await fixture.run("a", .push)
        #expect(try await modeOfMarker("private/") == "40700")
        #expect(try await modeOfMarker("closed/") == "40500")
        #expect(!(try await fixture.objects().contains("plain/")))
        #expect(try fixture.names(in: "a/.osssync/trash").isEmpty)
        try fixture.setMode("a/closed", 0o755)
    }

    @Test func `of a single file are those of its directory, at another path, too`() async throws {
        try await deleteAll()
        #expect(try await restore(["private/inner/f"]) { $0.target = "new/in/f" }.restored == 1)
        #expect(try fixture.mode("a/new") == 0o700 && fixture.mode("a/new/in") == 0o755)
        #expect(try await restore(["private/f"]).restored == 1)
        #expect(try fixture.mode("a/private") == 0o700)
    }

    @Test func `of copies elsewhere are those of the directories`() async throws {
        try await deleteAll()
        let out = fixture.directory("out")
        #expect(try await restore(["private"]) { $0.outside = out + "/p" }.restored == 2)
        #expect(try fixture.mode("out/p") == 0o700 && fixture.mode("out/p/inner") == 0o755)
    }

    @Test func `of empty directories come back`() async throws {
        try fixture.remove("a/private/f")
        try fixture.remove("a/private/inner")
        try await deleteAll()
        _ = try await restore(["."], .run(2)) { $0.isUndo = true }
        #expect(try fixture.mode("a/private") == 0o700)
        #expect(try fixture.mode("a/closed") == 0o500)
        #expect(try fixture.names(in: "a/.osssync/trash").isEmpty)
        try fixture.setMode("a/closed", 0o755)
    }

    @Test func `of renamed files are those of their old directories`() async throws {
        try fixture.write("a/private/f", MirrorFixture.ramp(9_000, 5))
        try await fixture.run("a", .push)
        try await fixture.put("moved", MirrorFixture.ramp(9_000, 5))
        for name in ["private/f", "private/inner/f", "private/"] {
            try await fixture.deleteObject(name)
        }
        let pull = try await fixture.run("a", .pull) { $0.deletesKnown = true }
        #expect(pull.renamed == 1)
        _ = try await restore(["."], .run(2)) { $0.isUndo = true }
        #expect(fixture.content("a/private/f") != nil)
        #expect(try fixture.mode("a/private") == 0o700)
        try fixture.setMode("a/closed", 0o755)
    }

    @Test func `that are recorded count more than those of an earlier time`() async throws {
        try fixture.setMode("a/private", 0o755)
        try await fixture.run("a", .push)
        try await fixture.deleteObject("private/f")
        try await fixture.run("a", .pull) { $0.deletesKnown = true }
        try fixture.setMode("a/private", 0o700)
        try await fixture.run("a", .push)
        try fixture.remove("a/private")
        #expect(try await restore(["private/f"]).restored == 1)
        #expect(try fixture.mode("a/private") == 0o700)
        try await fixture.run("a", .push)
        #expect(try await modeOfMarker("private/") == "40700")
        try fixture.setMode("a/closed", 0o755)
    }

    @Test func `of copies in the bucket come back with their markers`() async throws {
        try await fixture.run("a", .push)
        for name in ["private", "closed"] { try fixture.remove("a/" + name) }
        var options = RunOptions.standard
        (options.deletesKnown, options.trash) = (true, .remote)
        _ = try await fixture.engine("a").run(.push, options: options, onEvent: { _ in })
        #expect(!(try await fixture.objects().contains("private/")))
        let request = RestoreRequest(
            paths: ["private/inner/f"],
            version: .latest,
            target: nil,
            replaces: false
        )
        let (report, paths) = try await fixture.engine("a")
            .restoreObjects(request, from: .trash, names: .skip) { _ in }
        #expect(report.restored == 2 && paths == ["private/inner/f"])
        try await fixture.run("a", .pull) { $0.paths = paths }
        #expect(fixture.content("a/private/inner/f") == content)
        #expect(try fixture.mode("a/private") == 0o700)
        // And in a place outside.
        var copy = RestoreRequest(
            paths: ["closed"],
            version: .latest,
            target: nil,
            replaces: false
        )
        copy.outside = fixture.directory("out/closed")
        _ = try await fixture.engine("a")
            .restoreObjects(
                copy,
                from: .trash,
                names: .skip,
                fetch: { _, _, path in try Data().write(to: URL(fileURLWithPath: path)) },
                onFile: { _ in }
            )
        #expect(try fixture.mode("out/closed") == 0o700)
        #expect(try fixture.names(in: "out/closed") == ["f"])
    }
}
