internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

/// What the items of a run leave behind for its end: whether it must stop, and what holds
/// deletions back.
final class RunLedger: Sendable {
    private struct State {
        var stop: TransferError?
        var fullBucket: TransferError?
        var renamesThere = RenamesThere()
        var failed = 0
        var refused: (count: Int, first: ObjectKey)?
        var skipped = 0
        var cancelled = 0
        var untried = 0
        var vanished = 0
        var vanishedFiles = 0
        var waiting: Waiting
        var told: Set<Topic> = []
        var refusedCopies = 0
        var shortItems = 0
        var names: [ObjectKey] = []
        var knownNames: Set<ObjectKey> = []
        var unsentFiles: [UInt64: ObjectKey] = [:]
        var unsentLooks: [FileLook: ObjectKey] = [:]
        var onlyCopy: (object: ObjectKey, file: ObjectKey)?
        /// Names beyond those that are kept, by their hashes, and how many more than these.
        var moreNames: Set<Int> = []
        var uncountedNames = 0
        var moreInodes = 0

        /// Items that hold back all deletions: those that were counted so, and the names and
        /// files of which there are too many to hold back only what they must.
        var skippedItems: Int {
            let more = moreNames.count + uncountedNames
            let names = more == 0 ? 0 : self.names.count + more
            let files = moreInodes == 0 ? 0 : unsentFiles.count + moreInodes
            return skipped + max(names, files)
        }
        var trashSize: Int64?
        var growth: Int64 = 0
        var hasReadFailures = false
        var keepsOwnTrash = false
        var keepsFetchedContents = false
        var moved: [ObjectKey: (etag: ETag, new: ObjectKey)] = [:]
        var earlierVanished = VanishedObjects()
        var vanishedObjects = VanishedObjects()

        init(waiting: Waiting) { self.waiting = waiting }
    }

    /// What a copy of a file has of it.
    struct FileLook: Hashable {
        private let size: Int64
        private let modified: Timestamp

        /// Nil for an empty one: no content is lost with it.
        init?(size: Int64, modified: Timestamp) {
            guard size > 0 else { return nil }
            (self.size, self.modified) = (size, modified)
        }

        /// What copies of a file of this row may have: programs and disks keep nanoseconds,
        /// microseconds or seconds, and some rows have their times a nanosecond early.
        static func ofCopies(_ row: ManifestEntry) -> [FileLook] {
            [row.localModified, row.localModified - .nanoseconds(-1)].flatMap { time in
                [Int32(1), 1_000, 1_000_000_000].compactMap { precision in
                    let rest = time.nanoseconds - time.nanoseconds % precision
                    let kept = Timestamp(seconds: time.seconds, nanoseconds: rest)
                    return FileLook(size: row.size, modified: kept)
                }
            }
        }
    }

    /// What is told once, whatever number of items it concerns.
    enum Topic: Sendable {
        /// The markers of directories cannot be read.
        case markers
        /// Copies do not keep permissions.
        case copies
        /// Objects may not be copied in their places.
        case refusals
        /// Objects are older than those that they replace.
        case olderObjects
    }

    /// What waits, by what is done with it then.
    struct Waiting: Sendable {
        /// For the deletions, in whose place a file is renamed.
        var renames: WaitingItems<PendingRename>
        /// For what the deletions make room for.
        var shortOfRoom: WaitingItems<ShortOfRoom>
        /// For the deletions, which free their places.
        var downloads: WaitingItems<Deferred>
        var uploads: WaitingItems<DeferredUpload>
        /// For the rows of the names that their files had before; only the plan adds some.
        var smallUploads: WaitingItems<JoinedEntry>
        /// For the objects in their directories.
        var markers: WaitingItems<JoinedEntry>

        /// Directories and their markers are small, and often many.
        init(limit: Int) {
            renames = WaitingItems(limit: limit)
            shortOfRoom = WaitingItems(limit: limit)
            downloads = WaitingItems(limit: limit)
            uploads = WaitingItems(limit: limit)
            smallUploads = WaitingItems(limit: limit, closes: false)
            markers = WaitingItems(limit: limit * 10)
        }
    }

    typealias List<Item: Sendable> = any WritableKeyPath<Waiting, WaitingItems<Item>> & Sendable

    /// A new key whose content a file has whose own key is perhaps gone.
    struct PendingRename: Sendable {
        let entry: JoinedEntry
        let object: RemoteObject
        let row: ManifestEntry
        let metadata: ObjectMetadata
    }

    /// A download that the disk had no room for.
    struct ShortOfRoom: Sendable {
        let entry: JoinedEntry
        let backup: BackupPolicy
        let failure: ItemFailure
    }

    /// A download that waits for the run's deletions.
    struct Deferred: Sendable {
        let entry: JoinedEntry
        /// What is in its place until then.
        let obstacle: SkipReason
    }

    /// An upload that the store refused, perhaps because of what this run deletes.
    struct DeferredUpload: Sendable {
        let entry: JoinedEntry
        let failure: ItemFailure
    }

    /// Names that hold back what is beneath them; more of them hold back everything.
    private static let nameLimit = 1_000
    /// Files that were not sent; more of them hold back all deletions.
    private static let inodeLimit = 100_000

    private let state: Mutex<State>

    /// At most about `waitingLimit` items of a kind wait at once.
    init(waitingLimit: Int) {
        state = Mutex(State(waiting: Waiting(limit: waitingLimit)))
    }

    /// The first reason to end the run, nil while there is none.
    var stop: TransferError? { state.withLock { $0.stop } }
    /// Why nothing more is sent in this run, which continues for its deletions, and how it then
    /// ends.
    var fullBucket: TransferError? { state.withLock { $0.fullBucket } }
    var failedItems: Int { state.withLock { $0.failed } }
    var skippedItems: Int { state.withLock { $0.skippedItems } }
    /// Items that a cancellation ended.
    var cancelledItems: Int { state.withLock { $0.cancelled } }
    /// Items that were planned and never begun, what waits included.
    var untriedItems: Int {
        state.withLock {
            let waiting = $0.waiting
            let transfers = waiting.smallUploads.items.count + waiting.markers.items.count
            return $0.untried + transfers + waiting.renames.items.count
                + waiting.shortOfRoom.items.count + waiting.downloads.items.count
                + waiting.uploads.items.count
        }
    }
    var vanishedItems: Int { state.withLock { $0.vanished } }
    /// Files of vanished objects that the run would have deleted had the listing been later.
    var vanishedFiles: Int { state.withLock { $0.vanishedFiles } }
    /// Items that the disk has no room for.
    var shortItems: Int { state.withLock { $0.shortItems } }
    /// Bytes in the trash, as far as known.
    var trashSize: Int64? {
        get { state.withLock { $0.trashSize } }
        set { state.withLock { $0.trashSize = newValue } }
    }
    /// Names that were skipped, without a "/" at their ends.
    var skippedNames: [ObjectKey] { state.withLock { $0.names } }

    func stop(_ error: TransferError) {
        state.withLock { $0.stop = $0.stop ?? error }
    }

    /// What came under a new name, of which something that is deleted may be the old one.
    var renamesThere: RenamesThere { state.withLock { $0.renamesThere } }
    func noteNew(_ entry: JoinedEntry, below smallest: Int64) {
        state.withLock { $0.renamesThere.noteNew(entry, below: smallest) }
    }

    func noteFullBucket(_ end: TransferError) { state.withLock { $0.fullBucket = end } }

    /// Notes that the content of an object has another name in the bucket by now, too; of many, the
    /// rest counts as copied and deleted.
    func noteMoved(_ old: ManifestEntry, to new: ObjectKey) {
        state.withLock { state in
            guard state.moved.count < Self.inodeLimit else { return }
            state.moved[old.key] = (old.etag, new)
        }
    }
    /// The name that this run gave the content of this version of an object; nil if it gave none.
    func newName(of old: PlannedDeletion) -> ObjectKey? {
        state.withLock { $0.moved[old.key] }.flatMap { $0.etag == old.etag ? $0.new : nil }
    }
    var hasMoved: Bool { state.withLock { !$0.moved.isEmpty } }

    func countFailed() { state.withLock { $0.failed += 1 } }
    /// Notes a failed item whose object the store refuses, whatever is in it.
    func noteRefused(_ key: ObjectKey) {
        state.withLock { state in
            state.refused = ((state.refused?.count ?? 0) + 1, state.refused?.first ?? key)
        }
    }
    /// The first of the failed items, if the store refused the objects of all of them.
    var onlyRefused: ObjectKey? {
        state.withLock { $0.refused?.count == $0.failed ? $0.refused?.first : nil }
    }
    func countCancelled() { state.withLock { $0.cancelled += 1 } }
    /// Bytes by which the plan makes the directory larger.
    var growth: Int64 { state.withLock { $0.growth } }
    func countGrowth(_ bytes: Int64) {
        state.withLock { $0.growth = $0.growth.addingClamped(bytes) }
    }
    func countUntried(_ count: Int) { state.withLock { $0.untried += count } }
    /// Notes that the disk did not give what a file holds: it may have lost other things, too.
    ///
    /// Of a file that is known to be damaged, that is nothing new.
    func noteReadFailure(of row: ManifestEntry?) {
        if row?.isDamaged != true { state.withLock { $0.hasReadFailures = true } }
    }
    var hasReadFailures: Bool { state.withLock { $0.hasReadFailures } }
    func countVanished() { state.withLock { $0.vanished += 1 } }
    /// What the last run did not find.
    func expect(_ earlier: VanishedObjects) { state.withLock { $0.earlierVanished = earlier } }
    /// Notes an object that was not found; true if the last run did not find it, either.
    func noteVanished(_ object: RemoteObject) -> Bool {
        state.withLock { state in
            state.vanishedObjects.insert(object)
            return state.earlierVanished.contains(object)
        }
    }
    /// What the next run is to know, where it is not recorded already; a limited run adds to it.
    func newlyVanished(isLimited: Bool) -> VanishedObjects? {
        state.withLock { state in
            var found = state.vanishedObjects
            if isLimited { found.formUnion(state.earlierVanished) }
            return found == state.earlierVanished ? nil : found
        }
    }
    func countVanishedFile() { state.withLock { $0.vanishedFiles += 1 } }
    /// The trash of this run has a version that a user made and that is nowhere else.
    func keepOwnTrash() { state.withLock { $0.keepsOwnTrash = true } }
    var keepsOwnTrash: Bool { state.withLock { $0.keepsOwnTrash } }
    /// What was fetched earlier is needed by the next run, too.
    func keepFetchedContents() { state.withLock { $0.keepsFetchedContents = true } }
    var keepsFetchedContents: Bool { state.withLock { $0.keepsFetchedContents } }
    func countSkipped() { state.withLock { $0.skipped += 1 } }
    func countShort() { state.withLock { $0.shortItems += 1 } }

    /// Notes a name that was skipped: what lies at and beneath it is not deleted.
    ///
    /// With `file`, it is the name of an object that may be the only copy of that file, which was
    /// not sent. There are at most as many of these as of such files.
    func countSkippedName(_ key: ObjectKey, of file: ObjectKey? = nil) {
        let name = key.isDirectoryMarker ? ObjectKey(key.bytes.dropLast()) : key
        state.withLock { state in
            if state.knownNames.contains(name) { return }
            if let file, state.onlyCopy == nil { state.onlyCopy = (name, file) }
            if state.names.count < (file == nil ? Self.nameLimit : Self.inodeLimit) {
                state.knownNames.insert(name)
                state.names.append(name)
            } else if state.moreNames.count < Self.inodeLimit {
                state.moreNames.insert(name.hashValue)
            } else {
                state.uncountedNames += 1
            }
        }
    }

    /// Notes a file of this directory whose content is not in the bucket after the run: it may have
    /// been renamed, moved or copied, and its old object be its only copy there.
    ///
    /// `inode` is nil if a row of this name has it, `look` if the row is of a file that looks so.
    ///
    /// Of what a filter leaves out, most was never sent: more than can be noted hold back no
    /// deletion.
    func noteUnsent(
        inode: UInt64?,
        at name: ObjectKey,
        _ look: FileLook? = nil,
        isLeftOut: Bool = false
    ) {
        state.withLock { state in
            let isFull = max(state.unsentFiles.count, state.unsentLooks.count) >= Self.inodeLimit
            guard !isFull else {
                let isKnown = inode.map { state.unsentFiles[$0] != nil } ?? (look == nil)
                if !isKnown, !isLeftOut { state.moreInodes += 1 }
                return
            }
            if let inode { state.unsentFiles[inode] = name }
            if let look { state.unsentLooks[look] = name }
        }
    }

    /// The names of those files, by their inodes.
    var unsentFiles: [UInt64: ObjectKey] { state.withLock { $0.unsentFiles } }

    /// True if one of those files may be a copy of any file.
    var mayHaveCopies: Bool { state.withLock { !$0.unsentLooks.isEmpty } }

    /// One of those files that may be a copy of the file of this row; nil if none may.
    func copy(of row: ManifestEntry) -> ObjectKey? {
        let looks = FileLook.ofCopies(row)
        return state.withLock { state in looks.compactMap { state.unsentLooks[$0] }.first }
    }

    /// The first object that may be the only copy of a file, and the name of that file.
    var onlyCopy: (object: ObjectKey, file: ObjectKey)? { state.withLock(\.onlyCopy) }

    /// Lets an item wait; false if too many do already, or those that waited were taken.
    func add<Item: Sendable>(_ item: Item, to list: List<Item>) -> Bool {
        state.withLock { $0.waiting[keyPath: list].add(item) }
    }

    /// Those that wait, which do no more.
    func take<Item: Sendable>(_ list: List<Item>) -> [Item] {
        state.withLock { $0.waiting[keyPath: list].take() }
    }

    func waiting<Item: Sendable>(_ list: List<Item>) -> WaitingItems<Item> {
        state.withLock { $0.waiting[keyPath: list] }
    }

    /// Lets one that was taken wait again.
    func putBack<Item: Sendable>(_ item: Item, to list: List<Item>) {
        state.withLock { $0.waiting[keyPath: list].putBack(item) }
    }

    /// False once so many copies in a row were refused that it is of no use to ask for more.
    var asksForCopies: Bool { state.withLock { $0.refusedCopies < FailureStreaks.limit } }

    func countCopy(isRefused: Bool) {
        state.withLock { $0.refusedCopies = isRefused ? $0.refusedCopies + 1 : 0 }
    }

    /// True once.
    func tellsOnce(_ topic: Topic) -> Bool {
        state.withLock { $0.told.insert(topic).inserted }
    }
}
