import Foundation
import LocalStorage
import ManifestStore
import ObjectStorage
import SyncModel
import Synchronization
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

@Suite("Trash in the bucket")
struct RemoteTrashTests {
    let fixture: MirrorFixture
    private static let old = MirrorFixture.ramp(3_000)
    private static let new = MirrorFixture.ramp(4_000, 7)

    init() throws {
        fixture = try MirrorFixture()
    }

    private static func options(_ change: (inout RunOptions) -> Void = { _ in }) -> RunOptions {
        MirrorFixture.options { options in
            options.trash = .remote
            options.deletesKnown = true
            change(&options)
        }
    }

    /// Mirrors "a" with these files, and then deletes "gone" and edits "edited" there.
    private func loseFiles(_ fixture: MirrorFixture) async throws {
        for name in ["edited", "gone", "kept"] { try fixture.write("a/" + name, Self.old) }
        try await fixture.run("a", .push)
        try fixture.remove("a/gone")
        try fixture.write("a/edited", Self.new)
    }

    private func push(
        _ log: EventLog = EventLog(),
        through: (any ObjectStore) -> any ObjectStore = { $0 },
        _ change: (inout RunOptions) -> Void = { _ in }
    ) async throws -> RunSummary {
        let engine = try fixture.engine("a", through: through)
        return try await engine.run(.push, options: Self.options(change), onEvent: log.add)
    }

    /// The keys in the trash, without the names of the runs.
    private func trashed(_ fixture: MirrorFixture) async throws -> [String] {
        try await fixture.objects().filter { $0.hasPrefix(".osssync/trash/") }
            .map { $0.split(separator: "/").dropFirst(3).joined(separator: "/") }.sorted()
    }

    private func live() async throws -> [String] {
        try await fixture.objects().filter { !$0.hasPrefix(".osssync/") }
    }

    @Test(arguments: [StorageDialect.oss, .s3])
    func `what a push deletes or replaces is copied first`(dialect: StorageDialect) async throws {
        let fixture = try MirrorFixture(dialect: dialect)
        try await loseFiles(fixture)
        let log = EventLog()
        let engine = try fixture.engine("a")
        let summary = try await engine.run(.push, options: Self.options(), onEvent: log.add)
        #expect(summary.isComplete && summary.isInStep && summary.deleted == 1)
        #expect(try await trashed(fixture) == ["edited", "gone"])
        let again = try await fixture.run("a", .push, log) { $0.deletesExtra = true }
        #expect(again.isInStep && again.deleted == 0 && again.onlyRemote == 0)
        #expect(log.warnings.isEmpty)
        let copies = try await fixture.objects().filter { $0.hasPrefix(".osssync/") }
        for key in copies { #expect(try await fixture.object(key) == Self.old) }
    }

    @Test func `a sync keeps what it deletes, and a limited run beneath its paths, too`()
        async throws
    {
        try await loseFiles(fixture)
        let options = Self.options { $0.paths = ["gone"] }
        let summary = try await fixture.engine("a").run(.sync, options: options, onEvent: { _ in })
        #expect(summary.deleted == 1)
        #expect(try await trashed(fixture) == ["gone"])
    }

    @Test func `an object that cannot be copied is neither deleted nor replaced`() async throws {
        try await loseFiles(fixture)
        try fixture.setFaults(
            #"[{"match": {"operation": "CopyObject"}, "#
                + #""effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]"#
        )
        let log = EventLog()
        let summary = try await push(log)
        #expect(!summary.isComplete && summary.deleted == 0 && summary.transferred == 0)
        #expect(try await fixture.objects() == ["edited", "gone", "kept"])
        #expect(try await fixture.object("edited") == Self.old)
        let words = "no copy could be made in the bucket, so the object was kept:"
        #expect(log.items.last { $0.key == "edited" }?.message?.hasPrefix(words) == true)
        // Nothing else fails that would hold back deletions.
        try fixture.write("a/edited", Self.old)
        #expect(try await push(log).deleted == 0)
        #expect(try await fixture.objects() == ["edited", "gone", "kept"])
        #expect(log.items.last { $0.key == "gone" }?.message?.hasPrefix(words) == true)
    }

    @Test func `an object that changes before or after it is copied is left to its writer`()
        async throws
    {
        for moment in [HookedStore.Moment.before, .after] {
            try await loseFiles(fixture)
            let fixture = fixture
            let other = MirrorFixture.ramp(50, 9)
            let log = EventLog()
            let summary = try await push(log) { store in
                HookedStore(store) { (call) throws(StorageError) in
                    let isCopy = call.operation == "CopyObject" && call.key.hasSuffix("/gone")
                    guard isCopy, call.moment == moment else { return }
                    try? await fixture.put("gone", other)
                }
            }
            #expect(summary.conflicts == 1 && summary.deleted == 0)
            #expect(try await fixture.object("gone") == other)
            #expect(try await fixture.object("edited") == Self.new)
            try await fixture.deleteObject("gone")
        }
    }

    @Test func `a copy whose answer was lost is recognized`() async throws {
        try await loseFiles(fixture)
        try fixture.setFaults(
            #"[{"match": {"operation": "CopyObject", "first": 1}, "#
                + #""effect": {"close": {"when": "after", "how": "rst"}}}]"#
        )
        let summary = try await push()
        #expect(summary.isComplete && summary.deleted == 1)
        #expect(try await trashed(fixture) == ["edited", "gone"])
    }

    @Test func `an answer without a copy is no proof`() async throws {
        try await loseFiles(fixture)
        let summary = try await push { store in
            HookedStore(store) { (call) throws(StorageError) in
                let isProof = call.operation == "HeadObject" && call.key.contains("/trash/")
                guard isProof, call.moment == .before else { return }
                throw StorageError(
                    kind: .service(status: 404, code: "NoSuchKey"),
                    operation: "HeadObject"
                )
            }
        }
        #expect(summary.deleted == 0 && summary.transferred == 0 && summary.failed == 1)
        #expect(try await live() == ["edited", "gone", "kept"])
    }

    @Test func `large objects are copied in parts`() async throws {
        var dialect = StorageDialect.oss
        dialect.maximumCopySize = 2_000
        let fixture = try MirrorFixture(dialect: dialect)
        try await loseFiles(fixture)
        _ = try await fixture.engine("a").run(.push, options: Self.options(), onEvent: { _ in })
        #expect(try await trashed(fixture) == ["edited", "gone"])
        #expect(fixture.operations.contains("UploadPartCopy"))
    }

    @Test func `runs list a page of it at most`() async throws {
        try fixture.write("a/z", Self.old)
        for number in 100..<200 {
            try await fixture.put(".osssync/trash/20260102T030405Z-run-1~h/\(number)", Data())
        }
        let store = Mutex<HookedStore?>(nil)
        let log = EventLog()
        let engine = try fixture.engine("a") { inner in
            let hooked = HookedStore(inner, pageSize: 10) { (_) throws(StorageError) in }
            store.withLock { $0 = hooked }
            return hooked
        }
        for _ in 0..<2 {
            let summary = try await engine.run(
                .push,
                options: MirrorFixture.options { $0.connectionLimit = 1 },
                onEvent: log.add
            )
            #expect(summary.isInStep)
        }
        #expect(store.withLock { $0?.count("ListObjectsV2") } == 4)
        #expect(log.warnings.isEmpty)
    }

    @Test func `a bucket that has nothing else is as good as empty`() async throws {
        try fixture.write("a/z", Self.old)
        _ = try await push()
        try await fixture.put(".osssync/trash/20260102T030405Z-run-1~h/y", Self.old)
        try await fixture.deleteObject("z")
        await #expect(throws: TransferError.self) {
            try await fixture.run("a", .pull) { $0.deletesKnown = true }
        }
        #expect(fixture.content("a/z") == Self.old)
    }

    @Test func `what is older than the trash is kept goes at the end of a push`() async throws {
        try await loseFiles(fixture)
        try await fixture.put(".osssync/trash/20200102T030405Z-run-1~h~m/a", Self.old)
        try await fixture.put(".osssync/trash/29990102T030405Z-run-1~h~m/b", Self.old)
        // Of no run.
        try await fixture.put(".osssync/trash/other", Self.old)
        try await fixture.put(".osssync/trash/20200102T030405Z-photos/c", Self.old)
        _ = try await push()
        #expect(try await trashed(fixture) == ["", "b", "c", "edited", "gone"])
    }
}

// MARK: - What comes back

extension RemoteTrashTests {
    private func restore(
        _ path: String,
        isUndo: Bool = false,
        _ version: TrashVersion = .latest,
        to target: String? = nil,
        replaces: Bool = false,
        in other: MirrorFixture? = nil
    ) async throws -> RestoreReport {
        var request = RestoreRequest(
            paths: [path],
            version: version,
            target: target,
            replaces: replaces
        )
        request.isUndo = isUndo
        return try await (other ?? fixture).engine("a")
            .restoreObjects(request, from: .trash, names: .skip) { _ in }.report
    }

    @Test(arguments: [StorageDialect.oss, .s3])
    func `a push is undone, and what it put there is kept`(dialect: StorageDialect) async throws {
        let fixture = try MirrorFixture(dialect: dialect)
        try await loseFiles(fixture)
        let push = try fixture.engine("a")
        _ = try await push.run(.push, options: Self.options(), onEvent: { _ in })
        let report = try await restore(".", isUndo: true, .run(2), in: fixture)
        #expect(report.restored == 2 && report.isComplete)
        for name in ["gone", "edited"] { #expect(try await fixture.object(name) == Self.old) }
        let kept = try await fixture.objects().first { $0.contains("-restore~") }
        #expect(kept?.hasSuffix("/edited") == true)
        #expect(try await fixture.object(try #require(kept)) == Self.new)
        let again = try await restore(".", isUndo: true, .run(2), in: fixture)
        #expect(again.unchanged == 2 && again.isComplete)
        // The version that the undo replaced is the last one.
        try await fixture.run("a", .pull)
        #expect(fixture.content("a/gone") == Self.old && fixture.content("a/edited") == Self.old)
        #expect(try await restore("edited", in: fixture).kept == 1)
        #expect(try await restore("edited", replaces: true, in: fixture).restored == 1)
        #expect(try await fixture.object("edited") == Self.new)
    }

    @Test func `an undo names the copies that the trash has no more`() async throws {
        try await loseFiles(fixture)
        _ = try await push()
        _ = try await fixture.engine("a").trash.empty(age: .zero)
        for isDryRun in [true, false] {
            var request = RestoreRequest(
                paths: ["."],
                version: .run(2),
                target: nil,
                replaces: false
            )
            (request.isUndo, request.isDryRun) = (true, isDryRun)
            let named = Mutex<[String]>([])
            let report = try await fixture.engine("a")
                .restoreObjects(request, from: .trash, names: .skip) { file in
                    named.withLock { $0.append("\(file.state.rawValue) \(file.key)") }
                }.report
            #expect(report.kept == 2 && !report.isComplete)
            #expect(named.withLock { $0.sorted() } == ["kept edited", "kept gone"])
        }
    }

    @Test func `what another program wrote since is kept, unless the undo is forced`() async throws
    {
        try await loseFiles(fixture)
        _ = try await push()
        let other = MirrorFixture.ramp(50, 9)
        try await fixture.put("edited", other)
        let report = try await restore(".", isUndo: true, .run(2))
        #expect(report.restored == 1 && report.kept == 1)
        #expect(try await fixture.object("edited") == other)
        let forced = try await restore(".", isUndo: true, .run(2), replaces: true)
        #expect(forced.restored == 1 && forced.unchanged == 1)
        #expect(try await fixture.object("edited") == Self.old)
        let copy = try await fixture.objects().first { $0.contains("-restore~") }
        #expect(try await fixture.object(try #require(copy)) == other)
    }

    @Test func `an object of a later run is no trace of an earlier one`() async throws {
        try await loseFiles(fixture)
        _ = try await push()
        let engine = try fixture.engine("a")
        let session = try await MirrorSession.open(
            engine.settings,
            locks: false,
            allowsRebinding: false
        )
        let key = try #require(
            try await fixture.objects().first {
                $0.hasPrefix(".osssync/") && $0.hasSuffix("/edited")
            }
        )
        let name = key.split(separator: "/")[2]
        let tree = TrashOfRun(name: [UInt8](name.utf8))
        let traces = try await RunTraces(of: [tree], in: session.manifest)
        let row = try #require(try await session.manifest.entry("edited"))
        let copied = Timestamp(seconds: 1_000_000)
        let copy = RemoteObject(
            key: ObjectKey(key),
            size: 3_000,
            etag: ETag(wire: "\"old\""),
            lastModified: copied,
            storageClass: .standard
        )
        for (seconds, tag, isLeft) in [
            (0, row.etag, true), (1, row.etag, true), (60, row.etag, false), (-60, row.etag, false),
            (0, ETag(wire: "\"other\""), false),
        ] {
            var object = ObjectMetadata(size: row.size, etag: tag)
            object.lastModified = Timestamp(seconds: copied.seconds + Int64(seconds))
            let found = try await traces.left(object, at: "edited", after: copy, in: tree)
            #expect(found == isLeft, "\(seconds) \(tag)")
        }
    }

    @Test func `an older version is restored beside the present one`() async throws {
        try await loseFiles(fixture)
        _ = try await push()
        let report = try await restore("edited", to: "dir/older")
        #expect(report.restored == 1 && report.isComplete)
        #expect(try await fixture.object("dir/older") == Self.old)
        #expect(try await restore("nothing").missing == ["nothing"])
    }

    @Test func `a file with an escaped name is restored by its path, or with the option`()
        async throws
    {
        let place = ".osssync-names/a%2F%2Fb"
        func escape(_ options: inout RunOptions) { options.names = .escape }
        try fixture.write("a/kept", Self.old)
        try fixture.write("a/" + place, Self.new)
        _ = try await push(EventLog(), through: { $0 }, escape)
        try fixture.remove("a/" + place)
        _ = try await push(EventLog(), through: { $0 }, escape)
        #expect(try await live() == ["kept"])
        let all = try await restore(".")
        #expect(all.failed == 1 && all.restored == 0)
        let report = try await restore(place)
        #expect(report.restored == 1 && report.isComplete)
        #expect(try await fixture.object("a//b") == Self.new)
    }

    @Test func `a file that is here is not put beside an object`() async throws {
        try await loseFiles(fixture)
        _ = try await push()
        try fixture.write("a/gone", Self.new)
        #expect(try await restore("gone").kept == 1)
        #expect(try await live() == ["edited", "kept"])
    }

    @Test func `the copies of other mirrors are not undone`() async throws {
        try await loseFiles(fixture)
        _ = try await push()
        try await fixture.put(".osssync/trash/20260102T030405Z-run-2~host~other/theirs", Self.old)
        let report = try await restore(".", isUndo: true, .run(2))
        #expect(report.restored == 2)
        #expect(try await restore("theirs").restored == 1)
    }

    @Test func `it is listed and emptied`() async throws {
        try await loseFiles(fixture)
        _ = try await push()
        let engine = try fixture.engine("a")
        let files = Mutex<[TrashedFile]>([])
        let report = try await engine.trash.list(age: .zero) { file in
            files.withLock { $0.append(file) }
            return true
        }
        #expect(report.files == 2 && report.bytes == 6_000)
        let listed = files.withLock { $0 }
        #expect(listed.map(\.key) == ["edited", "gone"])
        #expect(listed.allSatisfy { $0.run == 2 && $0.isRemote && $0.removed != nil })
        #expect(try await engine.trash.empty(age: .seconds(3_600)).files == 0)
        // What another machine put there is not this one's.
        try await fixture.run("b", .pull)
        #expect(try await fixture.engine("b").trash.empty(age: .zero).files == 0)
        #expect(try await engine.trash.empty(age: .zero).files == 2)
        #expect(try await trashed(fixture).isEmpty)
    }
}
