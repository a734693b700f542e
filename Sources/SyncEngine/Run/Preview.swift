internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Says what a run would do with each item.
struct Preview {
    let executor: ItemExecutor

    var context: RunContext { executor.context }
    /// What the run would not transfer again.
    var kept: KeptTransfers

    /// Renames and deletions that are remembered; where there are more, a rename counts as a copy
    /// and a deletion, which the run itself may still carry out as one.
    static let limit = 100_000

    private var smallRenames = ShownRenames()
    /// What is deleted here, and comes under another name.
    private(set) var renamesThere = RenamesThere()

    /// Files or objects whose content a new key has, and that perhaps become it, with that key.
    private var renamed: [ObjectKey: ObjectKey] = [:]
    var deleted: Set<ObjectKey> = []
    /// What is to be said of those once it is known that nothing holds them back.
    var deletions: [(action: ItemAction, key: ObjectKey, size: Int64, message: String)] = []

    var markers: HeldMarkers
    /// Markers that are to be deleted and stay if the bucket has anything beneath them.
    var markersOfModes: [ObjectKey] = []

    init(executor: ItemExecutor, kept: KeptTransfers) {
        (self.executor, self.kept) = (executor, kept)
        markers = HeldMarkers(ordinary: executor.context.policy.ordinaryDirectory)
    }

    /// What was shown last: what becomes of the item.
    private var shown: ItemAction?
    /// What the comparison of the item ended in.
    private var outcome: Decision?

    /// Shows the item; the action for its key, and the outcome of its comparison; nil if there is
    /// nothing to show.
    mutating func show(
        _ item: PlannedItem
    ) async throws -> (action: ItemAction, outcome: Decision?)? {
        var outcomes: [HeldMarkers.Outcome] = []
        let isHeld = markers.take(item, &outcomes)
        for outcome in outcomes { try await showMarker(outcome) }
        (shown, outcome) = (nil, nil)
        smallRenames.noteRow(of: item.entry, executor.smallRenames)
        if isHeld, case .nothing = item.decision { return nil }
        try await show(item.decision, item.entry)
        return shown.map { ($0, outcome) }
    }

    /// Deletions that are renames, by which the run changes the name of a file or an object.
    var renames: Int { deleted.count { renamed[$0] != nil } }

    /// Deletions at or beneath names that were skipped, which a run holds back; renames are none.
    func heldBack(by names: [ObjectKey]) -> Int {
        Self.count(deleted.filter { renamed[$0] == nil }, heldBackBy: names)
    }

    /// How many of these keys are at or beneath the names.
    static func count(_ keys: Set<ObjectKey>, heldBackBy names: [ObjectKey]) -> Int {
        guard !names.isEmpty else { return 0 }
        let names = Set(names)
        return keys.count { isAtOrBeneath(names, $0) }
    }

    private static func isAtOrBeneath(_ names: Set<ObjectKey>, _ key: ObjectKey) -> Bool {
        let bytes = key.bytes
        return names.contains(key)
            || bytes.indices.contains { index in
                bytes[index] == UInt8(ascii: "/") && names.contains(ObjectKey(bytes[..<index]))
            }
    }

    /// Shows the deletions that these names do not hold back.
    func showDeletions(heldBackBy names: [ObjectKey]) {
        let names = Set(names)
        for (action, key, size, message) in deletions where !Self.isAtOrBeneath(names, key) {
            let rename = renamed[key].map { OtherName(.next, $0).sentence }
            context.item(action, .planned, key, size: size, message: rename ?? message)
        }
    }

    private mutating func compare(
        _ entry: JoinedEntry,
        _ comparison: Comparison,
        same: Decision,
        different: Decision
    ) async throws {
        do {
            let answer = try await executor.contents.answer(entry, comparison)
            guard !executor.contents.needsContent(answer, different, of: entry) else {
                let message =
                    "the store provides no checksum to compare with the file; a run "
                    + "fetches the object to compare it"
                outcome = nil
                return show(.adopt, entry, size: entry.remote?.size ?? 0, message)
            }
            let next = executor.contents.decision(answer, entry, same: same, different: different)
            outcome = next
            try await show(next, entry)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            let failure = ItemFailure(any: error)
            guard failure != .cancelled else { throw CancellationError() }
            executor.noteUnsent(entry)
            executor.fail(.adopt, entry.key, size: entry.remote?.size ?? 0, failure)
        }
    }

    mutating func show(_ decision: Decision, _ entry: JoinedEntry) async throws {
        var decision = decision
        if let settled = await executor.settled(decision, entry) { decision = settled }
        let outline = PlanOutline(decision, entry, context.policy)
        executor.countGrowth(decision, entry)
        if let conflict = outline.conflict {
            if outline.step != .send { executor.noteUnsent(entry) }
            context.tracker.count { $0.conflicts += 1 }
            report(.conflict, entry, size: entry.sizeOfEither, conflict)
        }
        switch outline.step {
        case .leave(let reason): executor.leave(reason, entry)
        case .record(isNew: false), .leaveBoth: break
        // Only the manifest changes, but a plan has it.
        case .record(isNew: true): shown = .adopt
        case .receive: try await showDownload(entry, outline.cause)
        case .send: try await showUpload(entry, outline.cause)
        case .compare(let comparison, let same, let different):
            try await compare(entry, comparison, same: same, different: different)
        case .carryMode(.object): reportMode(entry)
        case .carryMode(.file): try await showMode(entry, orElse: .unchanged)
        case .adopt:
            context.tracker.count { $0.adopted += 1 }
            report(.adopt, entry, size: outline.size, nil)
            if entry.local?.isDirectory == true { return try await showMode(entry, orElse: nil) }
            await showAdoptedMode(entry)
        case .deleteLocal, .deleteRemote: delete(outline, entry)
        case .carryMode(.neither) where entry.local?.isOthersDirectory == true:
            executor.refuseDirectory(entry)
        case .keepLocalChange, .carryMode(.neither): executor.keepLocalChange(entry)
        case .skip: await executor.carryOut(decision, entry)
        }
    }

    private mutating func reportMode(_ entry: JoinedEntry) {
        context.tracker.count { $0.modes += 1 }
        report(.mode, entry, size: 0, "permissions changed")
    }

    /// The permissions that an object which was written anew has, if they are others.
    private mutating func showMode(
        _ entry: JoinedEntry,
        orElse reason: QuietReason?
    ) async throws {
        guard context.options.keepsFileMetadata,
            try await executor.permissions.modeOfObject(entry) != nil
        else {
            if let reason { executor.leave(reason, entry) }
            return
        }
        reportMode(entry)
    }

    private mutating func showAdoptedMode(_ entry: JoinedEntry) async {
        let permissions = executor.permissions
        switch permissions.adoptedTarget(entry, await permissions.adoptedMode(entry, nil)) {
        case .object, .file: reportMode(entry)
        case .neither: executor.keepLocalChange(entry)
        case nil: break
        }
    }

    /// A download, or the copy of a file that has the content already.
    private mutating func showDownload(_ entry: JoinedEntry, _ cause: String) async throws {
        guard let object = entry.remote else { return }
        if executor.parts.privateMarkers.isRefused(above: entry.key) {
            let message = FileDownloads.refusedMessage
            return executor.skip(entry.key, size: object.size, message: message)
        }
        switch await executor.places.hindrance(entry) {
        case .refused(let failure):
            return executor.fail(.download, entry.key, size: object.size, failure)
        case .occupied(let reason): return await executor.carryOut(.skip(reason), entry)
        case nil: break
        }
        guard !RelativePath.isDirectory(entry.key) else {
            return show(.download, entry, size: 0, cause)
        }
        let isNew = entry.base == nil && entry.local == nil
        if isNew,
            let row = try await found({ try await executor.sources.localSource(entry, object)?.row }
            )
        {
            showCopy(.copyLocal, entry, of: row, size: object.size)
        } else {
            renamesThere.noteNew(entry, below: context.limits.smallestSearchable)
            show(.download, entry, size: object.size, cause)
        }
    }

    /// An upload, or the copy of an object that has the content already.
    private mutating func showUpload(_ entry: JoinedEntry, _ cause: String) async throws {
        guard let file = entry.local?.identity else {
            return show(.upload, entry, size: 0, cause)
        }
        let path: RelativePath
        do {
            path = try context.path(of: entry)
        } catch {
            executor.noteUnsent(entry)
            return executor.skip(entry.key, size: file.size, message: error.message)
        }
        for marker in await executor.markers.unplanned(above: entry.key) {
            try await show(marker.remote == nil ? .uploadMarker : .carryMode(.object), marker)
        }
        guard await executor.damage.isBeyondDoubt(entry, file, path) else { return }
        let row = try await found {
            guard entry.remote == nil, entry.local?.isLink != true else { return nil }
            return try await executor.sources.remoteSource(entry, file, path)
        }
        if let row {
            showCopy(.copyRemote, entry, of: row, size: file.size)
        } else {
            show(.upload, entry, size: file.size, cause)
            smallRenames.noteUpload(entry, executor.smallRenames)
            let copied = await executor.uploads.copied(entry).bytes
            context.tracker.count { $0.bytesCopied = $0.bytesCopied.addingClamped(copied) }
        }
    }

    /// What a search finds; one that fails would end in a transfer.
    private func found(
        _ search: () async throws -> ManifestEntry?
    ) async throws -> ManifestEntry? {
        do {
            return try await search()
        } catch {
            guard ItemFailure(any: error) != .cancelled else { throw CancellationError() }
            return nil
        }
    }

    /// To be called after the last item: what is sent anew under another name counts as renamed.
    mutating func countSmallRenames() {
        let names = smallRenames.names
        for (old, new) in names { renamed[old] = new }
        context.tracker.count { summary in
            summary.transferred -= names.count
            summary.renamed += names.count
        }
    }

    private mutating func showCopy(
        _ action: ItemAction,
        _ entry: JoinedEntry,
        of row: ManifestEntry,
        size: Int64
    ) {
        if renamed.count < Self.limit { renamed[row.key] = entry.key }
        context.tracker.count { $0.renamed += 1 }
        report(action, entry, size: size, "'\(row.key.display)' has the same content")
    }

    private mutating func show(
        _ action: ItemAction,
        _ entry: JoinedEntry,
        size: Int64,
        _ message: String
    ) {
        let resumed = min(size, kept.bytes(of: entry, sends: action == .upload))
        context.tracker.wouldTransfer(entry.key, bytes: size, resumed: resumed)
        report(action, entry, size: size, resumed: resumed, message)
    }

    private mutating func delete(_ outline: PlanOutline, _ entry: JoinedEntry) {
        let action = outline.step == .deleteLocal ? ItemAction.deleteLocal : .deleteRemote
        let (size, message) = (outline.size, excludedBy(entry.key) ?? outline.cause)
        context.tracker.count { $0.deleted += 1 }
        if outline.step == .deleteLocal { renamesThere.noteGone(entry.base) }
        guard deleted.count < Self.limit else { return report(action, entry, size: size, message) }
        shown = action
        deleted.insert(entry.key)
        deletions.append((action, entry.key, size, message))
    }

    /// Why `--delete=excluded` deletes it; nil for what is not excluded.
    private func excludedBy(_ key: ObjectKey) -> String? {
        guard context.options.deletesExcluded, let ruling = context.filter.ruling(on: key),
            ruling.excludes
        else { return nil }
        return "excluded by \(ruling.rule)"
    }

    private mutating func report(
        _ action: ItemAction,
        _ entry: JoinedEntry,
        size: Int64,
        resumed: Int64 = 0,
        _ message: String?
    ) {
        shown = action
        context.item(action, .planned, entry.key, size: size, message: message) {
            $0.bytesResumed = resumed
        }
    }
}
