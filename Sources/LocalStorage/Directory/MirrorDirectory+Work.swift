internal import SyncModel

extension MirrorDirectory {
    /// True if there is a place for temporary files and trash.
    var hasWork: Bool { workRefusal == nil }

    /// The place for temporary files and trash within the mirror; where it cannot be made, the
    /// root itself, whose file system is asked, and why nothing is to be put there.
    static func openWork(
        _ root: OpenDirectory,
        path: String,
        createsIfMissing: Bool,
        calls: SystemCalls
    ) throws(LocalError) -> (OpenDirectory, LocalError?) {
        do throws(LocalError) {
            let work = try PrivateDirectory.open(
                at: root.descriptor,
                PathBytes(RelativePath.stateDirectoryName.utf8),
                path: path,
                createsIfMissing: createsIfMissing,
                calls: calls
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

    /// The place within the mirror for what the state, which is elsewhere, cannot hold.
    func topWork(createsIfMissing: Bool) throws(LocalError) -> (OpenDirectory, LocalError?) {
        try MirrorDirectory.openWork(
            root,
            path: path + "/" + RelativePath.stateDirectoryName,
            createsIfMissing: createsIfMissing,
            calls: calls
        )
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
