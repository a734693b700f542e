internal import SyncModel
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The mirrored directory and osssync's state in it, held open: every path below starts at its
/// descriptor, and symbolic links below it are never followed.
///
/// 1. Open and lock it; `walk` lists what is there (`Walk/`).
/// 2. `createPartial` makes temporary files, on the file system of the root.
/// 3. `publish` syncs, renames and syncs again (`Publish/`); `remove` takes files away.
///
/// Every method blocks on the disk: run them on a ``BlockingQueue``. All are thread-safe.
///
/// Not guaranteed: protection from programs that write meanwhile; each file is checked right before
/// and right after its name changes.
package final class MirrorDirectory: Sendable {
    /// As the user gave it, for messages.
    package let path: String
    /// Where the manifest, the configuration and the lock are.
    package let stateDirectoryPath: String
    /// The same of what all shards have in common.
    let topPath: String
    let calls: SystemCalls
    let root: OpenDirectory
    let state: OpenDirectory
    /// What all shards have in common; the state itself if this is no shard's.
    let top: OpenDirectory
    /// Holds `partial`; on the mount of the root, where renames reach.
    let work: OpenDirectory
    /// Holds `trash`, which all shards have in common; the same if this is no shard's.
    let topWork: OpenDirectory
    /// What that lies in, if it is not the state itself.
    let workHolder: OpenDirectory?
    /// The name of a state that was chosen, as it was when that was opened.
    let stateName: String?
    /// Why there is no such place, which is not needed where nothing is written; nil if there is.
    let workRefusal: LocalError?
    /// Why nothing is written into the mirror itself, which is only sent; nil for any other mirror.
    let protection: LocalError?
    /// True if the state is a directory beneath the mirrored one, which no walk enters.
    let holdsState: Bool
    /// Where the state is of a mirror that has none.
    let scratch: ScratchDirectory?
    /// True if temporary files lie beside what they become, for lack of a directory of their own.
    let keepsPartialsBeside: Bool
    /// What temporary files are called, if all are of one file.
    let partialSeries: PartialSeries?
    /// The number of the file system that ``synchronize()`` is of.
    package let device: UInt64
    let opened = Mutex(OpenedOnUse())
    /// Held while a large temporary file reserves its blocks.
    let reservations = Mutex(())
    let uncheckedFiles = Atomic<Int64>(0)
    /// Of small files that are being fetched.
    let claimedBytes = Atomic<Int64>(0)
    let uncheckedBytes = Atomic<Int64>(0)
    let newNames = PartialNames()
    let sharedFiles = SharedFiles()
    let outOfReach = Mutex(OutOfReach())
    let knownNames = Mutex(KnownNames())
    let ownNames = Mutex(OwnNames())
    let backups = Mutex<OpenDirectory?>(nil)
    let failedToSynchronize = Atomic(false)

    struct OpenedOnUse {
        var partials: OpenDirectory?
        var trash: OpenDirectory?
        var fileModes: NewFileModes?
        var place: KnownPlace?
        var standIn: ScratchDirectory?
        /// Of the lock that was taken last.
        weak var lease: DirectoryLease?
        /// Of the whole mirror, where this is a shard's directory.
        weak var wholeLease: DirectoryLease?
    }

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
        (keepsPartialsBeside, partialSeries) = (false, nil)
        root = try Self.openRoot(path, createsIfMissing: createsIfMissing, calls: calls)
        let calls = root.calls
        self.calls = calls
        let rootStatus = try root.status()
        let protection = try Self.check(
            path,
            root,
            rootStatus,
            homeDirectory: homeDirectory,
            mayBePushed: stateDirectory != nil
        )
        self.protection = protection
        device = rootStatus.identity.device

        let defaultName = RelativePath.stateDirectoryName
        let topPath = stateDirectory ?? path + "/" + defaultName
        self.topPath = topPath
        guard !topPath.utf8.contains(0) else {
            throw .missingDirectory(path: displayText(topPath.utf8))
        }
        stateDirectoryPath = ([topPath] + shard).joined(separator: "/")
        if stateDirectory != nil { try Self.requireState(topPath, within: root) }
        top = try PrivateDirectory.open(
            at: stateDirectory == nil ? root.descriptor : SystemCalls.workingDirectory,
            PathBytes((stateDirectory ?? defaultName).utf8),
            path: topPath,
            createsIfMissing: createsIfMissing,
            calls: calls
        )
        let stateStatus = try top.status()
        let ordinary = try root.status(of: PathBytes(defaultName.utf8))
        let isOrdinary = ordinary?.isSameObject(as: stateStatus) == true
        holdsState = isOrdinary ? false : try top.isWithin(root)
        let places = Places(root: root, top: top, path: path, topPath: topPath, calls: calls)
        state = try places.state(shard)
        let isOnMountOfRoot = stateStatus.isSameMount(as: rootStatus)
        let stateName =
            stateDirectory == nil ? nil : Self.stateName(of: top, makes: createsIfMissing)
        self.stateName = stateName
        let (topWork, holder, refusal) =
            try isOnMountOfRoot
            ? (top, nil, nil)
            : places.topWork(stateName, protection, createsIfMissing: createsIfMissing)
        (self.topWork, workHolder) = (topWork, holder)
        if shard.isEmpty || refusal != nil {
            (work, workRefusal) = (topWork, refusal)
        } else if isOnMountOfRoot {
            (work, workRefusal) = (state, nil)
        } else {
            (work, workRefusal) = try places.work(
                shard,
                topWork,
                createsIfMissing: createsIfMissing
            )
        }
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

    private init(
        lookingAt path: String,
        homeDirectory: String?,
        hasOwnState: Bool,
        calls: SystemCalls
    ) throws(LocalError) {
        self.path = path
        let scratch = try ScratchDirectory(calls: calls)
        self.scratch = scratch
        (keepsPartialsBeside, partialSeries) = (false, nil)
        do throws(LocalError) {
            root = try Self.openRoot(path, createsIfMissing: false, calls: calls)
        } catch {
            guard case .missingDirectory = error else { throw error }
            root = try scratch.makeDirectory("mirror")
        }
        self.calls = root.calls
        let rootStatus = try root.status()
        protection = try Self.check(
            path,
            root,
            rootStatus,
            homeDirectory: homeDirectory,
            mayBePushed: hasOwnState
        )
        device = rootStatus.identity.device
        state = try scratch.makeDirectory("state")
        top = state
        (stateDirectoryPath, topPath) = (scratch.path + "/state", scratch.path + "/state")
        (work, topWork, workRefusal, workHolder, stateName) = (state, state, nil, nil, nil)
        holdsState = false
    }

    /// Opens an ordinary directory to put single files into it, or to read them.
    ///
    /// It has no state: temporary files lie in it under hidden names, each locked by the process
    /// that uses it.
    package init(
        ofSingleFiles path: String,
        partials: PartialSeries? = nil,
        calls: SystemCalls
    ) throws(LocalError) {
        self.path = path
        scratch = nil
        (keepsPartialsBeside, partialSeries) = (true, partials)
        root = try Self.openRoot(path, createsIfMissing: false, calls: calls)
        self.calls = root.calls
        protection = nil
        device = try root.status().identity.device
        (state, top) = (root, root)
        (work, topWork, workRefusal, workHolder, stateName) = (root, root, nil, nil, nil)
        holdsState = false
        (stateDirectoryPath, topPath) = (path, path)
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

    /// Refuses a directory that does not exist, without opening more of it.
    package static func require(_ path: String) throws(LocalError) {
        _ = try openRoot(path, createsIfMissing: false, calls: .standard)
    }

    static func openRoot(
        _ path: String,
        createsIfMissing: Bool,
        calls: SystemCalls
    ) throws(LocalError) -> OpenDirectory {
        let shown = displayText(path.utf8)
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .missingDirectory(path: shown) }
        let bytes = PathBytes(path.utf8)
        func open() throws(LocalError) -> OpenDirectory {
            let descriptor = try calls.open(
                at: SystemCalls.workingDirectory,
                bytes,
                flags: SystemCalls.followingDirectoryFlags,
                mode: 0
            )
            var calls = calls
            calls.refusals = DiskRefusals()
            calls.dropsFractions = (try? calls.keepsWholeSeconds(descriptor)) ?? false
            return OpenDirectory(adopting: descriptor, calls: calls)
        }
        do throws(LocalError) {
            do throws(LocalError) {
                return try open()
            } catch {
                guard error.errno == ENOENT, createsIfMissing else { throw error }
                let working = SystemCalls.workingDirectory
                _ = try calls.makeDirectory(at: working, bytes, mode: 0o777)
                return try open()
            }
        } catch {
            switch error.errno {
            case ENOENT: throw .missingDirectory(path: shown)
            case ENOTDIR: throw .notADirectory(path: shown)
            default: throw error
            }
        }
    }
}

// MARK: - Parts of the state

extension MirrorDirectory {
    /// Where unfinished downloads are.
    var partials: OpenDirectory {
        get throws(LocalError) {
            if keepsPartialsBeside { return root }
            return try opened.withLock { opened throws(LocalError) in
                if let directory = opened.partials { return directory }
                let directory = try privateDirectory("partial")
                try requireReach(of: directory)
                try directory.passNothingOn()
                opened.partials = directory
                return directory
            }
        }
    }

    /// Where removed files are kept, by run.
    var trash: OpenDirectory {
        get throws(LocalError) {
            try opened.withLock { opened throws(LocalError) in
                if let directory = opened.trash { return directory }
                let directory = try privateDirectory("trash", in: topWork)
                opened.trash = directory
                return directory
            }
        }
    }

    func privateDirectory(
        _ name: StaticString,
        in parent: OpenDirectory? = nil,
        createsIfMissing: Bool = true
    ) throws(LocalError) -> OpenDirectory {
        if let workRefusal { throw workRefusal }
        return try PrivateDirectory.open(
            at: (parent ?? work).descriptor,
            PathBytes(name),
            path: stateDirectoryPath + "/" + name.description,
            createsIfMissing: createsIfMissing,
            calls: calls
        )
    }
}
