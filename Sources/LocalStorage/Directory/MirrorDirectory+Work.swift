internal import SyncModel

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension MirrorDirectory {
    /// True if there is a place for temporary files and trash.
    var hasWork: Bool { workRefusal == nil }

    /// Why there is no such place; nil if there is, or it can be made.
    package var placeRefusal: LocalError? {
        if case .missingDirectory = workRefusal { return nil }
        if let workRefusal { return workRefusal }
        let name = PathBytes("partial")
        guard (try? work.status(of: name))??.kind == .directory,
            let directory = try? work.subdirectory(name)
        else { return nil }
        do throws(LocalError) {
            try requireReach(of: directory)
            return nil
        } catch {
            return error
        }
    }

    /// Fails if no rename leads from the directory of temporary files to the mirror.
    func requireReach(of partials: OpenDirectory) throws(LocalError) {
        guard try !partials.status().isSameMount(as: root.status()) else { return }
        throw .unsafeDirectory(
            path: displayText((stateDirectoryPath + "/partial").utf8),
            reason: "it is on another disk or mount than the directory, so that no download could "
                + "get its name; unmount it"
        )
    }

    /// A directory of our own in the mirror; where it cannot be made, the root itself, whose file
    /// system is asked, and why nothing is to be put there.
    static func openWork(
        _ root: OpenDirectory,
        _ name: String,
        path: String,
        createsIfMissing: Bool
    ) throws(LocalError) -> (OpenDirectory, LocalError?) {
        do throws(LocalError) {
            let work = try PrivateDirectory.open(
                at: root.descriptor,
                PathBytes(name.utf8),
                path: path + "/" + name,
                createsIfMissing: createsIfMissing,
                calls: root.calls
            )
            return (work, nil)
        } catch {
            switch error {
            case .missingDirectory, .unsafeDirectory: return (root, error)
            case _ where error.refusesWriting: return (root, error)
            default: throw error
            }
        }
    }

    /// Gives the place for temporary files and trash the name of the state, if that is another one
    /// than when the state was opened: a copy of both gets a name of its own.
    ///
    /// Where something has that name already, the next run uses that.
    package func nameWork(_ state: String) {
        guard let workHolder, let stateName, stateName != state else { return }
        _ = try? calls.renameExclusively(
            from: workHolder.descriptor,
            PathBytes(Places.workName(stateName).utf8),
            to: workHolder.descriptor,
            PathBytes(Places.workName(state).utf8)
        )
    }
}

/// The directories that osssync's own files of a mirror lie in.
struct Places {
    let root: OpenDirectory
    /// The state of the mirror.
    let top: OpenDirectory
    /// Of the mirror, for messages.
    let path: String
    let topPath: String
    let calls: SystemCalls

    /// The state of a shard, which was made when the mirror was cut: one that is missing is never
    /// made anew, because it would know nothing of what was mirrored.
    func state(_ shard: [String]) throws(LocalError) -> OpenDirectory {
        try directory(top, shard, topPath, makes: false)
    }

    /// The place within the mirror for what the state, which is on another mount, cannot hold: no
    /// other state's, because each removes what it does not know.
    ///
    /// It is in `.osssync`, or where that is a mount of its own, in a directory beside it.
    func topWork(
        _ stateName: String?,
        _ protection: LocalError?,
        createsIfMissing: Bool
    ) throws(LocalError) -> (work: OpenDirectory, holder: OpenDirectory?, refusal: LocalError?) {
        if let protection { return (root, nil, protection) }
        var name = RelativePath.stateDirectoryName
        var (holder, refusal) = try MirrorDirectory.openWork(
            root,
            name,
            path: path,
            createsIfMissing: createsIfMissing
        )
        if refusal == nil, try !holder.status().isSameMount(as: root.status()) {
            name = RelativePath.workDirectoryName
            (holder, refusal) = try MirrorDirectory.openWork(
                root,
                name,
                path: path,
                createsIfMissing: createsIfMissing
            )
        }
        if let refusal { return (root, nil, refusal) }
        let workName = Self.workName(stateName ?? "own")
        let (work, failure) = try MirrorDirectory.openWork(
            holder,
            workName,
            path: path + "/" + name,
            createsIfMissing: createsIfMissing
        )
        if let failure { return (root, nil, failure) }
        if createsIfMissing, name == RelativePath.stateDirectoryName { try take(holder, work) }
        return (work, holder, nil)
    }

    static func workName(_ state: String) -> String { "work-" + state }

    /// Moves what a state left in `.osssync` before it had a place of its own; nothing where that
    /// is a state itself.
    private func take(_ holder: OpenDirectory, _ work: OpenDirectory) throws(LocalError) {
        for name in ["manifest.db", "config", MirrorDirectory.identityName]
        where try holder.status(of: PathBytes(name.utf8)) != nil {
            return
        }
        for name in ["partial", "trash", "shards"] {
            let bytes = PathBytes(name.utf8)
            guard try holder.status(of: bytes) != nil else { continue }
            do throws(LocalError) {
                _ = try calls.renameExclusively(
                    from: holder.descriptor,
                    bytes,
                    to: work.descriptor,
                    bytes
                )
            } catch {
                // Where no rename leads there, it stays and takes only room.
                guard error.errno == EXDEV else { throw error }
            }
        }
    }

    /// A shard's part of it.
    func work(
        _ shard: [String],
        _ topWork: OpenDirectory,
        createsIfMissing: Bool
    ) throws(LocalError) -> (OpenDirectory, LocalError?) {
        do throws(LocalError) {
            let work = try directory(
                topWork,
                shard,
                path + "/" + RelativePath.stateDirectoryName,
                makes: createsIfMissing
            )
            return (work, nil)
        } catch {
            guard case .missingDirectory = error else { throw error }
            return (root, error)
        }
    }

    private func directory(
        _ start: OpenDirectory,
        _ names: [String],
        _ path: String,
        makes: Bool
    ) throws(LocalError) -> OpenDirectory {
        var (directory, path) = (start, path)
        for name in names {
            path += "/" + name
            directory = try PrivateDirectory.open(
                at: directory.descriptor,
                PathBytes(name.utf8),
                path: path,
                createsIfMissing: makes,
                calls: calls
            )
        }
        return directory
    }
}
