internal import LocalStorage
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

/// What the items of a run leave behind for its end: whether it must stop, and what holds
/// deletions back.
final class RunLedger: Sendable {
    private struct State {
        var stop: SyncError?
        var failed = 0
        var skipped = 0
        var cancelled = 0
        var untried = 0
        var vanished = 0
        var vanishedFiles = 0
        var deferred: [Deferred] = []
        var deferredUploads: [DeferredUpload] = []
        var mayDeferUploads = true
        var smallUploads: [JoinedEntry] = []
        var goneRows: [UInt64: ManifestEntry] = [:]
        var markers: [JoinedEntry] = []
        var mayDeferMarkers = true
        var hasToldOfMarkers = false
        var renames: [PendingRename] = []
        var mayRename = true
        var short: [ShortOfRoom] = []
        var mayBeShort = true
        var shortItems = 0
        var names: [ObjectKey] = []
        var trashSize: Int64?
        var growth: Int64 = 0
        var keepsOwnTrash = false
        var keepsFetchedContents = false
        var earlierVanished = VanishedObjects()
        var vanishedObjects = VanishedObjects()
    }

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

    /// Markers that are sent at the end; more of them are sent by the next run.
    private static let markerLimit = 100_000
    /// Downloads that wait for deletions are rare; more than this are left to the next run.
    private static let deferredLimit = 10_000
    /// Names that hold back what is beneath them; more of them hold back everything.
    private static let nameLimit = 1_000

    private let state = Mutex(State())

    /// The first reason to end the run, nil while there is none.
    var stop: SyncError? { state.withLock { $0.stop } }
    var failedItems: Int { state.withLock { $0.failed } }
    var skippedItems: Int { state.withLock { $0.skipped } }
    /// Items that a cancellation ended.
    var cancelledItems: Int { state.withLock { $0.cancelled } }
    /// Items that were planned and never begun, renames and what waits for room included.
    var untriedItems: Int {
        state.withLock {
            $0.untried + $0.renames.count + $0.short.count + $0.deferredUploads.count
                + $0.smallUploads.count
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
    var deferred: [Deferred] { state.withLock { $0.deferred } }

    func stop(_ error: SyncError) {
        state.withLock { $0.stop = $0.stop ?? error }
    }

    func countFailed() { state.withLock { $0.failed += 1 } }
    func countCancelled() { state.withLock { $0.cancelled += 1 } }
    /// Bytes by which the plan makes the directory larger.
    var growth: Int64 { state.withLock { $0.growth } }
    func countGrowth(_ bytes: Int64) {
        state.withLock { $0.growth = $0.growth.addingClamped(bytes) }
    }
    func countUntried(_ count: Int) { state.withLock { $0.untried += count } }
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

    func countSkippedName(_ key: ObjectKey) {
        let name = key.isDirectoryMarker ? ObjectKey(key.bytes.dropLast()) : key
        state.withLock { state in
            if state.names.count < Self.nameLimit {
                state.names.append(name)
            } else {
                state.skipped += 1
            }
        }
    }

    /// False if there are too many already, or the deletions have begun.
    func deferRename(_ rename: PendingRename) -> Bool {
        state.withLock { state in
            guard state.mayRename, state.renames.count < Self.deferredLimit else { return false }
            state.renames.append(rename)
            return true
        }
    }

    /// Those that wait; none is taken from here on.
    func takeRenames() -> [PendingRename] {
        state.withLock { state in
            state.mayRename = false
            defer { state.renames = [] }
            return state.renames
        }
    }

    /// False if there are too many already, or the room was made.
    func deferForRoom(_ item: ShortOfRoom) -> Bool {
        state.withLock { state in
            guard state.mayBeShort, state.short.count < Self.deferredLimit else { return false }
            state.short.append(item)
            return true
        }
    }

    /// Those that wait for room; none is taken from here on.
    func takeShort() -> [ShortOfRoom] {
        state.withLock { state in
            state.mayBeShort = false
            defer { state.short = [] }
            return state.short
        }
    }

    /// False if there are too many already, or the deletions have begun.
    func deferUpload(_ entry: JoinedEntry, _ failure: ItemFailure) -> Bool {
        state.withLock { state in
            guard state.mayDeferUploads, state.deferredUploads.count < Self.deferredLimit else {
                return false
            }
            state.deferredUploads.append(DeferredUpload(entry: entry, failure: failure))
            return true
        }
    }

    /// Those that wait; none is taken from here on.
    func takeDeferredUploads() -> [DeferredUpload] {
        state.withLock { state in
            state.mayDeferUploads = false
            defer { state.deferredUploads = [] }
            return state.deferredUploads
        }
    }

    func keepDeferredUpload(_ upload: DeferredUpload) {
        state.withLock { $0.deferredUploads.append(upload) }
    }

    /// Notes the row of a small file that is gone; what there is no room for is not found again.
    func noteGone(_ row: ManifestEntry) {
        state.withLock { state in
            guard state.goneRows.count < Self.deferredLimit else { return }
            state.goneRows[row.inode] = row
        }
    }

    /// The noted row of a file.
    func smallRow(inode: UInt64) -> ManifestEntry? { state.withLock { $0.goneRows[inode] } }

    /// Keeps a small file's upload until all rows have come; false if there are too many already.
    func deferSmallUpload(_ entry: JoinedEntry) -> Bool {
        state.withLock { state in
            guard state.smallUploads.count < Self.deferredLimit else { return false }
            state.smallUploads.append(entry)
            return true
        }
    }

    func takeSmallUploads() -> [JoinedEntry] {
        state.withLock { state in
            defer { state.smallUploads = [] }
            return state.smallUploads
        }
    }

    /// False where it is to be sent now; else it waits, or is left to the next run.
    func deferMarker(_ entry: JoinedEntry) -> Bool {
        state.withLock { state in
            guard state.mayDeferMarkers else { return false }
            if state.markers.count < Self.markerLimit { state.markers.append(entry) }
            return true
        }
    }

    /// Those that wait; none is taken from here on.
    func takeMarkers() -> [JoinedEntry] {
        state.withLock { state in
            state.mayDeferMarkers = false
            defer { state.markers = [] }
            return state.markers
        }
    }

    /// True once: for what is told of the markers of all directories.
    func tellsOfMarkers() -> Bool {
        state.withLock { state in
            defer { state.hasToldOfMarkers = true }
            return !state.hasToldOfMarkers
        }
    }

    /// False if there are too many already.
    func deferDownload(_ entry: JoinedEntry, behind obstacle: SkipReason) -> Bool {
        state.withLock { state in
            guard state.deferred.count < Self.deferredLimit else { return false }
            state.deferred.append(Deferred(entry: entry, obstacle: obstacle))
            return true
        }
    }
}
