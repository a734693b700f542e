internal import LocalStorage
internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel

/// Files `NAME.rclonelink` that a run without stored links made of the objects of links.
///
/// Such a file has the name that only a stored link's key has, and would be skipped for ever. Where
/// it is as recorded, the link takes its place.
struct LinkCopies: Sendable {
    let session: MirrorSession

    /// The file at a path, if it is an untouched copy of such an object.
    func copy(at path: [UInt8]) async throws -> FileIdentity? {
        let key = ObjectKey(path)
        guard let row = try await session.manifest.entry(key), !row.isLink, row.isFetched,
            case .file(let file)? = try? session.directory.identity(of: RelativePath(key: key)),
            file.size == row.size, row.mayHaveTime(of: file),
            try !session.directory.keepsInodeNumbers() || file.inode == row.inode
        else { return nil }
        return file
    }

    /// Removes those whose links exist now.
    func remove(_ executor: ItemExecutor) async throws {
        let (directory, context) = (session.directory, executor.context)
        for (path, file) in executor.issues.copiesOfLinks {
            let key = ObjectKey(path)
            guard try await session.manifest.entry(key)?.isLink == true else { continue }
            let (keeps, trash) = (context.options.keepsRemoved, context.trashName)
            do {
                let path = try RelativePath(key: key)
                try await context.closed.writing([path]) { () throws(LocalError) in
                    if keeps {
                        try directory.moveToTrash(path, expected: file, run: trash)
                    } else {
                        try directory.remove(path, expected: file)
                    }
                }
            } catch {
                executor.fail(.deleteLocal, key, size: file.size, ItemFailure(any: error))
            }
        }
    }
}
