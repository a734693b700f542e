internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// What a plan has above and beneath one path, and what may be in its way: a file in the place of a
/// directory, or the reverse.
struct PathNeighbours: Sendable {
    let session: MirrorSession
    let store: LimitedStore
    let prefix: ObjectKey
    /// The object of a key, as a listing would tell it.
    let object: @Sendable (ObjectKey, LimitedStore) async throws -> RemoteObject?

    /// Objects beneath a path that are looked at.
    private static let most = 1_000

    /// In no particular order; without what is at the path itself.
    ///
    /// Above, only a file here can be in the way.
    func entries(
        of path: RelativePath,
        isDirectory: Bool,
        _ local: LocalEntry?
    ) async throws -> [JoinedEntry] {
        // An escaped name is beneath no other one, nor any beneath it.
        guard !path.isEscaped else { return [] }
        var found: [JoinedEntry] = []
        for parent in sequence(first: path, next: \.parent).dropFirst() {
            let name = ObjectKey(parent.bytes)
            guard let file = try file(RelativePath(key: name)) else { continue }
            found.append(try await entry(name, file, try await object(name, store)))
        }
        if !isDirectory, local?.isDirectory == true {
            found.append(try await entry(path.beneath, local, nil))
        }
        var objects: [ObjectKey: RemoteObject] = [:]
        for object in try await listed(beneath: path.beneath) { objects[object.key] = object }
        var files: [ObjectKey: LocalEntry] = [:]
        if local?.isDirectory == true {
            let walk = session.directory.walk(
                within: KeyRanges([KeyRange(prefix: path.beneath)]),
                leavingOut: { _, _ in false }
            )
            // One that stays is as good as any.
            for entry in try walk.next(limit: 2).entries where entry.path != path.beneath {
                files[entry.path] = entry
            }
        }
        for key in Set(objects.keys).union(files.keys) {
            let known = files[key]
            let place = try? RelativePath(key: key)
            let local = try known ?? place.flatMap { try file($0) }
            found.append(try await entry(key, local, objects[key]))
        }
        return found
    }

    /// The first objects beneath a directory, without its marker.
    private func listed(beneath directory: ObjectKey) async throws -> [RemoteObject] {
        let whole = ObjectKey(prefix.bytes + directory.bytes)
        let request = ListRequest(
            prefix: whole,
            startAfter: whole,
            delimiter: nil,
            maximumKeys: Self.most
        )
        return try await store.list(request).objects.map { $0.beneath(prefix) }
    }

    /// Nil for what is not there, also because a link is in the place of a directory above.
    private func file(_ path: RelativePath) throws(LocalError) -> LocalEntry? {
        do throws(LocalError) {
            let found = try session.directory.identity(of: path)
            guard case .file(let file) = found else { return nil }
            return LocalEntry(path: path.key, kind: .file(file))
        } catch {
            guard case .symlinkInPath = error else { throw error }
            return nil
        }
    }

    private func entry(
        _ key: ObjectKey,
        _ local: LocalEntry?,
        _ remote: RemoteObject?
    ) async throws -> JoinedEntry {
        let base = try await session.manifest.entry(key)
        return JoinedEntry(key: key, base: base, local: local, remote: remote)
    }
}

extension RemoteObject {
    /// The object of a listing, by its key without the mirror's prefix.
    func beneath(_ prefix: ObjectKey) -> RemoteObject {
        RemoteObject(
            key: ObjectKey(key.bytes.dropFirst(prefix.bytes.count)),
            size: size,
            etag: etag,
            lastModified: lastModified,
            storageClass: storageClass,
            kind: kind,
            restoreState: restoreState
        )
    }
}
