internal import LocalStorage
internal import ManifestStore
internal import SyncModel

/// Directories that are missing where something comes back from the trash.
///
/// They are made again with the permissions that the manifest records of them: those in the trash
/// are of the time when something in them was removed.
struct MissingDirectories: Sendable {
    private var keys: Set<ObjectKey> = []

    /// Notes those above what the tree has of `places`.
    mutating func add(
        _ run: TrashOfRun,
        _ places: (paths: [RelativePath?], target: RelativePath?),
        in directory: MirrorDirectory,
        unless interruption: Interruption
    ) throws(LocalError) {
        for path in places.paths {
            try directory.trash.forEachFile(in: run, at: path) { key, _ throws(LocalError) in
                guard !interruption.isRaised else { throw .interrupted }
                if let source = try? RelativePath(path: key),
                    let place = try? TrashRestorer.place(
                        of: source,
                        beneath: path,
                        to: places.target
                    )
                {
                    try add(above: place, from: source, in: directory)
                }
                return true
            }
        }
    }

    /// Notes those of the directories above `path` that are missing, and what was there at
    /// `source`.
    mutating func add(
        above path: RelativePath,
        from source: RelativePath,
        in directory: MirrorDirectory
    ) throws(LocalError) {
        var (next, from) = (path.parent, source.parent)
        while let parent = next, !keys.contains(parent.key) {
            do throws(LocalError) {
                guard try directory.identity(of: parent) == .absent else { return }
            } catch {
                // Where the file gets its name, that is reported.
                guard case .symlinkInPath = error else { throw error }
                return
            }
            keys.insert(parent.key)
            if let from { keys.insert(from.key) }
            (next, from) = (parent.parent, from?.parent)
        }
    }

    /// Their permissions on this disk, as far as they are recorded.
    func permissions(
        in manifest: ManifestStore?,
        on directory: MirrorDirectory
    ) async throws -> [ObjectKey: UInt32] {
        var found: [ObjectKey: UInt32] = [:]
        for key in keys {
            guard let mode = try await manifest?.entry(key)?.mode else { continue }
            found[key] = try directory.permissions(ofMarker: mode)
        }
        return found
    }
}
