package import SyncModel

extension MirrorDirectory {
    /// Makes a directory with its parents; it may exist.
    ///
    /// - Throws: `parentIsFile` or `symlinkInPath` with the component that is in the way, which may
    ///   be `path` itself.
    package func makeDirectory(_ path: RelativePath) throws(LocalError) {
        do throws(LocalError) {
            _ = try root.directory(beneath: path, creatingWithMode: 0o777)
        } catch {
            throw explained(error, neededBytes: nil)
        }
    }

    /// False if it is absent, not empty or not a directory.
    package func removeDirectoryIfEmpty(_ path: RelativePath) throws(LocalError) -> Bool {
        do throws(LocalError) {
            let parent = try parent(of: path)
            return try calls.removeEmptyDirectory(at: parent.descriptor, PathBytes(path.name))
        } catch {
            switch error {
            case .absent, .parentIsFile: return false
            default: throw error
            }
        }
    }
}
