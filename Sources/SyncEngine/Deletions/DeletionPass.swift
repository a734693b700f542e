internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

/// Carries out the deletions that a run planned, after `DeletionGuard` has allowed them.
///
/// 1. `DirectoryWatch` checks that the directory is still at its path, before each batch.
/// 2. `ObjectKeeper` copies the objects, if the run keeps any.
/// 3. `DeletionRecheck` asks the store again; only what is still as it was planned is deleted.
/// 4. Objects are deleted in batches; files go to the trash if one is kept, and directories that
///    are empty then are removed.
///
/// Not guaranteed: no store deletes on a condition, so an object that another writer replaces
/// between step 3 and the request right after it is deleted.
struct DeletionPass: Sendable {
    let context: RunContext
    let executor: ItemExecutor
    let watch: DirectoryWatch
    /// Files that get other names instead, by the keys that they have now.
    let renames: [ObjectKey: LocalRenames.Proven]
    /// True if an earlier pass of the same plan may have been killed: what is gone was deleted.
    var isRepeated = false
    let freedElsewhere: FreedElsewhere
    private var files: FileDeletions {
        FileDeletions(
            context: context,
            executor: executor,
            watch: watch,
            renames: renames,
            isRepeated: isRepeated
        )
    }
    private var recheck: DeletionRecheck { DeletionRecheck(context: context, executor: executor) }

    /// Deletes objects in ascending and files in descending key order, so that what a directory
    /// holds goes before the directory.
    ///
    /// Before each batch the directory itself is checked again, after the files: files that are
    /// missing because the directory is gone were not deleted by the user.
    func run() async throws {
        try await watch.check()
        try await deleteObjects()
        let planned = try await context.manifest.plannedDeletionCount(run: context.run)
        if planned.local > 0 {
            // The next run finds by the plan what a power cut leaves half done.
            try await context.manifest.makeDurable()
            guard try await files.run() else { return }
        }
        // The end of a round that could not do all of it does the rest when it is repeated.
        if isRepeated, !context.tracker.summary.isWithoutProblems { return }
        try await context.manifest.clearPlannedDeletions(run: context.run)
    }

    private func deleteObjects() async throws {
        try Task.checkCancellation()
        let planned = RowSelection.deletions(run: context.run, side: .remote)
        var hasModes = false
        for try await batch in context.manifest.pages(planned, limit: context.limits.batch) {
            let modes = try await markersOfModes(batch)
            hasModes = hasModes || !modes.isEmpty
            try await deleteObjects(batch.filter { !modes.contains($0.key) })
            if let stop = executor.ledger.stop { throw stop }
            try Task.checkCancellation()
        }
        guard hasModes else { return }
        // Now it shows what stays in their directories; those within others go first.
        let backwards = RowSelection.deletionsBackwards(run: context.run, side: .remote)
        for try await batch in context.manifest.pages(backwards, limit: context.limits.batch) {
            let modes = try await markersOfModes(batch)
            var rest = batch.reversed().filter { modes.contains($0.key) }
            while !rest.isEmpty {
                let following = rest.dropFirst().map(\.key.bytes) + [[]]
                let nested = zip(rest, following).map { $1.starts(with: $0.key.bytes) }
                let inner = zip(rest, nested).filter { !$1 }.map(\.0)
                try await deleteObjects(await bare(inner))
                if let stop = executor.ledger.stop { throw stop }
                try Task.checkCancellation()
                rest = zip(rest, nested).filter { $1 }.map(\.0)
            }
        }
    }

    /// The markers among `batch` that record permissions which `mkdir` does not give.
    private func markersOfModes(
        _ batch: [PlannedDeletion]
    ) async throws(ManifestError) -> Set<ObjectKey> {
        var found: Set<ObjectKey> = []
        for deletion in batch where deletion.key.isDirectoryMarker {
            guard let mode = try await context.manifest.entry(deletion.key)?.mode,
                mode != context.policy.ordinaryDirectory
            else { continue }
            found.insert(deletion.key)
        }
        return found
    }

    /// Those of the markers beneath which the bucket has nothing any more.
    ///
    /// The others are as before: what filters left out, another shard has or another writer put
    /// there would come back into a directory that is open to everybody.
    private func bare(_ markers: [PlannedDeletion]) async throws -> [PlannedDeletion] {
        let found = Mutex<Set<ObjectKey>>([])
        try await executor.forEach(markers) { marker in
            let key = context.objectKey(marker.key)
            let request = ListRequest(
                prefix: key,
                startAfter: key,
                delimiter: nil,
                maximumKeys: 1
            )
            do {
                let page = try await context.store.list(request)
                var validator = ListingValidator()
                try validator.accept(page, request: request)
                if page.objects.isEmpty { found.withLock { _ = $0.insert(marker.key) } }
            } catch {
                executor.fail(.deleteRemote, marker.key, size: 0, ItemFailure(any: error))
            }
        }
        let keys = found.withLock { $0 }
        return markers.filter { keys.contains($0.key) }
    }

    /// Those that no other mirror freed; the others are reported and stay, and their rows say so
    /// from then on: the mirror that freed them may go to another place.
    private func withoutFreed(_ batch: [PlannedDeletion]) async throws -> [PlannedDeletion] {
        let others = freedElsewhere
        let words = await context.disk.run { batch.map { others.word(on: $0.key) } }
        var rest: [PlannedDeletion] = []
        var freed: [ManifestChange] = []
        for (deletion, word) in zip(batch, words) {
            let message: String
            switch word {
            case nil:
                rest.append(deletion)
                continue
            case .freed(let path, _)?:
                if let row = try await context.manifest.entry(deletion.key), !row.isFreed {
                    freed.append(.upsert(row.freed))
                }
                context.tracker.count { $0.onlyRemote += 1 }
                message =
                    "kept: the mirror '\(displayText(path.utf8))' freed it, so that the object may "
                    + "be the only copy"
            case .doubtful(let reason)?, .unmounted(let reason)?:
                context.tracker.count { $0.skipped += 1 }
                message = reason
            }
            context.item(.skip, .skipped, deletion.key, size: deletion.size, message: message)
        }
        if !freed.isEmpty { try await context.manifest.record(freed) }
        return rest
    }

    private func deleteObjects(_ batch: [PlannedDeletion]) async throws {
        let (copied, gone, renamed) = try await keep(batch)
        let answer = await recheck.inspect(at: copied)
        try await context.manifest.record(answer.gone.map { .forget($0.key) })
        if executor.ledger.stop != nil { return }
        let unchanged = answer.unchanged.filter { deletion in
            guard gone.contains(deletion.key) else { return true }
            executor.fail(.deleteRemote, deletion.key, size: deletion.size, .alreadyExists(nil))
            return false
        }
        let batch = await missingHere(try await withoutFreed(sound(unchanged)))
        let keys = batch.map { context.objectKey($0.key) }
        guard !keys.isEmpty else { return }
        try await watch.check()
        let failures: [ObjectKey: StorageError]
        do {
            failures = try await context.store.delete(keys)
        } catch {
            let error = ItemFailure(error)
            if error == .cancelled { throw CancellationError() }
            for deletion in batch {
                executor.fail(.deleteRemote, deletion.key, size: deletion.size, error)
            }
            return
        }
        var changes: [ManifestChange] = []
        for deletion in batch {
            if let error = failures[context.objectKey(deletion.key)] {
                let failure = ItemFailure(error)
                executor.fail(.deleteRemote, deletion.key, size: deletion.size, failure)
                continue
            }
            changes.append(.forget(deletion.key))
        }
        try await context.manifest.record(changes)
        for deletion in batch where failures[context.objectKey(deletion.key)] == nil {
            let new = executor.ledger.newName(of: deletion)
            let isKept =
                ObjectKeeper(context: context).isNeeded && !renamed.contains(deletion.key)
            context.deletedObject(deletion.key, size: deletion.size, isKept: isKept, renamedTo: new)
        }
    }

    /// Those of `batch` that have a copy, if any is kept, or were gone; what has none is reported.
    ///
    /// The object of a renamed file's new name is that copy, as long as it is there: one in the
    /// trash would be a second one, and come back under the old name with its directory.
    private func keep(
        _ batch: [PlannedDeletion]
    ) async throws -> (
        batch: [PlannedDeletion], gone: Set<ObjectKey>, renamed: Set<ObjectKey>
    ) {
        let keeper = ObjectKeeper(context: context)
        guard keeper.isNeeded else { return (batch, [], []) }
        typealias Keys = Set<ObjectKey>
        let found = Mutex<(kept: Keys, gone: Keys, renamed: Keys)>(([], [], []))
        try await executor.forEach(batch) { deletion in
            if await hasNewName(deletion) {
                return found.withLock { _ = $0.renamed.insert(deletion.key) }
            }
            do throws(ItemFailure) {
                // On this side, each has the tag of the version that may go.
                guard let etag = deletion.etag else { throw .alreadyExists(nil) }
                try await keeper.keep(deletion.key, etag, size: deletion.size)
                found.withLock { _ = $0.kept.insert(deletion.key) }
            } catch {
                let (key, size) = (deletion.key, deletion.size)
                guard error.isVanished else {
                    return executor.failKept(.deleteRemote, key, size: size, error)
                }
                found.withLock { _ = $0.gone.insert(deletion.key) }
            }
        }
        let (kept, gone, renamed) = found.withLock { $0 }
        let settled = kept.union(gone).union(renamed)
        return (batch.filter { settled.contains($0.key) }, gone, renamed)
    }

    /// True if the content has another name in the bucket now, which this run gave it, and which
    /// nobody has replaced or deleted since.
    private func hasNewName(_ deletion: PlannedDeletion) async -> Bool {
        guard let new = executor.ledger.newName(of: deletion),
            let row = try? await context.manifest.entry(new),
            let object = try? await executor.head(new)
        else { return false }
        return object.etag == row.etag
    }

    /// Those of `batch` whose files no verification has found damaged since; reports the others.
    private func sound(_ batch: [PlannedDeletion]) async throws -> [PlannedDeletion] {
        guard !context.session.damaged.isEmpty, !context.options.replacesLocalChanges else {
            return batch
        }
        var sound: [PlannedDeletion] = []
        for deletion in batch {
            let row = try await context.manifest.entry(deletion.key)
            let gone = JoinedEntry(key: deletion.key, base: row, local: nil, remote: nil)
            let entry = try await context.session.damaged.marking(gone, records: true)
            let like = entry.likeDamaged.map { SkipReason.likeDamagedAndGone($0) }
            if let reason = entry.base?.isDamaged == true ? .damagedAndGone : like {
                await executor.carryOut(.skip(reason), entry)
            } else {
                sound.append(deletion)
            }
        }
        return sound
    }

    /// Those of `batch` whose keys the directory still lacks; the others are reported.
    ///
    /// Hours may lie between the walk and the deletions. What reappeared meanwhile may be the only
    /// copy, and the next run decides on it. What the filter hides is not part of the mirror.
    private func missingHere(_ batch: [PlannedDeletion]) async -> [PlannedDeletion] {
        let (directory, filter, options) = (context.directory, context.filter, context.options)
        let found: [Place] = await context.disk.run {
            batch.map {
                filter.excludes($0.key) ? .free : Self.place($0.key, options, in: directory)
            }
        }
        var missing: [PlannedDeletion] = []
        for (deletion, place) in zip(batch, found) {
            switch place {
            case .free: missing.append(deletion)
            case .ownDirectory: break
            case .taken(let failure):
                executor.fail(.deleteRemote, deletion.key, size: deletion.size, failure)
            }
        }
        return missing
    }

    /// What is here in the place of an object that is to be deleted.
    private enum Place: Sendable {
        case free
        /// The directory of a marker is here again: this run has perhaps made it for a file.
        case ownDirectory
        case taken(ItemFailure)
    }

    private static func place(
        _ key: ObjectKey,
        _ options: RunOptions,
        in directory: MirrorDirectory
    ) -> Place {
        do {
            let path = try RelativePath(key: key, links: options.links, names: options.names)
            switch try directory.identity(of: path) {
            case .absent: return .free
            // The directory takes the place of the file, not of its own marker.
            case .directory: return path.isDirectory ? .ownDirectory : .free
            case .file where path.isDirectory: return .free
            // A name that leads to another file's on this disk is still missing.
            case .file:
                return try directory.names.collision(path) == nil ? .taken(.targetChanged) : .free
            // It took the place of the file, and is mirrored by its own key.
            case .other(.symbolicLink) where options.links == .store: return .free
            case .other: return .taken(.targetChanged)
            }
        } catch LocalError.symlinkInPath(let link)
            where options.links == .follow && directory.isFollowedFile(link)
        {
            return .free
        } catch let error as LocalError {
            return .taken(ItemFailure(error))
        } catch {
            // A key that can have no file here.
            return .free
        }
    }
}
