internal import CSystem
internal import CVirtualFiles
internal import Glibc
internal import ManifestStore
internal import SyncEngine
internal import SyncModel

/// What the manifest claims, held against the disk.
extension World {
    /// What reading it came to.
    private final class Reading: @unchecked Sendable {
        var rows: [ManifestEntry] = []
        var outcome: OpenOutcome?
        var isFinished = false
        var host: String?
    }

    /// The manifest's rows as the next run would read them; nil if it would not.
    func readRows(in directory: String? = nil) -> [ObjectKey: ManifestEntry]? {
        guard let reading = readManifest(in: directory), case .opened? = reading.outcome else {
            return nil
        }
        return Dictionary(uniqueKeysWithValues: reading.rows.map { ($0.key, $0) })
    }

    /// Opens a copy of the disk's manifest as the next run would, and leaves nothing behind.
    private func readManifest(in directory: String? = nil) -> Reading? {
        let snapshot = unsafe virtual_files_take_snapshot()
        defer {
            unsafe virtual_files_restore(snapshot)
            unsafe virtual_files_free_snapshot(snapshot)
        }
        let directory = directory ?? disk.stateDirectory
        let database = [UInt8]((directory + "/manifest.db").utf8)
        guard disk.unseen({ DiskTree.status(database) }) != nil else { return nil }
        let reading = Reading()
        let (threads, time) = (scheduler.threads, wallTime)
        _ = Task(executorPreference: scheduler) {
            // A manifest that cannot be read claims nothing.
            let opened = try? await ManifestStore.open(
                directory: directory,
                now: time,
                usesWriteAheadLog: true,
                threads: threads,
                smallestSearchable: 0
            )
            if let opened {
                reading.outcome = opened.outcome
                let rows = try? await opened.store.rows(.entries(in: .all), limit: 10_000)
                reading.rows = rows ?? []
                reading.host = try? await opened.store.setting("remote.endpoint-host")
                try? await opened.store.checkpointAndClose()
            }
            reading.isFinished = true
        }
        let end = scheduler.run(limit: 100_000) { reading.isFinished }
        guard case .finished = end else {
            report(.termination, "the manifest cannot be read to its end")
            return nil
        }
        return reading
    }

    func judgeManifest() {
        guard let reading = readManifest() else { return }
        if case .recreated(_?, let reason)? = reading.outcome, !manifestWasLost, !mayLookDamaged,
            !reason.contains("an earlier run found it damaged")
        {
            report(.truthfulManifest, "the manifest is unusable, and nobody touched it: \(reason)")
        }
        guard case .opened? = reading.outcome else { return }
        recordedHost = reading.host
        guard !manifestIsOld else { return }
        for row in reading.rows { judge(row) }
        rows = Dictionary(uniqueKeysWithValues: reading.rows.map { ($0.key, $0) })
    }

    /// One read that fails is told from damage, not one after the other.
    var mayLookDamaged: Bool {
        (run?.readFailures ?? 0) + (lastRun?.readFailures ?? 0) > 1
    }

    private func judge(_ row: ManifestEntry) {
        let name = row.key.display
        guard !isDirectory(row.key) else { return }
        guard let content = model.versions[row.key]?[row.etag.text] else {
            report(.truthfulManifest, "the row of '\(name)' names a version that never was")
            return
        }
        // A store whose tags are not digests may give one tag to two versions.
        if model.sharedTags[row.key]?.contains(row.etag.text) == true { return }
        if Int64(model.contents[content].count) != row.size {
            report(.truthfulManifest, "the row of '\(name)' has another size than its version")
        }
        if let checksum = row.crc64, checksum != CRC64(of: model.contents[content]) {
            report(.truthfulManifest, "the row of '\(name)' has a wrong checksum")
        }
        switch tree.entries[row.key] {
        case .file(let found):
            let status = disk.unseen { DiskTree.status(full(row.key)) }
            guard let status, Int64(status.st_size) == row.size,
                UInt64(status.st_ino) == row.inode,
                Timestamp(
                    seconds: Int64(status.st_mtim.tv_sec),
                    nanoseconds: Int32(status.st_mtim.tv_nsec)
                ) == row.localModified, found != content, !isBehindTimes(row.key, found)
            else { return }
            report(.truthfulManifest, "the row of '\(name)' vouches for a file that is another")
        case nil:
            if run?.rootIsGone == true || isOnlyThere(row.key) { return }
            // The user's deletion is what the next run has to find.
            guard !model.removedByUser.contains(row.key), model.remote[row.key] != nil
            else { return }
            // A run deleted it and could not record that, and another writer made the object again:
            // of another version the next run knows that it is new.
            let isDeleted = (run ?? lastRun)?.hasItem(row.key) {
                $0.action == .deleteLocal && $0.state == .done
            }
            let object = service.bucket.resolved(Self.whole(row.key))
            if isDeleted == true, object?.etag != row.etag.text { return }
            // A run that fetched it again and was cut off before it recorded that.
            let wasThere = (run ?? lastRun)?.filesAtStart.contains(row.key) ?? true
            if !wasThere, rows[row.key] == row { return }
            report(.truthfulManifest, "the row of '\(name)' has no file, and nobody removed it")
        case .directory, .link, .other: break
        }
    }
}
