import Foundation
import ObjectStorage
import StorageServer
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

/// A small file that was renamed is sent anew, its object is the old one but for the name, and the
/// run counts it as renamed.
@Suite("Renames of small files")
struct SmallRenameTests {
    private let fixture: MirrorFixture

    /// A mirror "a" whose objects have properties of other tools.
    init() async throws {
        fixture = try MirrorFixture()
        for name in ["page.txt", "other.txt"] {
            try fixture.write("a/" + name, MirrorFixture.ramp(700, name.count))
            try fixture.setModified("a/" + name, Date(timeIntervalSince1970: 1_700_000_000.5))
        }
        try await push {
            $0.properties.metadata["colour"] = "blue"
            $0.properties.contentHeaders["cache-control"] = "max-age=7"
            $0.properties.contentHeaders["content-encoding"] = "gzip"
        }
        fixture.server.clearRequestLog()
    }

    @discardableResult
    private func push(_ change: (inout RunOptions) -> Void = { _ in }) async throws -> RunSummary {
        try await push(waiting: 10_000, change: change)
    }

    /// With at most `waiting` uploads that wait.
    @discardableResult
    private func push(
        waiting: Int,
        _ log: EventLog = EventLog(),
        through hook: @escaping HookedStore.Hook = { _ in },
        change: (inout RunOptions) -> Void = { _ in }
    ) async throws -> RunSummary {
        try await engine(waiting: waiting, through: hook).run(
            .push,
            options: MirrorFixture.options(change),
            onEvent: log.add
        )
    }

    private func engine(
        waiting: Int = 10_000,
        through hook: @escaping HookedStore.Hook = { _ in }
    ) throws -> MirrorEngine {
        var engine = try fixture.engine("a") { HookedStore($0, hook: hook) }
        engine.settings.limits.smallestSearchable = 256 << 10
        engine.settings.limits.waiting = waiting
        engine.settings.limits.laneCapacity = 2
        return engine
    }

    /// Files of a directory, which are recorded and have a colour.
    private func write(_ names: [String], in directory: String) async throws {
        for (index, name) in names.enumerated() {
            try fixture.write("a/\(directory)/\(name)", MirrorFixture.ramp(600 + index, index))
            try fixture.setModified(
                "a/\(directory)/\(name)",
                Date(timeIntervalSince1970: 1_700_000_000.5)
            )
        }
        try await push { $0.properties.metadata["colour"] = "red" }
    }

    private static let many = (10..<30).map { "f\($0)" }

    private func head(_ key: String) async throws -> ObjectMetadata {
        try await fixture.store(StoreObserver()).head(
            ObjectKey("mirror/" + key),
            versionID: nil
        )
    }

    private func rename(_ old: String, _ new: String) throws {
        try FileManager.default.moveItem(
            atPath: fixture.directory("a/" + old),
            toPath: fixture.directory("a/" + new)
        )
    }

    /// Its content has the new name: a copy would come back under the old one with its directory.
    @Test(arguments: [300_000, 700])
    func `a renamed file leaves no copy in the trash of the bucket`(size: Int) async throws {
        try fixture.write("a/s/one", MirrorFixture.ramp(size, 5))
        try await push()
        try fixture.rename("a/s/one", to: "a/s/two")
        let summary = try await push { ($0.deletesKnown, $0.trash) = (true, .remote) }
        #expect((summary.renamed, summary.deleted) == (1, 0), "\(summary)")
        #expect(try await fixture.objects() == ["other.txt", "page.txt", "s/two"])
        var told: [String] = []
        _ = try await engine().history.items(ofRun: 3) { item in
            if item.key == "s/one" { told.append(item.message ?? "") }
            return true
        }
        #expect(told == ["renamed to 's/two'"])
    }

    /// What another writer put under the old name has no other one, and the new object may go.
    @Test(arguments: [true, false])
    func `a copy goes there of what has no other name`(isReplaced: Bool) async throws {
        try fixture.write("a/s/one", MirrorFixture.ramp(700, 5))
        try await push()
        let theirs = MirrorFixture.ramp(900, 6)
        if isReplaced { try await fixture.put("s/one", theirs) }
        try fixture.rename("a/s/one", to: "a/s/two")
        let summary = try await push(waiting: 10_000) { call throws(StorageError) in
            // Another machine removes the new name as soon as it is there.
            guard !isReplaced, call.operation == "PutObject", call.moment == .after else { return }
            try? await self.fixture.deleteObject("s/two")
        } change: {
            ($0.deletesKnown, $0.trash, $0.conflictPolicy) = (true, .remote, .local)
        }
        let copies = try await fixture.objects().filter { $0.hasSuffix("/s/one") }
        #expect(
            copies.count == 1 && copies.first?.hasPrefix(".osssync/trash/") == true,
            "\(summary)"
        )
        let kept = try await fixture.object(copies.first ?? "")
        #expect(kept == (isReplaced ? theirs : MirrorFixture.ramp(700, 5)))
    }

    @Test func `keep what other tools put on their objects, for one request`() async throws {
        try rename("page.txt", "page.html")
        let log = EventLog()
        let summary = try await push(waiting: 10_000, log, change: { $0.deletesKnown = true })
        #expect(summary.renamed == 1 && summary.transferred + summary.deleted == 0)
        #expect(summary.bytes == 700, "they are moved all the same")
        let deletions = log.items.filter { $0.action == .deleteRemote }
        #expect(deletions.map(\.message) == ["renamed to 'page.html'"])
        let requests = fixture.operations.filter { $0 == "HeadObject" || $0 == "PutObject" }
        // One of them is of the object that is deleted.
        #expect(requests.count(where: { $0 == "HeadObject" }) <= 2, "\(fixture.operations)")
        #expect(requests.count(where: { $0 == "PutObject" }) == 1)
        let object = try await head("page.html")
        #expect(object.userMetadata["colour"] == "blue")
        #expect(object.contentHeaders["cache-control"] == "max-age=7")
        #expect(object.contentHeaders["content-encoding"] == "gzip")
        #expect(object.contentType == "text/html", "the type is that of the new name")
    }

    @Test func `are none where the old name is still there, or the content is new`() async throws {
        try FileManager.default.linkItem(
            atPath: fixture.directory("a/page.txt"),
            toPath: fixture.directory("a/link.txt")
        )
        try rename("other.txt", "edited.txt")
        try fixture.write("a/edited.txt", MirrorFixture.ramp(701, 3))
        let summary = try await push()
        #expect(summary.transferred == 2 && summary.renamed == 0)
        for name in ["link.txt", "edited.txt"] {
            #expect(try await head(name).userMetadata["colour"] == nil, "\(name)")
        }
    }

    @Test func `of which more than half are renamed are no deletions for their limit`() async throws
    {
        try await write(Self.many, in: "m")
        // Two names of one file, each of which gets another one.
        try FileManager.default.linkItem(
            atPath: fixture.directory("a/m/f10"),
            toPath: fixture.directory("a/m/g")
        )
        try await push()
        try rename("m", "n")
        let count = Self.many.count + 1
        let change: (inout RunOptions) -> Void = { $0.deletesKnown = true }
        let status = try await engine().status(options: MirrorFixture.options(change)).push
        #expect(status.renames == count && status.transfers + status.deletions == 0, "\(status)")
        #expect(status.deletionsHeldBack == nil)
        let plan = try await push { options in
            change(&options)
            options.isDryRun = true
        }
        let summary = try await push(change)
        for found in [plan, summary] {
            #expect(found.renamed == count && found.transferred + found.deleted == 0, "\(found)")
            #expect(found.deletionsHeldBack == nil && found.unchanged == 2)
        }
        #expect(summary.isInStep)
    }

    @Test func `within shards are no deletions for the limit, either`() async throws {
        try await write(Self.many, in: "m")
        var options = CutOptions()
        options.bounds = [[UInt8]("n".utf8)]
        _ = try await engine().cut(options) { _ in }
        try rename("m", "m!")
        let summary = try await push { $0.deletesKnown = true }
        #expect(summary.renamed == Self.many.count && summary.deletionsHeldBack == nil)
        #expect(try await fixture.objects().count == Self.many.count + 2)
    }

    @Test func `with other content behind the recorded time are sent and deleted`() async throws {
        try await write(Self.many, in: "m")
        try rename("m", "n")
        for (index, name) in Self.many.enumerated() {
            try fixture.write("a/n/" + name, MirrorFixture.ramp(600 + index, index + 50))
            let date = Date(timeIntervalSince1970: 1_700_000_000.5)
            try fixture.setModified("a/n/" + name, date)
        }
        let log = EventLog()
        await #expect(throws: TransferError.self) {
            try await push(waiting: 10_000, log, change: { $0.deletesKnown = true })
        }
        let summary = try #require(log.summary)
        #expect(summary.transferred == Self.many.count && summary.renamed == 0)
        #expect(summary.deletionsHeldBack?.contains("the limit is 50%") == true)
    }

    @Test func `are known whatever vanished in earlier runs`() async throws {
        try await write(Self.many, in: "0")
        try fixture.remove("a/0")
        try await push()
        try rename("page.txt", "new.txt")
        try rename("other.txt", "00.txt")
        try await push(waiting: 3)
        for name in ["new.txt", "00.txt"] {
            #expect(try await head(name).userMetadata["colour"] == "blue", "\(name)")
        }
    }

    @Test(arguments: ["a", "z"])
    func `of more files than can wait all keep them`(_ name: String) async throws {
        try await write(Self.many, in: "m")
        try rename("m", name)
        #expect(try await push(waiting: 3).renamed == Self.many.count)
        for file in Self.many {
            let object = try await head(name + "/" + file)
            #expect(object.userMetadata["colour"] == "red", "\(file)")
        }
    }

    @Test func `of files that were written during the last run keep them`() async throws {
        try fixture.write("a/late.txt", MirrorFixture.ramp(500, 9))
        let soon = Date(timeIntervalSinceNow: 0.3)
        try fixture.setModified("a/late.txt", soon)
        try await push(waiting: 3) { call in
            guard call.operation == "PutObject", call.moment == .before else { return }
            try? await ContinuousClock().sleep(for: .seconds(1))
        } change: {
            $0.properties.metadata["colour"] = "green"
        }
        try rename("late.txt", "later.txt")
        try await push()
        #expect(try await head("later.txt").userMetadata["colour"] == "green")
    }

    @Test(arguments: [1, 10_000])
    func `keep them where a new file has the old name, as with logs`(
        _ waiting: Int
    ) async throws {
        try rename("page.txt", "page.txt.1")
        try fixture.write("a/page.txt", MirrorFixture.ramp(900, 5))
        let summary = try await push(waiting: waiting)
        #expect(summary.transferred == 1 && summary.renamed == 1)
        for name in ["page.txt", "page.txt.1"] {
            #expect(try await head(name).userMetadata["colour"] == "blue", "\(name)")
        }
    }

    @Test func `keep them by a saved plan`() async throws {
        let path = fixture.directory("plan")
        try rename("page.txt", "new.txt")
        try await push { options in
            (options.isDryRun, options.plan) = (true, .save(path: path, command: ["push", "DIR"]))
        }
        let plan = try SavedPlan(reading: path)
        #expect(try await push { $0.plan = .apply(plan) }.renamed == 1)
        #expect(try await head("new.txt").userMetadata["colour"] == "blue")
    }

    @Test func `that a stopped run has not begun are counted`() async throws {
        try await write(Self.many, in: "m")
        try rename("m", "n")
        let log = EventLog()
        await #expect(throws: (any Error).self) {
            try await push(waiting: 15, log) { call throws(StorageError) in
                guard call.operation == "PutObject", call.moment == .before else { return }
                throw StorageError(
                    kind: .service(status: 403, code: "InvalidAccessKeyId"),
                    operation: "PutObject",
                    key: ObjectKey(call.key)
                )
            }
        }
        let summary = try #require(log.summary)
        let counted = summary.failed + summary.interrupted + summary.notTried
        #expect(counted == Self.many.count, "\(summary.failed) failed, \(summary.notTried) not")
    }

    /// They are fetched anew, and most of a mirror may be renamed elsewhere.
    @Test(arguments: [true, false], [SyncDirection.pull, .sync])
    func `in the bucket are no deletions for the limit`(
        areRenamed: Bool,
        direction: SyncDirection
    ) async throws {
        try await write(Self.many, in: "d")
        func pull(_ change: (inout RunOptions) -> Void = { _ in }) async throws -> RunSummary {
            var engine = try fixture.engine("b")
            engine.settings.limits.smallestSearchable = 256 << 10
            let options = MirrorFixture.options {
                $0.deletesKnown = true
                change(&$0)
            }
            return try await engine.run(direction, options: options, onEvent: { _ in })
        }
        #expect(try await pull().isInStep)
        if areRenamed {
            try fixture.rename("a/d", to: "a/renamed")
        } else {
            try fixture.remove("a/d")
            for (index, name) in Self.many.enumerated() {
                try fixture.write("a/renamed/\(name)", MirrorFixture.ramp(600 + index, 99))
            }
        }
        try await push { ($0.deletesKnown, $0.deletionLimit) = (true, .percent(100)) }
        let count = Self.many.count
        do {
            let dry = try await pull { $0.isDryRun = true }
            #expect(areRenamed && dry.deleted == count && dry.deletionsHeldBack == nil, "\(dry)")
            var engine = try fixture.engine("b")
            engine.settings.limits.smallestSearchable = 256 << 10
            let status = try await engine.status(
                options: MirrorFixture.options { $0.deletesKnown = true }
            )
            #expect(status.pull.deletionsHeldBack == nil, "\(status.pull)")
            let run = try await pull()
            #expect(run.deleted == count && run.transferred == count && run.isInStep, "\(run)")
        } catch let error as TransferError {
            #expect(!areRenamed && error.code == .refused, "\(error)")
        }
        #expect(fixture.exists("b/d/f10") != areRenamed)
    }
}
