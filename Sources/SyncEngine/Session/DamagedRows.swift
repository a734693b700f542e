internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

/// The rows whose files were found damaged: a file with another name that is the same one, or comes
/// from it, is no better.
///
/// The manifest of a cut mirror's shard has only its own. Each shard keeps a list of them in a
/// folder that all shards have in common.
final class DamagedRows: Sendable {
    /// Rows of one size and second that a file is compared with.
    private static let rowsAtOnce = 4_096

    private let manifest: ManifestStore
    private let directory: MirrorDirectory
    /// False where inode numbers do not last.
    private let judgesInodes: Bool
    /// Nil for a mirror that is not cut.
    private let list: DamageList?
    /// Those of other shards, by their sizes.
    private let elsewhere: [Int64: [ManifestEntry]]
    private let hasOwn: Mutex<Bool>
    /// Those whose other names were not looked for yet, by their inodes.
    private let unsearched: Mutex<[UInt64: ManifestEntry]>

    /// `shard` are the names that lead to the shard's folder, nil for a mirror that is not cut.
    init(
        _ manifest: ManifestStore,
        _ directory: MirrorDirectory,
        _ shard: [String]?
    ) async throws {
        (self.manifest, self.directory) = (manifest, directory)
        judgesInodes = (try? directory.keepsInodeNumbers()) ?? true
        list = try shard.map { try DamageList(of: $0, in: directory) }
        let others = try list?.others() ?? []
        elsewhere = Dictionary(grouping: others, by: \.size)
        unsearched = Mutex(Dictionary(others.map { ($0.inode, $0) }) { first, _ in first })
        hasOwn = Mutex(try await manifest.first(.damagedEntries) != nil)
    }

    var isEmpty: Bool { elsewhere.isEmpty && !hasOwn.withLock(\.self) }

    /// Those of the size of `file` that have its time, or its inode; in no particular order.
    func rows(like file: FileIdentity) async throws(ManifestError) -> [ManifestEntry] {
        try await rows(size: file.size, inode: file.inode, modified: file.modified).filter { row in
            row.mayHaveTime(of: file) || judgesInodes && row.inode == file.inode
        }
    }

    private func rows(
        size: Int64,
        inode: UInt64,
        modified: Timestamp
    ) async throws(ManifestError) -> [ManifestEntry] {
        let others = elsewhere[size] ?? []
        guard hasOwn.withLock(\.self) else { return others }
        return others
            + (try await manifest.rows(
                .damagedEntries(size: size, inode: inode, modified: modified),
                limit: Self.rowsAtOnce
            ))
    }

    /// Marks a row.
    ///
    /// To be called before anybody is told: a run that is killed then must not forget it.
    func mark(_ row: ManifestEntry) async throws {
        let damaged = row.replacing(isDamaged: true)
        try await manifest.record([.upsert(damaged)])
        hasOwn.withLock { $0 = true }
        if row.inode != 0 { unsearched.withLock { $0[row.inode] = damaged } }
        try list?.add(damaged)
    }

    /// Marks the other names of what was marked, before the first one has good content again.
    ///
    /// It reads the inodes of all rows, once for all that was found, and is not to be interrupted:
    /// it is part of how an interrupted run ends.
    func markOtherNames() async throws {
        let new = unsearched.withLock(\.self)
        guard judgesInodes, !new.isEmpty else { return }
        var last: ObjectKey?
        repeat {
            let page = try await manifest.entries(
                of: new.mapValues(FileIdentity.init(recordedBy:)),
                in: .all,
                after: last,
                scanning: Self.rowsAtOnce
            )
            for row in page.entries where !row.isDamaged && row.crc64 == new[row.inode]?.crc64 {
                // What has the name by now may be another file.
                let state = try directory.identity(of: row.path)
                if case .file(let file) = state, file.inode != row.inode { continue }
                try await mark(row)
            }
            last = page.last
        } while last != nil
        // With what was marked here, which has the same inodes.
        unsearched.withLock { $0 = [:] }
    }

    /// The same entry, marked if its file is a damaged one that has a second name: gone, or written
    /// behind that name.
    func marking(_ entry: JoinedEntry, records: Bool) async throws -> JoinedEntry {
        guard !isEmpty, judgesInodes, let base = entry.base, !base.isDamaged, base.inode != 0,
            base.crc64 != nil,
            LocalChange(of: entry.local, since: base, judgesInodes: true) != .same,
            entry.local.map({ $0.identity?.inode == base.inode }) ?? true
        else { return entry }
        let rows = try await rows(
            size: base.size,
            inode: base.inode,
            modified: base.localModified
        )
        let isOne = rows.contains { row in
            row.inode == base.inode && row.crc64 == base.crc64 && row.key != base.key
        }
        guard isOne else { return entry }
        if records { try await mark(base) }
        return JoinedEntry(
            key: entry.key,
            base: base.replacing(isDamaged: true),
            local: entry.local,
            remote: entry.remote
        )
    }

    /// Makes the list of a shard what its manifest has: at the end of a run, and when it is cut.
    func writeList() async throws {
        try await list?.write(hasOwn.withLock(\.self) ? manifest : nil)
    }
}

extension FileIdentity {
    /// The file of a row, on no device.
    fileprivate init(recordedBy row: ManifestEntry) {
        self.init(
            size: row.size,
            modified: row.localModified,
            changed: row.localModified,
            inode: row.inode,
            device: 0
        )
    }
}

/// The damaged rows of one shard, in files that the runs of the other shards read.
private final class DamageList: Sendable {
    private static let rowsInFile = 256

    private let files: FolderOfShards
    /// What was added since the list was opened, and the number of the file that has the last rows.
    private let added: Mutex<(file: Int, rows: [ManifestEntry])>

    /// `shard` are the names that lead to a shard's folder.
    init(of shard: [String], in directory: MirrorDirectory) throws(LocalError) {
        files = FolderOfShards("damaged", of: shard, in: directory)
        let last = try Self.numbers(files).max()
        added = Mutex(((last ?? -1) + 1, []))
    }

    /// The numbers of the files that this shard has.
    private static func numbers(_ files: FolderOfShards) throws(LocalError) -> [Int] {
        try files.names().compactMap { name in
            parts(of: name).flatMap { $0.shard.elementsEqual(files.own) ? Int($0.number) : nil }
        }
    }

    /// Nil for a name that is not of such a file, as that of a write that was killed.
    private static func parts(of name: String) -> (shard: Substring, number: Substring)? {
        let parts = name.utf8.split(separator: UInt8(ascii: "-")).map { Substring($0) }
        guard parts.count == 2, parts.allSatisfy({ Int($0) != nil }) else { return nil }
        return (parts[0], parts[1])
    }

    private func name(_ number: Int) -> String { "\(files.own)-\(number)" }

    /// The rows of all other shards.
    func others() throws -> [ManifestEntry] {
        var rows: [ManifestEntry] = []
        for name in try files.names() {
            guard let parts = Self.parts(of: name), !parts.shard.elementsEqual(files.own) else {
                continue
            }
            let file: DamageFile? = try files.read(
                name,
                advice: "Remove it, and run the shard of its number with --checksum"
            )
            // Another run may have written it anew.
            rows += file?.rows ?? []
        }
        return rows
    }

    func add(_ row: ManifestEntry) throws {
        try added.withLock { added in
            if added.rows.count == Self.rowsInFile { added = (added.file + 1, []) }
            added.rows.append(row)
            try files.write(name(added.file), DamageFile(rows: added.rows))
        }
    }

    /// Makes the list what the manifest has; nothing if that is nil.
    func write(_ manifest: ManifestStore?) async throws {
        let old = try Self.numbers(files)
        var count = 0
        if let manifest {
            for try await rows in manifest.pages(.damagedEntries, limit: Self.rowsInFile) {
                try files.write(name(count), DamageFile(rows: rows))
                count += 1
            }
        }
        for number in old where number >= count { try files.remove(name(number)) }
        added.withLock { $0 = (count, []) }
    }
}

/// Some damaged rows of a shard: what a file is compared with.
struct DamageFile: StateFile, Hashable {
    static let heading = "osssync-damaged 1"

    let rows: [ManifestEntry]

    static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
        Self(rows: try fields("rows", value?.rows.map(Row.init)).map(\.entry))
    }

    private struct Row: JSONObject {
        let entry: ManifestEntry

        static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
            let row = value?.entry
            return Self(
                entry: ManifestEntry(
                    key: try fields("key", row?.key),
                    size: try fields("size", row?.size),
                    etag: ETag(wire: ""),
                    crc64: try fields("crc64", row?.crc64),
                    lastModified: nil,
                    storageClass: .standard,
                    localModified: try fields("modified", row?.localModified),
                    inode: try fields("inode", row?.inode),
                    isDamaged: true
                )
            )
        }
    }
}
