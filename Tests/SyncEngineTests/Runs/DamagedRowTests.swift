import Foundation
import ManifestStore
import ObjectStorage
import SyncModel
import Synchronization
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

/// What was found damaged stays in doubt: its object is perhaps the last good copy.
@Suite("Damaged files")
struct DamagedRowTests {
    let fixture: MirrorFixture
    private let good = MirrorFixture.ramp(3_000, 1)

    /// A mirror "a" with a damaged file that a verification has found.
    init() async throws {
        fixture = try MirrorFixture()
        try fixture.write("a/photos/one.jpg", good)
        for index in 0..<20 {
            try fixture.write("a/other/f\(index)", MirrorFixture.ramp(500, index + 5))
        }
        try await fixture.run("a", .push)
        try await fixture.damage("photos/one.jpg")
        #expect(try await verify().damaged == 1)
    }

    @discardableResult
    private func verify(_ options: VerifyOptions = VerifyOptions()) async throws -> VerifyReport {
        try await fixture.engine("a").verify(options) { _ in }
    }

    /// A run that must leave the good content in the bucket, and say so.
    private func runs(
        _ direction: SyncDirection,
        damaged: Int = 1,
        _ change: @escaping (inout RunOptions) -> Void = { _ in }
    ) async throws {
        for _ in 0..<2 {
            let log = EventLog()
            let run = try await fixture.run("a", direction, log) {
                $0.deletesKnown = true
                change(&$0)
            }
            #expect(run.damaged == damaged && !run.isComplete && !run.isInStep)
            #expect(try await fixture.object("photos/one.jpg") == good)
            #expect(try await !fixture.objects().contains { $0.hasPrefix("2026-photos/") })
        }
    }

    private func touch(_ path: String) throws {
        try fixture.setModified(path, Date(timeIntervalSince1970: 1_700_000_000))
    }

    private func move(_ source: String, _ target: String) throws {
        try fixture.makeDirectory((target as NSString).deletingLastPathComponent)
        try fixture.rename(source, to: target)
    }

    private func isRepaired() async throws {
        #expect(try await verify(VerifyOptions(repairs: true)).repaired == 1)
        #expect(fixture.content("a/photos/one.jpg") == good)
        #expect(try await verify().isGood)
    }

    @Test func `are not sent to another bucket`() async throws {
        var engine = try fixture.engine("a")
        let identity = engine.settings.identity
        engine.settings.prefix = "another/"
        engine.settings.identity = RemoteIdentity(
            dialect: identity.dialect,
            endpointHost: identity.endpointHost,
            bucket: identity.bucket,
            prefix: "another/"
        )
        for isFirst in [true, false] {
            let options = MirrorFixture.options { $0.allowsRebinding = isFirst }
            let run = try await engine.run(.push, options: options) { _ in }
            #expect(run.damaged == 1 && run.transferred == (isFirst ? 20 : 0) && !run.isInStep)
        }
        let store = try fixture.store(StoreObserver())
        await #expect(throws: StorageError.self) {
            try await store.head("another/photos/one.jpg", versionID: nil)
        }
    }

    /// Another machine gave the object another name, under which the content is good.
    @Test(arguments: [SyncDirection.push, .sync])
    func `are not sent when their objects are gone`(_ direction: SyncDirection) async throws {
        try await fixture.deleteObject("photos/one.jpg")
        for _ in 0..<2 {
            let run = try await fixture.run("a", direction) { $0.deletesKnown = true }
            #expect(run.damaged == 1 && run.transferred == 0 && !run.isInStep, "\(run)")
            #expect(try await !fixture.objects().contains("photos/one.jpg"))
            #expect(fixture.exists("a/photos/one.jpg"))
        }
        let forced = try await fixture.run("a", .push) { $0.replacesLocalChanges = true }
        #expect(forced.transferred == 1, "\(forced)")
    }

    @Test(arguments: [SyncDirection.push, .sync])
    func `keep their objects when they are renamed`(_ direction: SyncDirection) async throws {
        try move("a/photos", "a/2026-photos")
        try await runs(direction, damaged: 2)
        try await isRepaired()
    }

    @Test(arguments: [SyncDirection.push, .sync])
    func `keep their objects when they are removed`(_ direction: SyncDirection) async throws {
        try fixture.remove("a/photos/one.jpg")
        try await runs(direction)
        try await isRepaired()
    }

    @Test(arguments: [SyncDirection.push, .sync])
    func `keep their objects when they are touched`(_ direction: SyncDirection) async throws {
        try touch("a/photos/one.jpg")
        try await runs(direction)
        #expect(try await verify().damaged == 1, "a time is no new content")
        try await isRepaired()
    }

    @Test(arguments: [SyncDirection.push, .sync])
    func `keep their objects when they are copied and moved back`(
        _ direction: SyncDirection
    ) async throws {
        try fixture.copy("a/photos", "a/2026-photos")
        try await runs(direction, damaged: 2)
        try fixture.remove("a/photos")
        try move("a/2026-photos", "a/photos")
        try await runs(direction)
        try await isRepaired()
    }

    @Test(arguments: [SyncDirection.push, .sync])
    func `keep their objects when somebody writes them`(_ direction: SyncDirection) async throws {
        try fixture.write("a/photos/one.jpg", good.prefix(100))
        try await runs(direction)
        #expect(try await verify().damaged == 1, "as runs say")
        // An edit is not undone.
        #expect(try await verify(VerifyOptions(repairs: true)).repaired == 0)
        #expect(fixture.content("a/photos/one.jpg") == good.prefix(100))
        let forced = try await fixture.run("a", direction) { $0.replacesLocalChanges = true }
        #expect(forced.isComplete)
        #expect(try await fixture.object("photos/one.jpg") == good.prefix(100))
    }

    @Test func `are kept beside the good content if somebody wrote them since`() async throws {
        let edit = MirrorFixture.ramp(good.count, 77)
        try fixture.write("a/photos/one.jpg", edit)
        try await runs(.push)
        try await isRepaired()
        let names = try fixture.names(in: "a/photos").filter { $0.hasPrefix("one.conflict-") }
        #expect(names.count == 1)
        #expect(try fixture.content("a/photos/" + #require(names.first)) == edit)
        #expect(try await fixture.run("a", .push).isInStep)
    }

    @Test func `that cannot be repaired are named`() async throws {
        try fixture.remove("a/photos/one.jpg")
        try fixture.write("a/photos/one.jpg/new", Data([1]))
        let found = Mutex<[String]>([])
        let options = VerifyOptions(repairs: true)
        let report = try await fixture.engine("a").verify(options) { finding in
            if finding.kind == .failed { found.withLock { $0.append(finding.key) } }
        }
        #expect((report.damaged, report.repaired) == (1, 0), "\(report)")
        #expect(found.withLock(\.self) == ["photos/one.jpg"])
    }

    @Test func `keep their objects in runs that are limited to either name`() async throws {
        try move("a/photos", "a/2026-photos")
        try await runs(.push) { $0.paths = ["photos/one.jpg"] }
        try await runs(.push) { $0.paths = ["2026-photos"] }
        try await runs(.push, damaged: 2)
    }

    @Test(arguments: [SyncDirection.push, .sync])
    func `keep their objects when they go while they are excluded`(
        _ direction: SyncDirection
    ) async throws {
        var excluded = FileFilter()
        try excluded.exclude("/photos/")
        let filter = excluded
        try await fixture.run("a", direction) { $0.filter = filter }
        try move("a/photos", "a/2026-photos")
        try await fixture.run("a", direction) { $0.filter = filter }
        try await runs(direction, damaged: 2)
        try await runs(direction, damaged: 2) { $0.deletesExtra = true }
        try await isRepaired()
    }

    /// A copy of the directory, or one that came back from a backup, has other inodes and times.
    @Test func `keep their objects in a directory that is not as the last run left it`()
        async throws
    {
        try fixture.rename("a", to: "copy")
        try fixture.copy("copy", "a")
        try fixture.remove("a/photos/one.jpg")
        try await fixture.run("a", .push)
        try await runs(.push) { $0.deletesExtra = true }
        try await isRepaired()
    }

    @Test func `hold back no deletions but their own once they are gone`() async throws {
        try fixture.remove("a/photos/one.jpg")
        try fixture.remove("a/other/f1")
        let run = try await fixture.run("a", .push) { $0.deletesKnown = true }
        #expect((run.deleted, run.damaged) == (1, 1))
        #expect(try await fixture.object("photos/one.jpg") == good)
    }

    @Test(arguments: [true, false])
    func `hold back no deletions of other files`(isPlanned: Bool) async throws {
        try fixture.remove("a/other/f1")
        var plan: SavedPlan?
        if isPlanned {
            let path = fixture.directory("plan")
            try await fixture.run("a", .push) {
                ($0.isDryRun, $0.deletesKnown) = (true, true)
                $0.plan = .save(path: path, command: ["push", "DIR"])
            }
            plan = try SavedPlan(reading: path)
        }
        let saved = plan
        let run = try await fixture.run("a", .push) { options in
            options.deletesKnown = true
            options.plan = saved.map { .apply($0) }
        }
        #expect((run.deleted, run.damaged, run.isComplete) == (1, 1, false))
        #expect(try await fixture.object("photos/one.jpg") == good)
    }

    @Test func `come back with a pull when they are gone`() async throws {
        try fixture.remove("a/photos/one.jpg")
        #expect(try await fixture.run("a", .pull).transferred == 1)
        #expect(fixture.content("a/photos/one.jpg") == good)
        #expect(try await fixture.run("a", .push).isComplete)
        #expect(try await verify().isGood)
    }

    @Test func `are whole again with their good content, under any name`() async throws {
        try fixture.write("a/photos/one.jpg", good)
        #expect(try await fixture.run("a", .push).isComplete)
        #expect(try await verify().isGood)
        try await fixture.damage("photos/one.jpg")
        #expect(try await verify().damaged == 1)
        // Of the same size and time, and sound.
        try fixture.copy("a/photos", "a/2026-photos")
        let times = try FileManager.default.attributesOfItem(
            atPath: fixture.directory("a/photos/one.jpg")
        )
        try fixture.write("a/2026-photos/one.jpg", good)
        try fixture.setModified(
            "a/2026-photos/one.jpg",
            try #require(times[.modificationDate] as? Date)
        )
        let run = try await fixture.run("a", .push)
        #expect((run.transferred + run.renamed, run.damaged) == (1, 1))
        #expect(try await fixture.object("2026-photos/one.jpg") == good)
    }

    @Test(arguments: [true, false])
    func `do not come back by an undo`(isRepaired: Bool) async throws {
        if isRepaired {
            try await self.isRepaired()
        } else {
            let run = try await fixture.run("a", .pull) { $0.replacesLocalChanges = true }
            #expect(run.transferred == 1)
        }
        let trash = try fixture.names(in: "a/.osssync/trash")
        #expect(trash.count == 1 && trash.allSatisfy { $0.hasSuffix("-damaged") }, "\(trash)")
    }

    @Test func `are sent and deleted as they are by force`() async throws {
        try move("a/photos", "a/2026-photos")
        let forced = try await fixture.run("a", .push) {
            $0.deletesKnown = true
            $0.replacesLocalChanges = true
        }
        #expect(forced.deleted == 1 && forced.isComplete)
        #expect(
            try await fixture.object("2026-photos/one.jpg")
                == fixture.content("a/2026-photos/one.jpg")
        )
        #expect(try await fixture.run("a", .push).isComplete)
    }

    @Test func `that a run with checksums finds are as known as those of a verification`()
        async throws
    {
        try await fixture.damage("other/f3")
        let sound = try await fixture.object("other/f3")
        let found = try await fixture.run("a", .push) { $0.comparesContent = true }
        #expect(found.damaged == 2)
        #expect(try await fixture.run("a", .push).damaged == 2)
        try fixture.remove("a/other/f3")
        let run = try await fixture.run("a", .push) { $0.deletesKnown = true }
        #expect((run.deleted, run.damaged) == (0, 2))
        #expect(try await fixture.object("other/f3") == sound)
    }

    @Test func `that a dry run finds are not marked`() async throws {
        try await fixture.damage("other/f3")
        let found = try await fixture.run("a", .push) {
            $0.comparesContent = true
            $0.isDryRun = true
        }
        #expect(found.damaged == 2)
        #expect(try await fixture.run("a", .push).damaged == 1)
    }

    @Test func `of a plan that is older than the verification keep their objects`() async throws {
        try await fixture.damage("other/f3")
        let sound = try await fixture.object("other/f3")
        #expect(try await verify().damaged == 2)
        try fixture.remove("a/other/f3")
        let log = EventLog()
        let run = try await fixture.run("a", .push, log) { $0.deletesKnown = true }
        #expect(run.damaged == 2)
        #expect(log.skipped("other/f3")?.contains("damaged before it was removed") == true)
        #expect(try await fixture.object("other/f3") == sound)
    }

    @Test func `are shown by a dry run as a run takes them`() async throws {
        try move("a/photos", "a/2026-photos")
        let log = EventLog()
        let run = try await fixture.run("a", .push, log) {
            ($0.isDryRun, $0.deletesKnown) = (true, true)
        }
        #expect((run.damaged, run.transferred, run.renamed, run.deleted) == (2, 0, 0, 0))
        #expect(log.skipped("2026-photos/one.jpg") != nil)
    }

    /// What a process reads that looks at the manifest when it is told of a damaged file.
    private func isMarked(_ key: String, inCopy name: String) async throws -> Bool {
        let found = try await ManifestStore.inspect(
            directory: fixture.directory(name),
            threads: .system
        )
        guard case .opened(let manifest) = found else { return false }
        return try await manifest.entry(ObjectKey(key))?.isDamaged == true
    }

    @Test func `are marked before anybody is told`() async throws {
        try await fixture.damage("other/f3")
        let fixture = fixture
        let options = MirrorFixture.options { $0.comparesContent = true }
        let run = try await fixture.engine("a").run(.push, options: options) { event in
            guard case .item(let item) = event, item.key == "other/f3" else { return }
            try? fixture.copy("a/.osssync", "of-run")
        }
        #expect(run.damaged == 2)
        #expect(try await isMarked("other/f3", inCopy: "of-run"))
        try await fixture.damage("other/f5")
        let limited = VerifyOptions(paths: ["other/f5"])
        _ = try await fixture.engine("a").verify(limited) { finding in
            guard finding.key == "other/f5" else { return }
            try? fixture.copy("a/.osssync", "of-verify")
        }
        #expect(try await isMarked("other/f5", inCopy: "of-verify"))
    }

    @Test func `that an interrupted run finds are marked, and the run has its record`()
        async throws
    {
        try await fixture.damage("other/f3")
        try fixture.write("a/other/new", MirrorFixture.ramp(700, 40))
        let (found, sending) = (ProgressGate(bytes: 1), ProgressGate(bytes: 1))
        let engine = try fixture.engine("a") { store in
            HookedStore(store) { call throws(StorageError) in
                guard call.operation == "PutObject" else { return }
                sending.open()
                // Until the run is cancelled, which is what the request then says.
                try? await ContinuousClock().sleep(for: .seconds(600))
                throw StorageError(kind: .cancelled, operation: call.operation)
            }
        }
        let run = Task {
            try await engine.run(
                .push,
                options: MirrorFixture.options { $0.comparesContent = true }
            ) { event in
                guard case .item(let item) = event, item.key == "other/f3" else { return }
                found.open()
            }
        }
        await found.wait()
        await sending.wait()
        run.cancel()
        await #expect(throws: TransferError.self) { try await run.value }
        try await fixture.inState { session in
            #expect(try await session.manifest.entry("other/f3")?.isDamaged == true)
            let last = try await session.manifest.rows(.runs, limit: 1).first
            #expect(last?.record?.outcome == .cancelled)
        }
    }
}
