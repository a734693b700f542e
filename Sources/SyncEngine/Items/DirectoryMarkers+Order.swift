internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Markers that are sent before the files in their directories.
extension DirectoryMarkers {
    /// Sends what is planned for a marker, unless that was done for a file beneath it.
    func send(planned entry: JoinedEntry) async {
        guard parts.privateMarkers.isExpected(entry.key) else {
            _ = await send(entry)
            return
        }
        _ = await isSent(entry.key, looks: false)
        parts.privateMarkers.forget(entry.key)
    }

    /// Sends the markers above a file that come before it; false if one failed.
    ///
    /// The plan of a limited run does not have those above its paths.
    func areSent(above key: ObjectKey) async -> Bool {
        let isLimited = !context.paths.ranges.isAll && context.options.keepsFileMetadata
        guard isLimited || !parts.privateMarkers.isEmpty else { return true }
        for directory in key.directoriesAbove {
            guard await isSent(directory, looks: isUnplanned(directory)) else { return false }
        }
        return true
    }

    /// Asks what is planned for the marker of a directory that is here, unless that was done for a
    /// file beneath it.
    func ask(planned entry: JoinedEntry) async {
        guard parts.newMarkers.isExpected(entry.key) else {
            _ = await ask(entry)
            return
        }
        _ = await hasAnswered(entry.key)
        parts.newMarkers.forget(entry.key)
    }

    /// Asks the markers above a file that come before it; false if one did not answer.
    func haveAnswered(above key: ObjectKey) async -> Bool {
        guard !parts.newMarkers.isEmpty else { return true }
        for directory in key.directoriesAbove {
            guard await hasAnswered(directory) else { return false }
        }
        return true
    }

    private func hasAnswered(_ key: ObjectKey) async -> Bool {
        await parts.newMarkers.settle(key) { planned in
            guard let planned else { return true }
            return await ask(planned)
        }
    }

    private func ask(_ entry: JoinedEntry) async -> Bool {
        if case .carryMode(.file) = decideDirectory(entry, context.policy) {
            return await permissions.carryDirectoryMode(entry, to: .file)
        }
        return await permissions.settleDirectory(entry, entry.local == nil ? .download : .adopt)
    }

    /// True for a directory above the paths of a limited run.
    private func isUnplanned(_ directory: ObjectKey) -> Bool {
        !context.paths.ranges.isAll && context.options.keepsFileMetadata
            && !context.paths.contains(directory) && context.closed.owns(directory)
    }

    /// The markers above a file that a limited run sends before it, each once, for what only shows
    /// what a run does.
    func unplanned(above key: ObjectKey) async -> [JoinedEntry] {
        var found: [JoinedEntry] = []
        for directory in key.directoriesAbove where isUnplanned(directory) {
            guard case .send(nil) = parts.privateMarkers.begin(directory, looks: true) else {
                continue
            }
            if let entry = try? await unplanned(directory) { found.append(entry) }
            parts.privateMarkers.end(directory, isSent: true)
        }
        return found
    }

    private func isSent(_ key: ObjectKey, looks: Bool) async -> Bool {
        await parts.privateMarkers.settle(key, looks: looks) { planned in
            var entry = planned
            if entry == nil {
                // What cannot be looked at fails for the file, too.
                entry = try? await unplanned(key)
                if entry != nil { context.tracker.planned(bytes: 0) }
            }
            guard let entry else { return true }
            return await send(entry)
        }
    }

    /// False if it failed.
    private func send(_ entry: JoinedEntry) async -> Bool {
        guard entry.remote == nil else {
            return await permissions.carryDirectoryMode(entry, to: .object)
        }
        return await uploadMarker(entry)
    }

    /// A directory above the paths of the run, if its marker is to be sent.
    private func unplanned(_ key: ObjectKey) async throws -> JoinedEntry? {
        let path = try RelativePath(key: key)
        let found = try await context.onDisk { directory throws(LocalError) in
            try directory.permissions(ofDirectory: path)
        }
        var row = try await context.manifest.entry(key)
        let local = LocalEntry(
            path: key,
            kind: .directory(isEmpty: false),
            permissions: found
        )
        if row != nil, await isGone(local) { row = nil }
        let object = row.map {
            RemoteObject(key: key, size: 0, etag: $0.etag, lastModified: $0.lastModified)
        }
        let entry = JoinedEntry(key: key, base: row, local: local, remote: object)
        // What a run of the whole would leave as it is, as on a disk without permissions.
        switch decideDirectory(entry, context.policy) {
        case .uploadMarker, .carryMode(.object): return permissions.closesMore(entry) ? entry : nil
        default: return nil
        }
    }

    /// True if a recorded marker that closes a directory was deleted in the bucket: no listing of
    /// a limited run shows it.
    private func isGone(_ local: LocalEntry) async -> Bool {
        guard hasOwnMode(local, context.policy),
            Permissions.opensMore(nil, than: local.permissions),
            await !permissions.shortensMarkers()
        else { return false }
        let entry = JoinedEntry(key: local.path, base: nil, local: local, remote: nil)
        do throws(ItemFailure) {
            return try await permissions.marker(entry.key) == nil
        } catch {
            // What may not be asked is as recorded.
            return false
        }
    }
}
