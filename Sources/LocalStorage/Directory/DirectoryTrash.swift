package import SyncModel
internal import Synchronization

/// Where removed and replaced files are kept, by run, on the mount of the mirror.
///
/// What is neither a regular file nor a link was not put there by osssync, and is skipped.
package final class DirectoryTrash: Sendable {
    static let directoryName = "trash"

    private let work: WorkPlace
    private let opened = Mutex<OpenDirectory?>(nil)
    private let elsewhere = Mutex<OpenDirectory?>(nil)
    /// Permissions that are recorded of directories which come back.
    let recorded = Mutex<[ObjectKey: UInt32]>([:])

    private var calls: SystemCalls { work.root.calls }

    init(in work: WorkPlace) { self.work = work }

    /// The directory, which is made once.
    var directory: OpenDirectory {
        get throws(LocalError) {
            try opened.withLock { opened throws(LocalError) in
                if let opened { return opened }
                let made = try work.privateDirectory(Self.directoryName, in: work.top, makes: true)
                opened = made
                return made
            }
        }
    }

    /// The same, without making it: nil if none ever was.
    func ifPresent() throws(LocalError) -> OpenDirectory? {
        guard work.refusal == nil else { return nil }
        do throws(LocalError) {
            return try work.privateDirectory(Self.directoryName, in: work.top, makes: false)
        } catch {
            guard case .missingDirectory = error else { throw error }
            return nil
        }
    }

    /// Keeps what is removed and replaced in `path` from now on, and not here.
    ///
    /// - Throws: `unsafeDirectory` for a place in the mirror, or where renames do not reach.
    package func keepOldVersions(in path: String) throws(LocalError) {
        let place = try GivenPath.open(path, createsIfMissing: true, calls: calls)
        func refusal(_ reason: String) -> LocalError {
            .unsafeDirectory(path: displayText(path.utf8), reason: reason)
        }
        guard try !place.isWithin(work.root) else {
            throw refusal("old versions there would be mirrored; choose a place outside of DIR")
        }
        guard try place.status().isSameMount(as: work.root.status()) else {
            throw refusal("it is on another file system than DIR; choose a place beside DIR")
        }
        elsewhere.withLock { $0 = place }
    }

    /// Where old versions go.
    var oldVersions: OpenDirectory {
        get throws(LocalError) {
            if let place = elsewhere.withLock({ $0 }) { return place }
            return try directory
        }
    }

    /// The trash of all runs, the oldest first.
    package func runs() throws(LocalError) -> [TrashOfRun] {
        guard let trash = try ifPresent() else { return [] }
        var runs: [TrashOfRun] = []
        try unsafe calls.names(in: trash.descriptor) { name, _ in
            unsafe runs.append(TrashOfRun(name: [UInt8](name)))
        }
        return runs.sorted { $0.precedes($1) }
    }

    /// The path, as the state's was given, at which another part puts a file into the tree of that
    /// name; the directories above it are made.
    ///
    /// Nil for a name that is not UTF-8.
    package func place(
        for path: RelativePath,
        in tree: TrashOfRun
    ) throws(LocalError) -> String? {
        guard let own = String(validating: path.bytes, as: UTF8.self) else { return nil }
        let top = try directory.subdirectory(PathBytes(tree.name), creatingWithMode: 0o700)
        if let parent = path.parent {
            // Nothing is known of what they stand for: as `mkdir` makes them.
            _ = try top.directory(beneath: parent, creatingWithMode: 0o777)
        }
        let name = String(decoding: tree.name, as: UTF8.self)
        return "\(work.topPath)/\(Self.directoryName)/\(name)/\(own)"
    }

    /// Deletes what a run left in the trash.
    package func remove(_ run: TrashOfRun) throws(LocalError) {
        try TreeRemoval(root: try directory, calls: calls).remove(run.name)
    }

    /// How much is in the trash.
    package func size() throws(LocalError) -> (files: Int, bytes: Int64) {
        var total: (files: Int, bytes: Int64) = (0, 0)
        for run in try runs() {
            try forEachFile(in: run, at: nil) { _, file in
                total = (total.files + 1, total.bytes.addingClamped(file.size))
                return true
            }
        }
        return total
    }

    /// True if a run left a file of this path in the trash.
    package func holds(_ path: RelativePath, in run: TrashOfRun) throws(LocalError) -> Bool {
        guard let place = try ifPresent()?.ifPresent(run.name, path.parent) else {
            return false
        }
        return try place.status(of: PathBytes(path.name))?.isKept == true
    }

    /// When the inode of a file in the trash was made; nil where that is not known.
    package func birth(
        of path: RelativePath,
        in run: TrashOfRun
    ) throws(LocalError) -> Timestamp? {
        guard let place = try ifPresent()?.ifPresent(run.name, path.parent) else { return nil }
        return calls.birth(at: place.descriptor, PathBytes(path.name))
    }

    /// Hands each file that a run left in the trash to `body`, by the path that it had, until
    /// `body` returns false.
    ///
    /// The files of a directory come before its directories, both by name. Holds the names of the
    /// directories on the way.
    ///
    /// With a `path`, only that file, or what is beneath that directory. The result is false if
    /// that of `body` was.
    @discardableResult
    package func forEachFile(
        in run: TrashOfRun,
        at path: RelativePath?,
        _ body: (ObjectKey, FileIdentity) throws(LocalError) -> Bool
    ) throws(LocalError) -> Bool {
        guard let trash = try ifPresent() else { return true }
        if let path {
            guard let parent = try trash.ifPresent(run.name, path.parent) else { return true }
            switch try parent.status(of: PathBytes(path.name)) {
            case let status? where status.isKept:
                return try body(ObjectKey(path.bytes), status.identity)
            case let status? where status.kind == .directory: break
            default: return true
            }
        }
        let slash = UInt8(ascii: "/")
        var waiting = [path.map { $0.bytes + [slash] } ?? []]
        while let prefix = waiting.popLast() {
            // What another program put there can have a path that no file of ours has.
            let place = prefix.isEmpty ? nil : try? RelativePath(ownState: ObjectKey(prefix))
            guard prefix.isEmpty || place != nil,
                let directory = try trash.ifPresent(run.name, place)
            else { continue }
            var names: [[UInt8]] = []
            try unsafe calls.names(in: directory.descriptor) { name, _ in
                unsafe names.append([UInt8](name))
            }
            names.sort { $0.lexicographicallyPrecedes($1) }
            var directories: [[UInt8]] = []
            // What a killed restoration had not downloaded to its end is not a user's file.
            for name in names where !RelativePath.isReserved(name[...]) {
                guard let status = try directory.status(of: PathBytes(name)) else { continue }
                switch status.kind {
                case .file, .special(.symbolicLink):
                    guard try body(ObjectKey(prefix + name), status.identity) else { return false }
                case .directory: directories.append(prefix + name + [slash])
                case .special: continue
                }
            }
            waiting += directories.reversed()
        }
        return true
    }

    /// Deletes the trash of runs before `limit`, by the time in the name of their directories.
    ///
    /// A name without a time was given by another program: the directory's modification time
    /// counts.
    ///
    /// Calls `onFailure` for each run whose trash could not be removed completely, and continues.
    /// Returns the number of runs whose trash was removed.
    @discardableResult
    package func sweep(
        olderThan limit: Timestamp,
        onFailure: (LocalError) -> Void
    ) throws(LocalError) -> Int {
        guard work.refusal == nil else { return 0 }
        let trash = try directory
        var names: [[UInt8]] = []
        try unsafe calls.names(in: trash.descriptor) { name, _ in unsafe names.append([UInt8](name))
        }
        var count = 0
        for name in names {
            do throws(LocalError) {
                guard let status = try trash.status(of: PathBytes(name)),
                    status.kind == .directory,
                    TrashOfRun(name: name).time ?? status.identity.modified < limit
                else { continue }
                try TreeRemoval(root: trash, calls: calls).remove(name)
                count += 1
            } catch {
                onFailure(error)
            }
        }
        return count
    }
}

extension FileStatus {
    /// True for what can be in the trash.
    var isKept: Bool { kind == .file || kind == .special(.symbolicLink) }
}

extension OpenDirectory {
    /// The directory at `path` in the tree `name` of the trash; nil if there is none.
    func ifPresent(
        _ name: [UInt8],
        _ path: RelativePath?
    ) throws(LocalError) -> OpenDirectory? {
        do throws(LocalError) {
            guard try status(of: PathBytes(name))?.kind == .directory else { return nil }
            let tree = try subdirectory(PathBytes(name))
            guard let path else { return tree }
            return try tree.directory(beneath: path)
        } catch {
            switch error {
            case .absent, .parentIsFile, .symlinkInPath: return nil
            default: throw error
            }
        }
    }
}
