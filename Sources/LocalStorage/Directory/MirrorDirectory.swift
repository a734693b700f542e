internal import SyncModel
internal import Synchronization

/// The mirrored directory and osssync's state in it, held open: every path below starts at its
/// descriptor, and symbolic links below it are never followed.
///
/// 1. Open and lock it; `walk` lists what is there (`Walk/`).
/// 2. `partials` makes temporary files, on the file system of the root.
/// 3. `publish` syncs, renames and syncs again (`Publish/`); `remove` takes files away, `trash`
///    keeps them.
///
/// Every method blocks on the disk: run them on a ``BlockingQueue``. All are thread-safe.
///
/// Not guaranteed: protection from programs that write meanwhile; each file is checked right before
/// and right after its name changes.
package final class MirrorDirectory: Sendable {
    /// As the user gave it, for messages.
    package let path: String
    let root: OpenDirectory
    /// Where the manifest and the lock are.
    package let state: StateFolder
    /// What all shards have in common; the state itself if this is no shard's.
    package let sharedState: StateFolder
    /// Why nothing is written into the mirror itself, which is only sent; nil for any other mirror.
    let protection: LocalError?
    /// True if the state is a directory beneath the mirrored one, which no walk enters.
    let holdsState: Bool
    /// Where the state is of a mirror that has none.
    let scratch: ScratchDirectory?
    let work: WorkPlace
    package let disk: MirrorDisk
    package let partials: PartialFiles
    package let trash: DirectoryTrash
    package let names: NameChecks
    let sharedFiles = SharedFiles()
    let outOfReach = Mutex(OutOfReach())
    let opened = Mutex(OpenedOnUse())

    struct OpenedOnUse {
        var standIn: ScratchDirectory?
        /// Of the lock that was taken last.
        weak var lease: DirectoryLease?
        /// Of the whole mirror, where this is a shard's directory.
        weak var wholeLease: DirectoryLease?
    }

    var calls: SystemCalls { root.calls }
    /// True for the directory of one shard.
    var isOfShard: Bool { state.directory !== sharedState.directory }

    /// Opens `path` and its state directory.
    ///
    /// - Parameters:
    ///   - path: May contain symbolic links, because the user specified it.
    ///   - stateDirectory: Where the state is; nil for `.osssync` within `path`. On another
    ///     mount, temporary files and trash stay in `.osssync`, because renames must reach.
    ///   - homeDirectory: The user's, which is refused as a mirror; nil if there is none.
    ///   - createsIfMissing: Makes the last component of both; their parents must exist.
    /// - Throws: `missingDirectory`, `notADirectory`, `refusedDirectory` for directories that must
    ///   not be mirrors, `unsafeDirectory` if others can access the state.
    package convenience init(
        path: String,
        stateDirectory: String?,
        homeDirectory: String?,
        createsIfMissing: Bool
    ) throws(LocalError) {
        try self.init(
            path: path,
            stateDirectory: stateDirectory,
            homeDirectory: homeDirectory,
            createsIfMissing: createsIfMissing,
            calls: .standard
        )
    }

    /// The same with chosen system calls, for tests; and of a shard, by the names of directories
    /// that lead to its own state from that of the mirror.
    package init(
        path: String,
        stateDirectory: String?,
        homeDirectory: String?,
        createsIfMissing: Bool,
        shard: [String] = [],
        calls: SystemCalls
    ) throws(LocalError) {
        self.path = path
        scratch = nil
        root = try GivenPath.open(path, createsIfMissing: createsIfMissing, calls: calls)
        let calls = root.calls
        let rootStatus = try root.status()
        protection = try ProtectedDirectories.check(
            root,
            rootStatus,
            path: path,
            homeDirectory: homeDirectory,
            mayBePushed: stateDirectory != nil
        )
        let defaultName = RelativePath.stateDirectoryName
        let statePath = stateDirectory ?? path + "/" + defaultName
        guard !statePath.utf8.contains(0) else {
            throw .missingDirectory(path: displayText(statePath.utf8))
        }
        if stateDirectory != nil { try IdentityFile.requireState(statePath, within: root) }
        let top = try PrivateDirectory.open(
            at: stateDirectory == nil ? root.descriptor : SystemCalls.workingDirectory,
            PathBytes((stateDirectory ?? defaultName).utf8),
            path: statePath,
            createsIfMissing: createsIfMissing,
            calls: calls
        )
        let ordinary = try root.status(of: PathBytes(defaultName.utf8))
        let isOrdinary = try ordinary?.isSameObject(as: top.status()) == true
        holdsState = isOrdinary ? false : try top.isWithin(root)
        var shared = StateFolder(directory: top, path: statePath)
        var own = try shared.opened(shard, makes: false)
        work = try WorkPlace(
            of: root,
            path: path,
            states: (own, shared, shard, isChosen: stateDirectory != nil),
            protection: protection,
            makes: createsIfMissing
        )
        disk = MirrorDisk(of: work.directory, device: rootStatus.identity.device)
        (shared.disk, own.disk) = (disk, disk)
        (sharedState, state) = (shared, own)
        partials = PartialFiles(in: work, disk, areBeside: false, of: nil)
        trash = DirectoryTrash(in: work)
        names = NameChecks(in: root, path: path, partials)
    }

    /// Opens `path` to look at it, making and changing nothing there.
    ///
    /// Where it has no state yet, or is not there itself, an empty stand-in outside the mirror is
    /// used; it stays until ``removeStandIn()``.
    package static func inspect(
        at path: String,
        stateDirectory: String?,
        homeDirectory: String?,
        shard: [String] = [],
        calls: SystemCalls
    ) throws(LocalError) -> MirrorDirectory {
        do throws(LocalError) {
            return try MirrorDirectory(
                path: path,
                stateDirectory: stateDirectory,
                homeDirectory: homeDirectory,
                createsIfMissing: false,
                shard: shard,
                calls: calls
            )
        } catch {
            guard case .missingDirectory = error, !path.isEmpty, !path.utf8.contains(0),
                shard.isEmpty
            else {
                throw error
            }
            return try MirrorDirectory(
                lookingAt: path,
                homeDirectory: homeDirectory,
                hasOwnState: stateDirectory != nil,
                calls: calls
            )
        }
    }

    private convenience init(
        lookingAt path: String,
        homeDirectory: String?,
        hasOwnState: Bool,
        calls: SystemCalls
    ) throws(LocalError) {
        let scratch = try ScratchDirectory(calls: calls)
        let root: OpenDirectory
        do throws(LocalError) {
            root = try GivenPath.open(path, calls: calls)
        } catch {
            guard case .missingDirectory = error else { throw error }
            root = try scratch.makeDirectory("mirror")
        }
        let protection = try ProtectedDirectories.check(
            root,
            root.status(),
            path: path,
            homeDirectory: homeDirectory,
            mayBePushed: hasOwnState
        )
        let state = try scratch.makeDirectory("state")
        try self.init(
            root,
            path: path,
            state: StateFolder(directory: state, path: scratch.path + "/state"),
            protection: protection,
            scratch: scratch
        )
    }

    /// Opens an ordinary directory to put single files into it, or to read them.
    ///
    /// It has no state: temporary files lie in it under hidden names, each locked by the process
    /// that uses it.
    package convenience init(
        ofSingleFiles path: String,
        partials: PartialSeries? = nil,
        calls: SystemCalls
    ) throws(LocalError) {
        let root = try GivenPath.open(path, calls: calls)
        try self.init(
            root,
            path: path,
            state: StateFolder(directory: root, path: path),
            singleFiles: (true, partials)
        )
    }

    /// Of a directory whose one state also holds the temporary files.
    private init(
        _ root: OpenDirectory,
        path: String,
        state: StateFolder,
        protection: LocalError? = nil,
        scratch: ScratchDirectory? = nil,
        singleFiles: (are: Bool, partials: PartialSeries?) = (false, nil)
    ) throws(LocalError) {
        (self.root, self.path, self.protection, self.scratch) = (root, path, protection, scratch)
        (self.state, sharedState, holdsState) = (state, state, false)
        work = WorkPlace(in: state.directory, of: root, path: state.path)
        disk = MirrorDisk(of: state.directory, device: try root.status().identity.device)
        let (areBeside, series) = singleFiles
        partials = PartialFiles(in: work, disk, areBeside: areBeside, of: series)
        trash = DirectoryTrash(in: work)
        names = NameChecks(in: root, path: path, partials)
    }

    /// Removes the names of a stand-in once everything in it is open, so that even a killed program
    /// leaves nothing behind.
    package func removeStandIn() {
        scratch?.remove()
        let standIn = opened.withLock { $0.standIn.take() }
        standIn?.remove()
    }

    /// The path of an empty private directory outside the mirror, for a manifest that is only
    /// looked at; it stays until ``removeStandIn()``.
    package func makeStandIn() throws(LocalError) -> String {
        try opened.withLock { opened throws(LocalError) in
            opened.standIn?.remove()
            let directory = try ScratchDirectory(calls: calls)
            opened.standIn = directory
            return directory.path
        }
    }

    /// Why there is no place for temporary files and trash; nil if there is, or it can be made.
    package var placeRefusal: LocalError? { work.lastingRefusal }

    /// Gives the place for temporary files and trash the name of the state, if that is another one
    /// than when the state was opened: a copy of both gets a name of its own.
    package func nameWork(_ state: String) { work.rename(to: state) }

    package var markerFile: MarkerFile {
        MarkerFile(
            root: root,
            path: path,
            protection: protection,
            state: state.directory,
            disk: disk
        )
    }

    /// Refuses to write into a directory that is only sent.
    package func requireOwn() throws(LocalError) {
        if let protection { throw protection }
        guard holdsState else { return }
        throw .unsafeDirectory(
            path: displayText(state.path.utf8),
            reason: "it is beneath the mirrored directory, which a push can send; anything else "
                + "needs a place outside of it"
        )
    }
}
