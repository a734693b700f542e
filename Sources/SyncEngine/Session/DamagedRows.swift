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
/// folder that all shards have in common, and each state of a directory one in `.osssync` there:
/// what one mirror of a file found damaged is not to be sent by another one.
final class DamagedRows: Sendable {
    /// Rows of one size and second that a file is compared with.
    private static let rowsAtOnce = 4_096
    /// There from the first mark until the other names were looked for: a run or `verify` that is
    /// killed leaves that to the next one.
    static let unsearchedSetting = "damaged.unsearched"

    /// Rows that a new file is compared with.
    private static let alikeAtMost = 65_536
    /// Each costs a read of the whole manifest.
    private static let looksAtMost = 256

    private struct SizeAndSecond: Hashable {
        let size: Int64
        let seconds: Int64
    }

    private struct TouchedFile {
        let row: ManifestEntry
        let file: FileIdentity
    }

    private let manifest: ManifestStore
    private let directory: MirrorDirectory
    /// False where inode numbers do not last.
    private let judgesInodes: Bool
    private let list: DamageList
    /// True if files may have moved to another shard.
    private let isOfShard: Bool
    /// Those of other shards or states, by their sizes: also what has good content again, as long
    /// as this one has not looked for other names of what was damaged.
    private let elsewhere: [Int64: [ManifestEntry]]
    /// Those that this one has found, by their sizes: also what has good content again.
    private let known: [Int64: [ManifestEntry]]
    private let hasOwn: Mutex<Bool>
    private let unread: Mutex<UnreadPaths>
    /// Those whose other names were not looked for yet, by their inodes.
    private let unsearched: Mutex<[UInt64: ManifestEntry]>
    /// What has the size and the second of a new file that was looked at.
    private let alike = Mutex<[SizeAndSecond: [ManifestEntry]?]>([:])
    /// Damaged files of a size that have another time or inode than recorded, as they are now.
    private let touched = Mutex<[Int64: [TouchedFile]]>([:])
    /// What damaged files hold that new ones were compared with.
    private let contents = Mutex<[FileIdentity: CRC64]>([:])

    /// With `isRebuilt`, the manifest has lost its marks: it gets those of the list, with the rows.
    init(
        _ manifest: ManifestStore,
        _ directory: MirrorDirectory,
        _ lists: FolderOfShards,
        isRebuilt: Bool
    ) async throws {
        (self.manifest, self.directory) = (manifest, directory)
        judgesInodes = (try? directory.keepsInodeNumbers()) ?? true
        list = try DamageList(lists)
        isOfShard = !lists.isOfStates
        elsewhere = Dictionary(grouping: list.others, by: \.size)
        known = Dictionary(grouping: list.known, by: \.size)
        if isRebuilt { try await manifest.record(list.own.map { .upsert($0) }) }
        hasOwn = Mutex(try await manifest.first(.damagedEntries) != nil)
        unread = Mutex(try await UnreadPaths(in: manifest))
        var rows = list.unsearched.filter { $0.inode != 0 }
        if try await manifest.setting(Self.unsearchedSetting) != nil {
            for try await page in manifest.pages(.damagedEntries, limit: Self.rowsAtOnce) {
                rows += page
            }
        }
        unsearched = Mutex(Dictionary(rows.map { ($0.inode, $0) }) { first, _ in first })
    }

    var isEmpty: Bool {
        elsewhere.isEmpty && known.isEmpty && !hasOwn.withLock(\.self)
            && !hasUnread
    }

    /// Those of the size of `file` that have its time, or its inode; in no particular order.
    func rows(like file: FileIdentity) async throws(ManifestError) -> [ManifestEntry] {
        try await rows(size: file.size, inode: file.inode, modified: file.modified)
            .filter { isLike($0, file) }
    }

    /// The same of those that had been found before and have good content again: the damaged file
    /// may live on under the name of `file`.
    func repairedRows(like file: FileIdentity) async throws(ManifestError) -> [ManifestEntry] {
        var repaired: [ManifestEntry] = []
        for row in known[file.size] ?? [] where isLike(row, file) {
            if try await manifest.entry(row.key)?.isDamaged != true { repaired.append(row) }
        }
        return repaired
    }

    /// Those whose files were touched since they were found, and have the time or inode of `file`
    /// now: a copy has that time, and not the recorded one.
    func touchedRows(like file: FileIdentity) async throws -> [ManifestEntry] {
        let found = try await touchedFiles(size: file.size).filter {
            $0.file.modified == file.modified || judgesInodes && $0.file.inode == file.inode
        }
        return found.map(\.row).filter { !isLike($0, file) }
    }

    private func touchedFiles(size: Int64) async throws -> [TouchedFile] {
        if let known = touched.withLock({ $0[size] }) { return known }
        var rows = elsewhere[size] ?? []
        rows += try await manifest.rows(.damagedEntries(size: size), limit: Self.rowsAtOnce)
        // Nothing is remembered of the sizes that no damaged file has: those are many.
        guard !rows.isEmpty else { return [] }
        let files = rows.compactMap { row -> TouchedFile? in
            // What cannot be looked at was not touched as far as anybody knows.
            guard !row.isLink, case .file(let file)? = try? directory.identity(of: row.path),
                file.size == size, !row.isOf(file)
            else { return nil }
            return TouchedFile(row: row, file: file)
        }
        touched.withLock { $0[size] = files }
        return files
    }

    private func isLike(_ row: ManifestEntry, _ file: FileIdentity) -> Bool {
        row.mayHaveTime(of: file) || judgesInodes && row.inode == file.inode
    }

    /// Rows of the size and the second of `file`, damaged or not, which it may come from or be a
    /// copy of; nil if there are too many.
    ///
    /// The manifest is read once for all files of one size and second.
    func rowsAlike(_ file: FileIdentity) async throws(ManifestError) -> [ManifestEntry]? {
        let look = SizeAndSecond(size: file.size, seconds: file.modified.seconds)
        if let known = alike.withLock({ $0[look] }) { return known }
        guard alike.withLock({ $0.count < Self.looksAtMost }) else { return nil }
        let rows = try await manifest.rows(
            .entries(size: file.size, modified: file.modified),
            limit: Self.alikeAtMost
        )
        let known = rows.count < Self.alikeAtMost ? rows : nil
        alike.withLock { _ = $0.updateValue(known, forKey: look) }
        return known
    }

    func content(of file: FileIdentity) -> CRC64? { contents.withLock { $0[file] } }

    func note(_ content: CRC64, of file: FileIdentity) {
        contents.withLock { contents in
            if contents.count < Self.rowsAtOnce { contents[file] = content }
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
        var damaged = row.replacing(isDamaged: true)
        (damaged.isLeftOut, damaged.isFreed) = (row.isLeftOut, row.isFreed)
        if row.inode != 0, unsearched.withLock(\.isEmpty) {
            try await manifest.setSetting(Self.unsearchedSetting, "1")
        }
        try await manifest.record([.upsert(damaged)])
        hasOwn.withLock { $0 = true }
        if row.inode != 0 { unsearched.withLock { $0[row.inode] = damaged } }
        do {
            try list.add(damaged)
        } catch let error as LocalError where error.isOutOfRoom {
            // It is for others; what this state finds is recorded.
        }
    }

    /// Marks the other names of what was marked, before the first one has good content again.
    ///
    /// It reads the inodes of all rows, once for all that was found, and is not to be interrupted:
    /// it is part of how an interrupted run ends.
    func markOtherNames() async throws {
        let new = unsearched.withLock(\.self)
        if judgesInodes, !new.isEmpty { try await markNames(of: new) }
        if !new.isEmpty {
            // With what was marked here, which has the same inodes.
            unsearched.withLock { $0 = [:] }
            try await manifest.setSetting(Self.unsearchedSetting, nil)
        }
        try list.noteSearched()
    }

    private func markNames(of new: [UInt64: ManifestEntry]) async throws {
        try await manifest.forEachPage(
            inodes: Set(new.keys),
            in: [.all],
            scanning: Self.rowsAtOnce
        ) { rows in
            for row in rows where !row.isDamaged {
                guard let damaged = new[row.inode], isDamage(damaged, of: row) else { continue }
                // What has the name by now may be another file.
                let state = try directory.identity(of: row.path)
                if case .file(let file) = state, file.inode != row.inode { continue }
                try await mark(row)
            }
        }
    }

    /// True if a row stands for what another one says is damaged, and for the file as it was then:
    /// whatever was recorded with a later ctime had its content again.
    private func isDamage(_ damaged: ManifestEntry, of row: ManifestEntry) -> Bool {
        guard row.size == damaged.size, row.crc64 == damaged.crc64 else { return false }
        guard judgesInodes, let then = damaged.changed, let changed = row.changed else {
            return true
        }
        return changed <= then
    }

    /// The same entry, marked if its file is a damaged one that has a second name, or that another
    /// state of the directory found: gone, or written behind that name.
    ///
    /// With `isHidden`, the walk did not look where the file would be.
    func marking(
        _ entry: JoinedEntry,
        isHidden: Bool = false,
        records: Bool
    ) async throws -> JoinedEntry {
        if entry.base == nil, entry.local == nil, let object = entry.remote {
            // To this state it is any object, and perhaps the last good copy.
            let row = elsewhere[object.size]?.first { $0.key == entry.key && $0.isDamaged }
            return row == nil ? entry : entry.likeDamaged(entry.key)
        }
        if !isHidden, let row = lost(entry) {
            if records { try await mark(row) }
            return entry.withDamaged(row)
        }
        guard !isEmpty, let base = entry.base, !base.isDamaged, base.crc64 != nil,
            LocalChange(of: entry.local, since: base, judgesInodes: judgesInodes) != .same
        else { return entry }
        let isGone = entry.local == nil
        let isSameFile =
            judgesInodes && base.inode != 0
            && (isGone || entry.local?.identity?.inode == base.inode)
        let isNamed = elsewhere[base.size]?.contains { $0.key == base.key } == true
        guard isSameFile || isNamed || isGone && isOfShard else { return entry }
        let rows = try await rows(
            size: base.size,
            inode: base.inode,
            modified: base.localModified
        )
        let isOne = rows.contains { row in
            isDamage(row, of: base)
                && (row.key == base.key || isSameFile && row.inode == base.inode)
        }
        // The file may be in another shard now, which refuses it because it looks like a damaged
        // one. This shard cannot know that, so the object stays as long as there is one.
        guard isOne else {
            guard isOfShard, entry.local == nil else { return entry }
            let like = rows.first { row in
                row.localModified.seconds == base.localModified.seconds && row.key != base.key
            }
            return entry.likeDamaged(like?.key)
        }
        if records { try await mark(base) }
        return entry.withDamaged(base)
    }

    /// The row of a file that is gone, and that the disk failed to show before.
    private func lost(_ entry: JoinedEntry) -> ManifestEntry? {
        guard entry.local == nil, let base = entry.base, !base.isDamaged, base.crc64 != nil,
            !base.isLeftOut, unread.withLock({ $0.cover(entry.key) })
        else { return nil }
        return base
    }

    /// True if what is missing may be what the disk failed to show.
    var hasUnread: Bool { unread.withLock { !$0.paths.isEmpty } }

    /// Notes what the disk failed to show.
    func noteUnread(_ paths: Set<ObjectKey>) async throws(ManifestError) {
        guard !paths.isEmpty else { return }
        let found = try await UnreadPaths.note(paths, in: manifest)
        unread.withLock { $0 = found }
    }

    /// A run has seen all there is: what is missing of it has its marks.
    func forgetUnread() async throws(ManifestError) {
        guard hasUnread else { return }
        try await UnreadPaths.forget(in: manifest)
        unread.withLock { $0 = UnreadPaths(paths: []) }
    }

    /// Makes the list of a shard what its manifest has: at the end of a run, and when it is cut.
    ///
    /// With `sentAll`, every file of the mirror was looked at and sent: none is an old damaged one.
    func writeList(sentAll: Bool = false) async throws {
        try await list.write(hasOwn.withLock(\.self) ? manifest : nil, keepsRepaired: !sentAll)
    }
}

extension JoinedEntry {
    /// The same with this row, marked.
    fileprivate func withDamaged(_ row: ManifestEntry) -> JoinedEntry {
        JoinedEntry(key: key, base: row.replacing(isDamaged: true), local: local, remote: remote)
    }
}
