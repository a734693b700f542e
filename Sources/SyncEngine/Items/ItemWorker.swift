internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

/// A directory that was not there when a file of it was about to be fetched.
///
/// The files of a new directory come one after the other, and each would look whether something is
/// in its way. What this run puts there is not; what others put there is found when the file gets
/// its name.
final class AbsentDirectory: Sendable {
    let last = Mutex<RelativePath?>(nil)
    private let seen = Mutex<Set<ObjectKey>>([])

    /// True once for each directory that is there.
    func isFirstLook(_ key: ObjectKey) -> Bool { seen.withLock { $0.insert(key).inserted } }
}

/// What all that works on the items of a run has in common.
final class ItemParts: Sendable {
    let context: RunContext
    let ledger: RunLedger
    let publications: PublicationQueue
    let issues: ScanIssues
    let absent = AbsentDirectory()
    let privateMarkers = PrivateMarkers()
    /// Those of directories that are here, which are asked before files come.
    let newMarkers = PrivateMarkers()
    /// Of uploads whose names a store may take for those of others: one at a time.
    let likeNames = SingleFlight()

    init(_ setup: RunSetup, _ run: RunID, _ earlier: EarlierRows) {
        context = RunContext(setup, run, earlier)
        ledger = RunLedger(waitingLimit: setup.settings.limits.waiting)
        let reports = ItemReports(context: context, ledger: ledger)
        publications = PublicationQueue(context: context) { key, action, size, failure in
            reports.fail(action, key, size: size, failure)
        }
        issues = ScanIssues(in: setup.settings.shard?.range ?? .all) { reports.report($0) }
    }

    /// For what is no run: it only looks, or does work that is recorded of none.
    convenience init(_ setup: RunSetup) { self.init(setup, RunID(0), .perhaps) }
}

/// Works on items of a run, one kind of work for each type.
protocol ItemWorker: Sendable {
    var parts: ItemParts { get }

    init(parts: ItemParts)
}

extension ItemWorker {
    init(_ parts: ItemParts) { self.init(parts: parts) }

    var context: RunContext { parts.context }
    var ledger: RunLedger { parts.ledger }
    var publications: PublicationQueue { parts.publications }
    var issues: ScanIssues { parts.issues }

    /// Notes that the file of an entry is not sent, if it may be a renamed one.
    ///
    /// A filter leaves it out if it is outside a limit of sizes or ages, or beside the copy of a
    /// tag.
    func noteUnsent(_ entry: JoinedEntry, isLeftOut: Bool = false) {
        guard let file = entry.local?.identity else { return }
        // A copy that replaces the content of a recorded file keeps that one's inode.
        let isRenamed = file.inode != entry.base?.inode
        let look = look(of: file, entry.base)
        guard isRenamed || look != nil else { return }
        ledger.noteUnsent(
            inode: isRenamed ? file.inode : nil,
            at: entry.key,
            look,
            isLeftOut: isLeftOut
        )
    }

    /// Notes what may be nowhere but in directories that copies of tags leave out.
    func noteCopies(in issues: ScanIssues) {
        for name in issues.originalsOfCopies { ledger.countSkippedName(name) }
        for file in issues.copiedFiles {
            let entry = JoinedEntry(key: file.path, base: nil, local: file, remote: nil)
            noteUnsent(entry, isLeftOut: true)
        }
    }

    /// True if the user wants what cannot be decrypted replaced by what is here.
    var replacesDamaged: Bool {
        context.store.cipher != nil && context.options.replacesLocalChanges
    }

    /// Reads the beginning of an object that is not recorded, before it is replaced or recorded:
    /// what cannot be decrypted may be the only copy of something.
    func requireReadable(_ entry: JoinedEntry) async throws(ItemFailure) {
        guard let object = entry.remote, object.etag != entry.base?.etag else { return }
        let isSealed: Bool
        do throws(StorageError) {
            let key = context.objectKey(entry.key)
            try await context.store.requireReadable(key, object.etag, size: object.size)
            isSealed = try await context.store.isSealed(key, object.etag, size: object.size)
        } catch {
            throw ItemFailure(error)
        }
        if isSealed { throw .encryptedAndKept }
    }

    /// Nil for the recorded file itself, whose inode may be another one in each mount.
    private func look(of file: FileIdentity, _ base: ManifestEntry?) -> RunLedger.FileLook? {
        if let base, file.size == base.size, base.mayHaveTime(of: file) { return nil }
        return RunLedger.FileLook(size: file.size, modified: file.modified)
    }

    /// Runs `body` for each item, as many at once as there are connections; begins no more once the
    /// run is to end.
    ///
    /// With `countsRest`, those are counted as not tried.
    func forEach<Item: Sendable>(
        _ items: some Collection<Item>,
        countsRest: Bool = false,
        _ body: @escaping @Sendable (Item) async throws -> Void
    ) async throws {
        var rest = items[...]
        defer { if countsRest { ledger.countUntried(rest.count) } }
        try await forEachBounded(
            limit: context.options.connectionLimit,
            next: { ledger.stop == nil ? rest.popFirst() : nil },
            body: body
        )
    }
}

// MARK: - Endings

extension ItemWorker {
    private var reports: ItemReports { ItemReports(context: context, ledger: ledger) }

    func fail(_ action: ItemAction, _ key: ObjectKey, size: Int64, _ failure: ItemFailure) {
        reports.fail(action, key, size: size, failure)
    }

    func skipName(_ entry: JoinedEntry, _ reason: SkipReason) {
        reports.skipName(entry.key, size: entry.remote?.size ?? 0, reason)
    }

    func skipWithoutDoubt(_ key: ObjectKey, size: Int64, message: String) {
        reports.skipWithoutDoubt(key, size: size, message: message)
    }

    func skip(_ key: ObjectKey, size: Int64, message: String) {
        reports.skip(key, size: size, message: message)
    }

    /// True if what one side lost while filters left it out is the other side's alone from now on:
    /// no row says any more that it was the same on both.
    ///
    /// Not in a run that deletes what one side has alone: from a timer, the next one would do it.
    func forgets(_ reason: QuietReason, _ entry: JoinedEntry) -> Bool {
        guard reason == .onlyRemote || reason == .onlyLocal,
            !context.options.deletesExtra || context.options.replacesLocalChanges
        else { return false }
        return entry.hasVanishedUnseen && context.policy.knowsDirectory && !issues.hides(entry.key)
    }

    func leave(_ reason: QuietReason, _ entry: JoinedEntry) {
        // The state of another mirror is in no other count.
        reports.leave(
            reason,
            entry,
            isHidden: issues.cover(of: entry.key).map { !$0.isOfMirror } ?? false
        )
    }

    func keepLocalChange(_ entry: JoinedEntry, _ reason: String? = nil) {
        context.tracker.count { $0.localChanges += 1 }
        context.item(
            .skip,
            .skipped,
            entry.key,
            size: entry.local?.identity?.size ?? 0,
            message: reason ?? entry.reasonOfKeeping(context.tracker.direction)
        )
    }

    /// True for an upload that waits for the deletions: an object above or beneath it may be in its
    /// way, at a store that is a directory beneath, and this run may delete that.
    func waitsForDeletions(_ entry: JoinedEntry, _ failure: ItemFailure) -> Bool {
        guard context.policy.deletes, context.tracker.direction != .pull, entry.remote == nil
        else { return false }
        guard let status = failure.answer?.status, [400, 405, 409, 500].contains(status) else {
            return false
        }
        return ledger.add(RunLedger.DeferredUpload(entry: entry, failure: failure), to: \.uploads)
    }
}

// MARK: - Records

extension ItemWorker {
    /// Writes rows, once the disk has what they are of.
    func record(
        _ changes: [ManifestChange],
        _ action: ItemAction,
        _ entry: JoinedEntry
    ) async {
        let file = entry.local?.identity
        await publications.record(
            .init(changes: changes, key: entry.key, action: action, device: file?.device)
        )
    }

    /// The row of a file that has the recorded content.
    ///
    /// Its permissions stay those that the object's metadata stand for.
    func refreshed(
        _ base: ManifestEntry,
        _ entry: JoinedEntry,
        _ file: FileIdentity,
        readSince start: Timestamp?
    ) -> ManifestEntry {
        var row = base.replacing(
            localModified: recordedTime(file, since: start),
            inode: file.inode,
            isLink: entry.local?.isLink == true,
            changed: file.recordedChange,
            mode: base.mode ?? entry.local?.permissions
        )
        // In a copy of the directory all files are other ones.
        if !context.policy.knowsDirectory { row.isFetched = base.isFetched }
        return row
    }

    func recordedTime(_ file: FileIdentity, since start: Timestamp?) -> Timestamp {
        RecordedTime.of(
            file,
            since: start,
            now: context.environment.now(),
            comparesChange: context.policy.judgesInodes
        )
    }
}

// MARK: - Contents

extension ItemWorker {
    /// The current file of a key, nil if there is none.
    func identity(of key: ObjectKey) async throws -> FileIdentity? {
        let path = try context.path(of: key)
        let state = try await context.state(of: path)
        if case .file(let identity) = state { return identity }
        return nil
    }

    func head(_ key: ObjectKey, knownSize: Int64 = 0) async throws(ItemFailure) -> ObjectMetadata {
        try await context.transfer.metadata(key, knownSize: knownSize)
    }

    /// - Throws: `ItemFailure`.
    static func openForReading(
        _ path: RelativePath,
        in directory: MirrorDirectory
    ) throws -> OpenFile {
        do {
            return try directory.openForReading(path)
        } catch {
            throw ItemFailure(ofReading: error)
        }
    }

    /// The checksum of the whole file, which must still be the one the walk saw.
    func checksum(of path: RelativePath, expected: FileIdentity) async throws -> CRC64 {
        let directory = context.directory
        return try await context.reading { interruption in
            let file = try Self.openForReading(path, in: directory)
            guard try file.identity() == expected else { throw ItemFailure.sourceKeepsChanging }
            let range = ByteRange(offset: 0, length: expected.size)
            let checksum = try file.checksum(of: range, unless: interruption)
            guard try file.identity() == expected else { throw ItemFailure.sourceKeepsChanging }
            return checksum
        }
    }
}
