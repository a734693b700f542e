import SyncModel
import Testing

@testable import ManifestStore

/// Everything a store says, to compare before and after damage.
private struct Content: Equatable {
    var entries: [ManifestEntry]
    var downloads: [DownloadCheckpoint]
    var uploads: [UploadCheckpoint]
    var runs: [StoredRun]
    var items: [StoredRunItem]
    var deletions: [PlannedDeletion]
    var setting: String?

    init(_ store: ManifestStore) async throws(ManifestError) {
        entries = []
        while true {
            let page = try await store.rows(.entries(in: .all, after: entries.last?.key), limit: 64)
            entries += page
            if page.count < 64 { break }
        }
        downloads = try await store.rows(.downloads, limit: 99)
        uploads = try await store.rows(.uploads, limit: 99)
        runs = try await store.rows(.runs, limit: 99)
        items = try await store.rows(.items(run: RunID(1)), limit: 999)
        deletions = try await store.rows(.deletions(run: RunID(1), side: .remote), limit: 999)
        setting = try await store.setting("remote.bucket")
    }
}

@Suite("A disk that cannot be read")
struct UnreadableTests {
    @Test(
        arguments: [
            ("*** in database main ***\nPage 5: unable to get the page. error code=8458", 8_458),
            ("Page 5: unable to get the page. error code=266", 266),
            ("Page 5: unable to get the page. error code=11", nil),
            ("row 3 missing from index entry_by_size", nil),
        ] as [(String, Int?)]
    )
    func `what the disk does not give is no damage`(problem: String, code: Int?) {
        #expect(ManifestOpening.readFailure(in: problem) == code)
    }
}

@Suite("Corruption")
struct CorruptionTests {
    /// A store whose file has pages of every class: both kinds of trees inside and at the leaves,
    /// overflow chains, indexes and free pages.
    private func fill(_ store: ManifestStore) async throws {
        let run = try await store.beginRun(
            direction: "pull",
            started: Timestamp(seconds: 1),
            remote: "oss://b/"
        )
        let entries = (0..<400).map { index in
            Sample.entry(
                ObjectKey("key-\(index)-" + String(repeating: "x", count: index % 50)),
                size: Int64(index % 7),
                etag: "etag-\(index % 31)",
                inode: UInt64(index)
            )
        }
        try await store.record(entries.map { .upsert($0) })
        let long = Sample.entry(ObjectKey([UInt8](repeating: 0x7A, count: 1_024)))
        try await store.record([.upsert(long)])
        try await store.record(.beginDownload(Sample.download("a")))
        try await store.record(
            .beginUpload(Sample.upload("a", parts: (0..<9).map { Sample.part($0) }))
        )
        let message = String(repeating: "m", count: 3_000)
        let items = (0..<40).map { index in
            RunItem(key: "k", action: "skip", state: "failed", message: "\(index)" + message)
        }
        try await store.record(.addItems(items, run))
        let deletions = (0..<300).map { index in
            PlannedDeletion(
                key: ObjectKey("gone-\(index)"),
                side: .remote,
                size: 1,
                etag: ETag(wire: "t"),
                identity: nil
            )
        }
        try await store.record(deletions.map { .planDeletion($0, run) })
        try await store.setSetting("remote.bucket", "one")
        // Leaves free pages behind.
        try await store.record(entries[100..<200].map { .forget($0.key) })
    }

    /// Opens a damaged copy and reads it: what is read is what was written, or it is not read.
    private func judge(
        _ directory: StateDirectory,
        _ content: Content,
        isOlderAllowed: Bool,
        _ comment: Comment
    ) async throws {
        let store: ManifestStore
        do throws(ManifestError) {
            let (opened, outcome) = try await ManifestStore.open(
                directory: directory.path,
                now: Timestamp(seconds: 1_767_323_045),
                usesWriteAheadLog: true,
                threads: .system,
                smallestSearchable: 0
            )
            guard outcome == .opened else {
                guard case .recreated(_?, _) = outcome else {
                    Issue.record("\(outcome) \(comment)")
                    return
                }
                return
            }
            store = opened
        } catch {
            // A flipped version looks newer, and is left for the version that it names.
            guard case .newerSchema = error else {
                Issue.record("\(error) \(comment)")
                return
            }
            return
        }
        do throws(ManifestError) {
            let found = try await Content(store)
            if !isOlderAllowed { #expect(found == content, comment) }
            let known = Set(found.entries)
            for size in Int64(0)..<8 {
                let page = try await store.rows(.entries(size: size), limit: 999)
                #expect(page.allSatisfy { $0.size == size && known.contains($0) }, comment)
            }
            for index in stride(from: 0, to: UInt64(400), by: 37) {
                let size = Int64(index % 7)
                let page = try await store.rows(.entries(inode: index, size: size), limit: 9)
                #expect(page.allSatisfy { $0.inode == index && known.contains($0) }, comment)
            }
            // What could be read and never written would end every run.
            try await store.setSetting("remote.bucket", "two")
            try await store.checkpointAndClose()
        } catch {
            #expect(error.isDamage, comment)
            guard case .recreated = try await directory.open().outcome else {
                Issue.record("it is opened again \(comment)")
                return
            }
        }
    }

    @Test(arguments: 0..<8)
    func `a flipped byte anywhere in the file is never believed`(part: Int) async throws {
        let source = try StateDirectory()
        let store = try await source.store()
        try await fill(store)
        let content = try await Content(store)
        try await store.checkpointAndClose()
        let bytes = try source.read("manifest.db")
        #expect(bytes.count > 40 * 4_096)
        // Every byte of the header, and a few of every page at places that differ by page.
        var places = Array(0..<100)
        for page in 0..<(bytes.count / 4_096) {
            for step in 0..<2 { places.append(page * 4_096 + (page * 97 + step * 1_021) % 4_096) }
            places += [page * 4_096, page * 4_096 + 3, page * 4_096 + 9]
        }
        for place in places where place % 8 == part {
            let directory = try StateDirectory()
            var damaged = bytes
            damaged[place] ^= place % 3 == 0 ? 0xFF : 1 << (place % 8)
            try directory.write(damaged, to: "manifest.db")
            try await judge(directory, content, isOlderAllowed: false, "byte \(place)")
        }
    }

    @Test func `a page that is lost is never believed`() async throws {
        let source = try StateDirectory()
        let store = try await source.store()
        try await fill(store)
        let content = try await Content(store)
        try await store.checkpointAndClose()
        let bytes = try source.read("manifest.db")
        for page in 0..<(bytes.count / 4_096) {
            let directory = try StateDirectory()
            var damaged = bytes
            for index in page * 4_096..<(page + 1) * 4_096 { damaged[index] = 0 }
            try directory.write(damaged, to: "manifest.db")
            try await judge(directory, content, isOlderAllowed: false, "page \(page + 1)")
        }
    }

    @Test func `a flipped byte in the log leaves an earlier state or damage`() async throws {
        let source = try StateDirectory()
        let store = try await source.store()
        try await fill(store)
        let content = try await Content(store)
        let bytes = try source.read("manifest.db")
        let log = try source.read("manifest.db-wal")
        for place in stride(from: 0, to: log.count, by: 29_989) {
            let directory = try StateDirectory()
            var damaged = log
            damaged[place] ^= 0xFF
            try directory.write(bytes, to: "manifest.db")
            try directory.write(damaged, to: "manifest.db-wal")
            try await judge(directory, content, isOlderAllowed: true, "log byte \(place)")
        }
    }
}
