internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Directories that a run puts files into, and whose markers its plan does not have: above the
/// paths of a limited run, and those of other shards.
///
/// The marker is asked for their permissions before they are made, and above the paths also where
/// they are there.
struct DirectoriesAbove: ItemWorker {
    let parts: ItemParts

    /// What cannot be asked or made is met where the file gets its name.
    func make(above path: RelativePath) async {
        guard !context.paths.ranges.isAll, context.options.keepsFileMetadata else { return }
        var missing: [RelativePath] = []
        var next = path.parent
        while let parent = next, await isAbsent(parent) {
            missing.append(parent)
            next = parent.parent
        }
        while let parent = next {
            let isUnplanned = !context.paths.contains(parent.key) && context.closed.owns(parent.key)
            if isUnplanned, parts.absent.isFirstLook(parent.key) { try? await settle(parent) }
            next = parent.parent
        }
        for path in missing.reversed() where !context.paths.contains(path.key) {
            try? await make(path)
        }
    }

    private func isAbsent(_ path: RelativePath) async -> Bool {
        let found = try? await context.state(of: path)
        return found == .absent
    }

    /// Does for a directory that is there what a run of the whole does.
    private func settle(_ path: RelativePath) async throws {
        let found = try await context.onDisk { directory throws(LocalError) in
            try directory.permissions(ofDirectory: path)
        }
        // Nil for one that a run made for its owner alone, because its marker did not answer.
        let isMade = found == nil
        let permissions = Permissions(parts)
        guard let marker = try await permissions.marker(path.key) else {
            if isMade {
                _ = try await context.onDisk { directory throws(LocalError) in
                    try directory.openUnasked(path)
                }
            }
            return
        }
        guard let tag = marker.etag else { return }
        let entry = JoinedEntry(
            key: path.key,
            base: isMade ? nil : try await context.manifest.entry(path.key),
            local: found.map {
                LocalEntry(path: path.key, kind: .directory(isEmpty: false), permissions: $0)
            },
            remote: RemoteObject(
                key: path.key,
                size: 0,
                etag: tag,
                lastModified: marker.lastModified
            )
        )
        if isMade {
            await permissions.settleDirectory(entry, .mode)
            return
        }
        switch decideDirectory(entry, context.policy) {
        case .adopt: await permissions.settleDirectory(entry, .mode)
        case .carryMode(.file): await permissions.carryDirectoryMode(entry, to: .file)
        default: break
        }
    }

    /// False if a listing shows that the bucket has no marker of that name.
    private func mayHaveMarker(_ path: RelativePath) async -> Bool {
        let key = context.objectKey(path.key)
        let request = ListRequest(prefix: key, delimiter: nil, maximumKeys: 1)
        guard let page = try? await context.store.list(request) else { return !Task.isCancelled }
        return page.objects.contains { $0.key == key }
    }

    private func make(_ path: RelativePath) async throws {
        let (directory, permissions) = (context.directory, Permissions(parts))
        let marker: ObjectMetadata?
        do {
            marker = try await permissions.marker(path.key)
        } catch {
            guard error != .cancelled, await mayHaveMarker(path) else { return }
            // Its owner's alone until its marker has answered.
            try await context.closed.writing([path]) { () throws(LocalError) in
                try directory.makeUnaskedDirectory(path)
            }
            guard permissions.tellsUnread(error) else {
                return fail(.mode, path.key, size: 0, error)
            }
            return
        }
        guard let marker, let tag = marker.etag, let mode = FileMode.of(marker, .directory) else {
            return
        }
        let meant = try await context.disk.run { () throws(LocalError) in
            try directory.permissions(ofMarker: mode)
        }
        guard context.closed.owns(path.key) else {
            return try await context.closed.make(path, permissions: meant)
        }
        try await context.closed.writing([path]) { () throws(LocalError) in
            try directory.makeDirectory(path, permissions: meant | 0o700)
        }
        let object = RemoteObject(
            key: path.key,
            size: 0,
            etag: tag,
            lastModified: marker.lastModified
        )
        let entry = JoinedEntry(key: path.key, base: nil, local: nil, remote: object)
        await permissions.settleDirectory(entry, .download)
    }
}
