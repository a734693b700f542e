internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Brings back what was found damaged.
extension Scrub {
    /// Fetches the objects of damaged files, a page of rows at a time; how many of those there are.
    func repair(with executor: ItemExecutor) async throws -> Int {
        var count = 0
        for try await rows in context.manifest.pages(.damagedEntries, limit: Self.rowsAtOnce) {
            let entries = try await repairable(rows)
            try await executor.forEach(entries) { entry in
                await executor.carryOut(Self.repair(of: entry), entry)
            }
            await executor.publications.flush()
            for entry in entries {
                guard let row = try await context.manifest.entry(entry.key), row.isDamaged else {
                    continue
                }
                let reason =
                    row.storageClass.isArchived
                    ? "its object is archived; 'osssync pull --restore DIR PATH' asks the store "
                        + "for it, and a later 'verify --repair' downloads it"
                    : "it was not repaired; 'osssync log DIR' shows why"
                found(row, .failed, reason)
            }
            count += rows.count { paths.contains($0.key) }
        }
        return count
    }

    /// What was written since may be an edit, or another file that was given this name: it stays
    /// beside the good content.
    private static func repair(of entry: JoinedEntry) -> Decision {
        guard let base = entry.base, let file = entry.local?.identity, !base.mayHaveTime(of: file)
        else { return .download(.replacesLocalChange) }
        return .conflict(.bothChanged, .downloadKeepingLocal)
    }

    private func isShortened(_ row: ManifestEntry, _ file: FileIdentity) -> Bool {
        let entry = LocalEntry(path: row.key, kind: .file(file), isLink: row.isLink)
        let judgesInodes = context.policy.judgesInodes
        return LocalChange(of: entry, since: row, judgesInodes: judgesInodes) == .shortened
    }

    /// Damaged files whose objects are the recorded ones, those that are gone included.
    ///
    /// What has another size by now was written by a program, and is left to the user.
    private func repairable(_ rows: [ManifestEntry]) async throws -> [JoinedEntry] {
        var entries: [JoinedEntry] = []
        for row in rows where paths.contains(row.key) {
            let key = row.key
            let file = try await file(of: row)?.1
            if let file, file.size != row.size, !isShortened(row, file) { continue }
            guard let object = try? await executor.head(key, knownSize: row.size),
                object.etag == row.etag, object.size == row.size
            else {
                found(row, .failed, "it cannot be repaired: the recorded object is not there")
                continue
            }
            entries.append(
                JoinedEntry(
                    key: key,
                    base: row,
                    local: file.map { file in
                        LocalEntry(path: key, kind: .file(file), isLink: row.isLink)
                    },
                    remote: RemoteObject(
                        key: key,
                        size: row.size,
                        etag: row.etag,
                        lastModified: object.lastModified,
                        storageClass: object.storageClass,
                        isThroughLink: row.isThroughLink
                    )
                )
            )
        }
        return entries
    }
}
