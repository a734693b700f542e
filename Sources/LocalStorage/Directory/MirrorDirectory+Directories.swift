package import SyncModel

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension MirrorDirectory {
    /// Makes a directory with its parents; it may exist.
    ///
    /// - Throws: `parentIsFile`, `symlinkInPath` or `nameTaken` with the component that is in the
    ///   way, which may be `path` itself.
    package func makeDirectory(_ path: RelativePath) throws(LocalError) {
        do throws(LocalError) {
            try requireOwnNames(path, makes: true)
            _ = try root.directory(beneath: path, creatingWithMode: 0o777)
        } catch {
            throw explained(error.naming(path), neededBytes: nil)
        }
    }

    /// True if there is something in it, false if there is nothing; nil if it is absent or not a
    /// directory.
    package func holdsSomething(_ path: RelativePath) throws(LocalError) -> Bool? {
        do throws(LocalError) {
            let directory = try root.directory(beneath: path)
            var isEmpty = true
            try unsafe calls.readNames(in: directory.descriptor) { _, _ in
                isEmpty = false
                return false
            }
            return !isEmpty
        } catch {
            switch error {
            case .absent, .parentIsFile, .symlinkInPath: return nil
            default: break
            }
            switch error.errno {
            case ENOENT, ENOTDIR, ELOOP: return nil
            default: throw error
            }
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
