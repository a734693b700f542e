import Foundation
import LocalStorage
import ManifestStore
import SyncModel
import Synchronization
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

@Suite("Trash")
struct TrashTests {
    let fixture: MirrorFixture

    init() throws {
        fixture = try MirrorFixture()
    }

    /// The trash of "a"; `ahead` moves this machine's clock by that many seconds, and `fixed` stops
    /// it.
    private func trash(ahead: Int64 = 0, fixed: Timestamp? = nil) throws -> MirrorTrash {
        let settings = try fixture.engine("a").settings
        var environment = settings.environment
        environment.now = {
            let now = fixed ?? MirrorFixture.now()
            return Timestamp(seconds: now.seconds + ahead, nanoseconds: now.nanoseconds)
        }
        return MirrorTrash(
            settings: LocalMirror(
                directory: settings.directory,
                stateDirectory: nil,
                homeDirectory: nil,
                environment: environment
            )
        )
    }

    private func listed(age: Int64 = 0, ahead: Int64 = 0) async throws -> [TrashedFile] {
        let files = Mutex<[TrashedFile]>([])
        let report = try await trash(ahead: ahead).list(age: .seconds(age)) { file in
            files.withLock { $0.append(file) }
            return true
        }
        let found = files.withLock { $0 }
        #expect(report.files == found.count)
        #expect(report.bytes == found.reduce(0) { $0 + $1.size })
        return found
    }

    private func restore(
        _ paths: [String],
        _ version: TrashVersion = .latest,
        to target: String? = nil,
        replaces: Bool = false,
        _ change: (inout RestoreRequest) -> Void = { _ in }
    ) async throws -> RestoreReport {
        var request = RestoreRequest(
            paths: paths,
            version: version,
            target: target,
            replaces: replaces
        )
        change(&request)
        return try await trash().restore(request) { _ in }
    }

    /// The manifest of "a", which no run uses.
    private func manifest() async throws -> ManifestStore {
        let state = fixture.folder.appendingPathComponent("a/.osssync").path
        let found = try await ManifestStore.inspect(
            directory: state,
            threads: try trash().settings.environment.threads
        )
        guard case .opened(let manifest) = found else {
            throw TransferError(code: .localState, message: "\(found)")
        }
        return manifest
    }

    /// Pulls "a", and again after the bucket lost what a run with --delete carries over.
    private func loseFiles() async throws {
        for name in ["d/x", "d/e/y", "z"] { try await fixture.put(name, MirrorFixture.ramp(100)) }
        try await fixture.run("a", .pull)
        for name in ["d/x", "d/e/y"] { try await fixture.deleteObject(name) }
        let summary = try await fixture.run("a", .pull) { $0.deletesKnown = true }
        #expect(summary.deleted == 2)
    }

    @Test func `what a run deleted is listed and comes back as a file of the user's`() async throws
    {
        try await loseFiles()
        #expect(try await listed().map(\.key) == ["d/x", "d/e/y"])
        #expect(try await listed().allSatisfy { $0.run == 2 && $0.size == 100 })
        let report = try await restore(["./d/"])
        #expect(report.restored == 2 && report.bytes == 200 && report.isComplete)
        #expect(try fixture.tree("a").count == 3)
        #expect(try await listed().isEmpty)
        // A pull leaves what only the directory has, also one that deletes; a push sends it.
        let pull = try await fixture.run("a", .pull) { $0.deletesKnown = true }
        #expect(pull.deleted == 0 && pull.transferred == 0)
        let push = try await fixture.run("a", .push)
        #expect(push.transferred == 2 && push.conflicts == 0)
        #expect(try await fixture.objects() == ["d/e/y", "d/x", "z"])
    }

    @Test func `a replaced version comes back as a local change`() async throws {
        try await fixture.put("f", Data("one".utf8))
        try await fixture.run("a", .pull)
        try fixture.write("a/f", Data("mine".utf8))
        try await fixture.run("a", .pull) { $0.replacesLocalChanges = true }
        #expect(fixture.content("a/f") == Data("one".utf8))
        let refused = try await restore(["f"])
        #expect(refused.kept == 1 && !refused.isComplete)
        #expect(fixture.content("a/f") == Data("one".utf8))
        #expect(try await restore(["f"], replaces: true).restored == 1)
        #expect(fixture.content("a/f") == Data("mine".utf8))
        let pull = try await fixture.run("a", .pull)
        #expect(pull.localChanges == 1 && pull.transferred == 0)
        #expect(fixture.content("a/f") == Data("mine".utf8))
        #expect(try await fixture.run("a", .push).transferred == 1)
        // What it replaced can be restored in the same way.
        #expect(try await restore(["f"], replaces: true).restored == 1)
        #expect(fixture.content("a/f") == Data("one".utf8))
    }

    @Test func `a version comes back once, whatever was restored in the same second`() async throws
    {
        for name in ["f", "g"] { try await fixture.put(name, Data("one".utf8)) }
        try await fixture.run("a", .pull)
        for name in ["f", "g"] { try fixture.write("a/" + name, Data("mine".utf8)) }
        try await fixture.run("a", .pull) { $0.replacesLocalChanges = true }
        let trash = try trash(ahead: 5, fixed: MirrorFixture.now())
        for name in ["g", "f"] {
            let request = RestoreRequest(
                paths: [name],
                version: .latest,
                target: nil,
                replaces: true
            )
            let report = try await trash.restore(request) { _ in }
            #expect(report.restored == 1)
            #expect(fixture.content("a/" + name) == Data("mine".utf8))
        }
    }

    @Test func `what a pull replaces and deletes goes to a directory beside the mirror`()
        async throws
    {
        try await fixture.put("d/edited", Data("old".utf8))
        try await fixture.put("d/gone", Data("gone".utf8))
        try await fixture.run("a", .pull)
        try await fixture.put("d/edited", Data("new".utf8))
        try await fixture.deleteObject("d/gone")
        let backups = fixture.directory("backups")
        for inside in ["a", "a/backups"] {
            await #expect {
                try await fixture.run("a", .pull) {
                    $0.backupDirectory = fixture.directory(inside)
                }
            } throws: { error in
                (error as? TransferError)?.code == .configuration
            }
        }
        try FileManager.default.removeItem(atPath: fixture.directory("a/backups"))
        let pull = try await fixture.run("a", .pull) {
            ($0.deletesKnown, $0.backupDirectory, $0.trashDays) = (true, backups, 0)
        }
        #expect(pull.deleted == 1 && pull.transferred == 1)
        #expect(fixture.content("a/d/edited") == Data("new".utf8))
        #expect(fixture.content("a/d/gone") == nil)
        let runs = try FileManager.default.contentsOfDirectory(atPath: backups)
        #expect(runs.count == 1)
        let run = try #require(runs.first)
        #expect(fixture.content("backups/\(run)/d/edited") == Data("old".utf8))
        #expect(fixture.content("backups/\(run)/d/gone") == Data("gone".utf8))
        #expect(try await listed().isEmpty)
    }

    @Test func `a version is chosen by its run or its time`() async throws {
        try await fixture.put("f", Data("now".utf8))
        try await fixture.run("a", .pull)
        for (day, text) in [(2, "first"), (4, "second"), (6, "third")] {
            let run = "2026010\(day)T000000Z-run-\(day * 10)"
            try fixture.write("a/.osssync/trash/\(run)/f", Data(text.utf8))
            try fixture.setModified("a/.osssync/trash/\(run)/f", Date(timeIntervalSince1970: 1e9))
        }
        func at(_ text: String) throws -> TrashVersion {
            .at(StoreTime(try #require(Timestamp(basicText: text))))
        }
        let versions: [(TrashVersion, String)] = [
            (.run(40), "second"), (try at("20260105T120000Z"), "third"),
            (try at("20260101T120000Z"), "first"),
        ]
        for (version, text) in versions {
            #expect(try await restore(["f"], version, to: text).restored == 1)
            #expect(fixture.content("a/" + text) == Data(text.utf8))
        }
        #expect(try await restore(["f"], try at("20260107T000000Z")).missing == ["f"])
        #expect(try await restore(["f"], .run(40)).missing == ["f"])
        #expect(try await listed().isEmpty)
    }

    @Test func `what changed after the time is left out`() async throws {
        try await fixture.put("f", Data("now".utf8))
        try await fixture.run("a", .pull)
        let run = "20260106T000000Z-run-60"
        let time = try #require(Timestamp(basicText: "20260105T120000Z"))
        for (name, later) in [("made-later", 1.0), ("then", 0), ("edited-later", 3_600)] {
            let path = "a/.osssync/trash/\(run)/d/\(name)"
            try fixture.write(path, Data(name.utf8))
            let date = Date(timeIntervalSince1970: Double(time.seconds) + later)
            try fixture.setModified(path, date)
        }
        let report = try await restore(["d"], .at(StoreTime(time)))
        #expect(report.restored == 1 && report.later == 2 && report.isComplete)
        #expect(try fixture.tree("a").count == 2)
        let alone = try await restore(["d/made-later"], .at(StoreTime(time)))
        #expect(alone.missing == ["d/made-later"] && alone.later == 1)
        #expect(try await restore(["d"], .at(StoreTime(time)), replaces: true).restored == 2)
    }

    @Test func `undo replaces what its run put there, and nothing that changed since`() async throws
    {
        for name in ["edited", "touched", "f"] { try await fixture.put(name, Data("one".utf8)) }
        try await fixture.run("a", .pull)
        for name in ["edited", "touched", "f"] { try fixture.write("a/" + name, Data("mine".utf8)) }
        try await fixture.run("a", .pull) { $0.replacesLocalChanges = true }
        try fixture.write("a/edited", Data("two".utf8))
        try fixture.setModified("a/touched", Date(timeIntervalSince1970: 1e9))
        let planned = try await restore(["."], .run(2)) { ($0.isUndo, $0.isDryRun) = (true, true) }
        #expect(planned.restored == 1 && planned.kept == 2)
        let report = try await restore(["."], .run(2)) { $0.isUndo = true }
        #expect(report.restored == 1 && report.kept == 2)
        #expect(fixture.content("a/f") == Data("mine".utf8))
        #expect(fixture.content("a/edited") == Data("two".utf8))
        // What was replaced is in the trash of the restoration.
        #expect(try await listed().filter { $0.run == nil }.map(\.key) == ["f"])
        let forced = try await restore(["."], .run(2), replaces: true) { $0.isUndo = true }
        #expect(forced.restored == 2 && forced.isComplete)
        #expect(fixture.content("a/edited") == Data("mine".utf8))
    }

    @Test func `undo names what its run replaced and kept nowhere`() async throws {
        for name in ["gone", "newer", "same"] { try await fixture.put(name, Data("one".utf8)) }
        try await fixture.run("a", .pull)
        try await fixture.put("newer", Data("two".utf8))
        try await fixture.deleteObject("gone")
        let run = try await fixture.run("a", .pull) { $0.deletesKnown = true }
        #expect((run.transferred, run.deleted) == (1, 1))
        for isDryRun in [true, false] {
            let named = Mutex<[RestoredFile]>([])
            var request = RestoreRequest(
                paths: ["."],
                version: .run(2),
                target: nil,
                replaces: false
            )
            (request.isUndo, request.isDryRun) = (true, isDryRun)
            let report = try await trash().restore(request) { file in
                named.withLock { $0.append(file) }
            }
            #expect((report.restored, report.kept, report.isComplete) == (1, 1, false))
            let kept = named.withLock { $0.filter { $0.state == .kept } }
            #expect(kept.map(\.key) == ["newer"])
            #expect(kept.first?.message?.contains("kept no copy") == true)
        }
        #expect(fixture.content("a/gone") == Data("one".utf8))
        #expect(fixture.content("a/newer") == Data("two".utf8))
    }

    @Test(arguments: [true, false])
    func `undo names it also of a run that left nothing in the trash`(
        isDeleted: Bool
    ) async throws {
        for name in ["f", "g"] { try await fixture.put(name, Data("one".utf8)) }
        try await fixture.run("a", .pull)
        if isDeleted { try await fixture.deleteObject("f") }
        if !isDeleted { try await fixture.put("f", Data("two".utf8)) }
        try await fixture.run("a", .pull) { ($0.deletesKnown, $0.trashDays) = (true, 0) }
        for _ in 0..<2 {
            let report = try await restore(["."], .run(2)) { $0.isUndo = true }
            #expect((report.restored, report.kept) == (0, 1))
        }
    }

    @Test func `a file that was changed after the run is no trace of it`() async throws {
        try await fixture.put("f", Data("one".utf8))
        try await fixture.run("a", .pull)
        try fixture.write("a/f", Data("mine".utf8))
        try await fixture.run("a", .pull) { $0.replacesLocalChanges = true }
        let directory = try trash().settings.open()
        let tree = try #require(try directory.trash.runs().first)
        let path = try RelativePath(path: "f")
        guard case .file(let file) = try directory.identity(of: path) else {
            throw TransferError(code: .localState, message: "no file")
        }
        func identity(later seconds: Int64, inode: UInt64? = nil) -> FileIdentity {
            FileIdentity(
                size: file.size,
                modified: file.modified,
                changed: Timestamp(seconds: file.changed.seconds + seconds),
                inode: inode ?? file.inode,
                device: file.device
            )
        }
        let traces = try await RunTraces(of: [tree], in: try await manifest())
        #expect(try await traces.left(file, at: "f", in: tree))
        // Its size, time and inode are as recorded, as after an edit that sets the time back.
        #expect(try await !traces.left(identity(later: 60), at: "f", in: tree))
        #expect(try await !traces.left(identity(later: 0, inode: 1), at: "f", in: tree))
        #expect(try await !traces.left(file, at: "other", in: tree))
        // A run that took long, or whose service has another time, named its tree later.
        let time = try #require(tree.time)
        let stamp = CivilTime(Timestamp(seconds: time.seconds + 600)).basicText
        let late = TrashOfRun(name: [UInt8]((stamp + "-run-2").utf8))
        let slow = try await RunTraces(of: [late], in: try await manifest())
        #expect(try await slow.left(file, at: "f", in: late))
        let other = TrashOfRun(name: [UInt8]("20200101T000000Z-run-2".utf8))
        let unknown = try await RunTraces(of: [other], in: try await manifest())
        #expect(try await !unknown.left(file, at: "f", in: other))
    }

    @Test func `a copy outside of the directory changes nothing in it`() async throws {
        try await loseFiles()
        let outside = fixture.folder.appendingPathComponent("new/place").path
        let report = try await restore(["d"], .run(2)) { $0.outside = outside }
        #expect(report.restored == 2 && report.isComplete)
        #expect(fixture.content("new/place/e/y") == MirrorFixture.ramp(100))
        #expect(try await listed().count == 2)
        let again = try await restore(["d"], .run(2)) { $0.outside = outside }
        #expect(again.unchanged == 2 && again.isComplete)
        // A file goes into a directory that is there.
        let file = try await restore(["d/x"]) { $0.outside = outside + "/e" }
        #expect(file.restored == 1)
        #expect(fixture.content("new/place/e/x") == MirrorFixture.ramp(100))
        try fixture.write("new/place/x", Data())
        let forced = try await restore(["."], replaces: true) { $0.outside = outside }
        #expect(forced.restored == 2)
        #expect(fixture.content("new/place/d/x") == MirrorFixture.ramp(100))
        #expect(try fixture.tree("a").count == 1)
    }

    @Test func `of several versions the last one removed is restored`() async throws {
        try await fixture.put("f", Data("now".utf8))
        try await fixture.run("a", .pull)
        for day in 1...3 {
            let run = "2026010\(day)T000000Z-run-\(day)"
            try fixture.write("a/.osssync/trash/\(run)/d/f", Data("\(day)".utf8))
        }
        try fixture.write("a/.osssync/trash/20260101T000000Z-run-1/d/g", Data("g".utf8))
        #expect(try await restore(["d"]).restored == 2)
        #expect(fixture.content("a/d/f") == Data("3".utf8))
        #expect(fixture.content("a/d/g") == Data("g".utf8))
        #expect(try await listed().map(\.key) == ["d/f", "d/f"])
    }

    @Test func `emptying spares what is younger`() async throws {
        try await loseFiles()
        try fixture.write("a/.osssync/trash/20260101T000000Z-run-1/old", Data("old".utf8))
        let day: Int64 = 86_400
        #expect(try await listed(age: day).map(\.key) == ["old"])
        let old = try await trash().empty(age: .seconds(day))
        #expect(old.files == 1 && old.bytes == 3 && old.failures.isEmpty)
        #expect(try await trash().empty(age: .seconds(day)).files == 0)
        #expect(try await listed(age: day, ahead: 2 * day).count == 2)
        #expect(try await trash().empty(age: .zero).bytes == 200)
        #expect(try await listed().isEmpty)
        #expect(fixture.content("a/z") != nil)
    }

    @Test func `paths that lead out of the directory and running runs are refused`() async throws {
        try await loseFiles()
        for path in ["../x", "/etc/passwd", "d/../../x", ".osssync/config", ""] {
            await #expect(throws: TransferError.self) { try await restore([path]) }
            await #expect(throws: TransferError.self) { try await restore(["d"], to: path) }
        }
        let mirror = try await MirrorSession.open(
            try fixture.engine("a").settings,
            locks: true,
            allowsRebinding: false
        )
        await #expect { try await restore(["d"]) } throws: { error in
            (error as? TransferError)?.code == .locked
        }
        await #expect { try await trash().empty(age: .zero) } throws: { error in
            (error as? TransferError)?.code == .locked
        }
        #expect(try await listed().count == 2)
        try await mirror.manifest.checkpointAndClose()
        withExtendedLifetime(mirror) {}
    }

    @Test func `a directory that is no mirror is left as it is`() async throws {
        try fixture.makeDirectory("a")
        await #expect { _ = try await listed() } throws: { error in
            (error as? TransferError)?.code == .configuration
        }
        #expect(try fixture.tree("a").isEmpty && !fixture.exists("a/.osssync"))
    }
}
