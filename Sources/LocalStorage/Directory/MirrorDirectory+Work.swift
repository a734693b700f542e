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
