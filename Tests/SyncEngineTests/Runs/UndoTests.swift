import Foundation
import LocalStorage
import ManifestStore
import SyncModel
import Synchronization
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

/// What `undo` chooses, puts back and names beyond the trash.
@Suite("Undoing a run")
struct UndoTests {
    let fixture: MirrorFixture
    private let one = MirrorFixture.ramp(400, 1)
    private let two = MirrorFixture.ramp(400, 2)

    init() throws {
        fixture = try MirrorFixture()
    }

    private func trash() throws -> MirrorTrash {
        let settings = try fixture.engine("a").settings
        return MirrorTrash(
            settings: LocalMirror(
                directory: settings.directory,
                stateDirectory: nil,
                homeDirectory: nil,
                environment: settings.environment
            )
        )
    }

    private func chosen() async throws -> Int64? { try await trash().lastRun(remote: nil)?.number }

    /// What an undo reports, as "state key" each, and its report.
    private func undo(
        _ number: Int64,
        _ change: (inout RestoreRequest) -> Void = { _ in }
    ) async throws -> (said: Set<String>, report: RestoreReport) {
        var request = RestoreRequest(
            paths: ["."],
            version: .run(number),
            target: nil,
            replaces: false
        )
        request.isUndo = true
        change(&request)
        let said = Mutex<Set<String>>([])
        let report = try await trash().restore(request) { file in
            said.withLock { _ = $0.insert("\(file.state.rawValue) \(file.key)") }
        }
        return (said.withLock(\.self), report)
    }

    @Test func `a link in the way keeps only what was beneath it`() async throws {
        for name in ["k", "m/z", "q/x"] { try await fixture.put(name, one) }
        try await fixture.run("a", .pull)
        for name in ["k", "m/z", "q/x"] { try await fixture.deleteObject(name) }
        try await fixture.run("a", .pull) { ($0.deletesKnown, $0.allowsEmpty) = (true, true) }
        try? fixture.remove("a/q")
        try fixture.link("a/q", to: "/tmp")
        let said = try await undo(2).said
        #expect(said.contains("restored k") && said.contains("restored m/z"), "\(said)")
        #expect(fixture.content("a/k") == one && fixture.content("a/m/z") == one)
    }

    @Test func `is not of one whose deletions all failed`() async throws {
        for name in ["f", "g", "h"] { try fixture.write("a/" + name, one) }
        func push() async throws -> RunSummary {
            try await fixture.run("a", .push) {
                ($0.deletesKnown, $0.trash) = (true, .remote)
            }
        }
        _ = try await push()
        try fixture.remove("a/f")
        #expect(try await push().deleted == 1)
        try fixture.remove("a/g")
        try fixture.setFaults(
            """
            [{"match": {"operation": "DeleteMultipleObjects"},
              "effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]
            """
        )
        #expect(try await push().failed > 0)
        try fixture.setFaults("[]")
        let remote = try await fixture.engine("a").trash.lastRun()
        #expect(remote?.number == 3, "it has copied the object")
        #expect(try await trash().lastRun(remote: remote)?.number == 2)
    }

    @Test func `is of the last one that took something away, whether there is a trash or not`()
        async throws
    {
        for name in ["f", "g"] { try await fixture.put(name, one) }
        try await fixture.run("a", .pull)
        #expect(try await chosen() == nil)
        try await fixture.deleteObject("g")
        try await fixture.run("a", .pull) { $0.deletesKnown = true }
        #expect(try await chosen() == 2)
        // Without a copy, and then nothing but a new file.
        try await fixture.put("f", two)
        try await fixture.run("a", .pull)
        try await fixture.put("new", two)
        for _ in 0..<2 { try await fixture.run("a", .pull) }
        #expect(try await chosen() == 3)
        let (said, report) = try await undo(3)
        #expect(said == ["kept f"] && !report.isComplete && report.missing.isEmpty)
        // In the bucket.
        try fixture.write("a/f", one)
        try await fixture.run("a", .push)
        #expect(try await chosen() == 6)
        #expect(try await undo(6).said == ["kept f"])
        #expect(try await undo(5).report == RestoreReport())
        #expect(try await undo(7).report.missing == ["."])
    }

    @Test func `says what is left of it when it is repeated`() async throws {
        for name in ["f", "g", "h"] { try await fixture.put(name, one) }
        try await fixture.run("a", .pull)
        try await fixture.put("f", two)
        for name in ["g", "h"] { try await fixture.deleteObject(name) }
        try await fixture.run("a", .pull) { $0.deletesKnown = true }
        let first = try await undo(2)
        #expect(first.said == ["restored g", "restored h", "kept f"])
        let second = try await undo(2)
        #expect(second.said == ["kept f"])
        #expect((second.report.unchanged, second.report.isComplete) == (2, false))
        // What is gone again, and in no trash.
        try fixture.remove("a/g")
        let third = try await undo(2)
        #expect(third.said == ["kept f", "kept g"] && third.report.unchanged == 1)
    }

    @Test func `names what is as it left it once the trash is empty`() async throws {
        try await fixture.put("f", one)
        try await fixture.run("a", .pull)
        try fixture.write("a/f", two)
        try await fixture.run("a", .pull) { $0.replacesLocalChanges = true }
        _ = try await trash().empty(age: .zero)
        #expect(try await undo(2).said == ["kept f"])
        // Whoever wrote another one has no use for what was there.
        try fixture.write("a/f", two)
        #expect(try await undo(2).report.unchanged == 1)
    }

    @Test func `renames a file back, unless one of both names has changed`() async throws {
        for name in ["f", "g", "h"] {
            try await fixture.put(
                name,
                MirrorFixture.ramp(5_000, name.utf8.count + Int(name.utf8.first ?? 0))
            )
        }
        try await fixture.run("a", .pull)
        let before = fixture.content("a/f")
        for name in ["f", "g", "h"] {
            try await fixture.put("new/" + name, try #require(fixture.content("a/" + name)))
            try await fixture.deleteObject(name)
        }
        let run = try await fixture.run("a", .pull) { $0.deletesKnown = true }
        #expect((run.renamed, run.transferred) == (3, 0))
        try fixture.write("a/new/g", one)
        try fixture.write("a/h", one)
        let expected: Set<String> = ["restored new/f", "kept new/g", "kept new/h"]
        #expect(try await undo(2) { $0.isDryRun = true }.said == expected)
        #expect(fixture.content("a/new/f") == before)
        #expect(try await undo(2).said == expected)
        #expect(fixture.content("a/f") == before && fixture.content("a/new/f") == nil)
        #expect(fixture.content("a/new/g") == one && fixture.content("a/h") == one)
        #expect(try await undo(2).said.contains("unchanged new/f"))
    }

    @Test func `names what a push gave another name in the bucket`() async throws {
        let content = MirrorFixture.ramp(700_000, 3)
        for name in ["album/one", "album/two"] {
            try fixture.write("a/" + name, content + Data(name.utf8))
        }
        try fixture.write("a/z", one)
        try await fixture.run("a", .push)
        try FileManager.default.moveItem(
            atPath: fixture.directory("a/album"),
            toPath: fixture.directory("a/renamed")
        )
        // Nothing is lost, so that no limit of deletions counts it.
        for isDryRun in [true, false] {
            let run = try await fixture.run("a", .push) { options in
                (options.deletesKnown, options.deletionLimit) = (true, .count(0))
                options.isDryRun = isDryRun
            }
            #expect((run.renamed, run.deleted) == (2, 0), "\(run)")
        }
        #expect(try await fixture.objects() == ["renamed/one", "renamed/two", "z"])
        let undone = try await undo(2)
        #expect(undone.said == ["kept album/one", "kept album/two"])
    }

    /// Each rename moves the time of the last change of all of them.
    @Test func `renames the names of one file back`() async throws {
        let content = MirrorFixture.ramp(5_000, 3)
        try fixture.write("a/f1", content)
        for name in ["f2", "f3", "f4"] {
            try FileManager.default.linkItem(
                atPath: fixture.directory("a/f1"),
                toPath: fixture.directory("a/" + name)
            )
        }
        try await fixture.run("a", .push)
        for name in ["f1", "f2"] {
            try await fixture.put("new/" + name, content)
            try await fixture.deleteObject(name)
        }
        try await fixture.deleteObject("f3")
        let run = try await fixture.run("a", .pull) { $0.deletesKnown = true }
        #expect(run.renamed == 2, "\(run)")
        let report = try await undo(2).report
        #expect((report.failed, report.kept) == (0, 0), "\(report)")
        for name in ["f1", "f2", "f3", "f4"] { #expect(fixture.content("a/" + name) == content) }
    }

    @Test func `makes empty directories again, and removes those that it made`() async throws {
        for name in ["old/", "old/deep/", "z"] { try await fixture.put(name, Data()) }
        try await fixture.run("a", .pull)
        for name in ["old/deep/", "old/"] { try await fixture.deleteObject(name) }
        for name in ["new/", "used/"] { try await fixture.put(name, Data()) }
        try await fixture.run("a", .pull) { $0.deletesKnown = true }
        func isThere(_ name: String) -> Bool {
            FileManager.default.fileExists(atPath: fixture.directory("a/" + name))
        }
        #expect(!isThere("old") && isThere("new"))
        try fixture.write("a/used/mine", one)
        let expected: Set<String> = ["restored old/deep/", "removed new/"]
        let planned = try await undo(2) { $0.isDryRun = true }
        #expect(planned.said == expected, "\(planned)")
        #expect(!isThere("old") && isThere("new"))
        let (said, report) = try await undo(2)
        #expect(said == expected && report.isComplete)
        #expect(isThere("old/deep") && !isThere("new") && isThere("used/mine"))
    }

    /// By its key alone it may be a stored link as well as a file of that name.
    @Test func `names the stored links that the run renamed`() async throws {
        let content = MirrorFixture.ramp(5_000, 9)
        try await fixture.put("l.rclonelink", content)
        try await fixture.put("z", one)
        try await fixture.run("a", .pull)
        try await fixture.put("m.rclonelink", content)
        try await fixture.deleteObject("l.rclonelink")
        let pull = try await fixture.run("a", .pull) { $0.deletesKnown = true }
        #expect((pull.renamed, pull.transferred) == (1, 0))
        let (said, report) = try await undo(2)
        #expect(said == ["kept m.rclonelink"] && !report.isComplete)
        try fixture.write("a/l.rclonelink", content)
        try fixture.remove("a/m.rclonelink")
        #expect(try await undo(2).report.unchanged == 1)
    }

    @Test func `counts the directories that it makes and removes`() async throws {
        for name in ["old/", "z"] { try await fixture.put(name, Data()) }
        try await fixture.run("a", .pull)
        try await fixture.deleteObject("old/")
        try await fixture.put("new/", Data())
        try await fixture.run("a", .pull) { $0.deletesKnown = true }
        let report = try await undo(2).report
        #expect((report.restored, report.directories, report.removed) == (1, 1, 1))
    }

    @Test func `is refused where each shard has a journal of its own`() async throws {
        for name in ["f", "z"] { try await fixture.put(name, one) }
        try await fixture.run("a", .pull)
        try await fixture.put("f", two)
        try await fixture.run("a", .pull)
        #expect(try await chosen() == 2)
        var options = CutOptions()
        options.bounds = [[UInt8]("g".utf8)]
        _ = try await fixture.engine("a").cut(options) { _ in }
        #expect(try await chosen() == nil)
        for version in [TrashVersion.lastRun, .run(2)] {
            await #expect {
                _ = try await undo(2) { $0.version = version }
            } throws: { error in
                (error as? TransferError)?.code == .configuration
            }
        }
    }

    /// A manifest that was lost counts its runs anew.
    @Test func `takes nothing that an older run of the same number left`() {
        let trees = [Int64(100), 200].map { seconds in
            let stamp = CivilTime(Timestamp(seconds: seconds)).basicText
            let name = TrashOfRun.name(stamp: stamp, number: 2, isOfShard: false)
            return TrashOfRun(name: [UInt8](name.utf8))
        }
        func chosen(_ seconds: Int64?) -> [TrashOfRun] {
            let began = seconds.map { StoreTime(secondsSince1970: $0) }
            return TrashVersion.run(2, since: began).chosen(among: trees)
        }
        #expect(chosen(nil) == trees && chosen(300).isEmpty)
        #expect(chosen(150) == [trees[1]] && chosen(200) == [trees[1]])
    }

    @Test func `stands in the journal in codes, which stay`() {
        #expect(
            LostVersion.allCases.map(\.rawValue) == [
                "file-replaced", "file-replaced-kept", "damaged-file-replaced-kept",
                "object-replaced", "object-replaced-kept", "deleted",
            ]
        )
        func item(_ action: ItemAction, _ message: String?) -> RunItem {
            RunItem(key: "new", action: action.rawValue, state: "done", message: message)
        }
        for version in LostVersion.allCases {
            #expect(item(.download, version.rawValue).sentence == version.sentence)
        }
        let rename = OtherName(.former, "a b\n").message
        #expect(rename == "renamed-from a b\n")
        #expect(OtherName(item(.copyLocal, rename))?.key == "a b\n")
        #expect(OtherName(item(.download, rename)) == nil)
        #expect(item(.skip, "why").sentence == "why")
    }
}
