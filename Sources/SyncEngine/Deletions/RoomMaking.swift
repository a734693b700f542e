internal import LocalStorage
internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Downloads that the disk had no room for, tried once more after all others and the run's
/// deletions: what was under way then held room for its whole size.
///
/// The small ones come first. Where the room is still short and the run deletes, the trash of
/// earlier runs goes, the oldest first and this run's own last, as far as that helps and no
/// further. This run's own stays if it holds a version that a user made and this run replaced. A
/// run that is limited to paths removes no trash.
struct RoomMaking: Sendable {
    let executor: ItemExecutor

    private var context: RunContext { executor.context }

    func run() async throws {
        // The first ones that do not fit say so of all that follow.
        var short = executor.ledger.take(\.shortOfRoom)
            .sorted { ($0.entry.remote?.size ?? 0) < ($1.entry.remote?.size ?? 0) }[...]
        guard !short.isEmpty else { return }
        defer { executor.ledger.countUntried(short.count) }
        var trash = await trashOfRuns()[...]
        while !short.isEmpty {
            try Task.checkCancellation()
            if let stop = executor.ledger.stop { throw stop }
            let item = short.removeFirst()
            guard let object = item.entry.remote, let path = try? context.path(of: item.entry)
            else { continue }
            let held = trash.isEmpty ? 0 : await executor.downloads.trashSize() ?? 0
            guard let free = await freeBytes(), free.addingClamped(held) >= object.size else {
                await executor.downloads.failForRoom(item)
                continue
            }
            while let free = await freeBytes(), free < object.size, let oldest = trash.popFirst() {
                await remove(oldest)
            }
            context.tracker.planned(bytes: object.size)
            var failure = await executor.downloads.transfer(item.entry, object, path, item.backup)
            // A quota, or a shortage that has passed, is no reason to give the trash up.
            while case .diskFull? = failure, let free = await freeBytes(), free < object.size,
                let oldest = trash.popFirst()
            {
                await remove(oldest)
                context.tracker.planned(bytes: object.size)
                failure = await executor.downloads.transfer(item.entry, object, path, item.backup)
            }
            guard let failure else { continue }
            await executor.downloads.failForRoom(
                RunLedger.ShortOfRoom(
                    entry: item.entry,
                    backup: item.backup,
                    failure: failure
                )
            )
        }
    }

    /// What there was at the start of a run.
    struct Start: Sendable {
        let free: Int64
        /// In unfinished downloads of earlier runs.
        let kept: Int64
    }

    /// Nil if the disk cannot be asked.
    func start() async throws -> Start? {
        guard context.tracker.direction != .push, let free = await freeBytes() else { return nil }
        var kept: Int64 = 0
        try await context.manifest.forEachDownload(in: context.paths.ranges) { checkpoint in
            kept += InterruptedTransfer(checkpoint).bytesFinished
        }
        return Start(free: free, kept: kept)
    }

    /// Says what the disk cannot hold of a plan, even with everything that the run removes and all
    /// of the trash.
    func warn(_ start: Start?) async {
        guard let start, executor.ledger.growth > 0 else { return }
        let (needed, free) = (executor.ledger.growth - start.kept, start.free)
        guard needed > free else { return }
        let trash = context.paths.isLimited ? 0 : await executor.downloads.trashSize() ?? 0
        // The run may put more there.
        executor.ledger.trashSize = nil
        guard needed > free.addingClamped(trash) else { return }
        context.emit(
            .warning(
                message: "the disk does not have enough space for this: \(sizeText(needed)) are "
                    + "needed and \(sizeText(free)) are free, which is "
                    + "\(sizeText(needed - free)) too little"
                    + (trash > 0 ? ", not counting \(sizeText(trash)) in the trash" : "")
            )
        )
    }

    /// Reports them, because nothing was deleted.
    func fail() async {
        for item in executor.ledger.take(\.shortOfRoom) {
            await executor.downloads.failForRoom(item)
        }
    }

    /// None in a limited run, which does not know what of the trash is of its paths.
    private func trashOfRuns() async -> [TrashOfRun] {
        guard executor.downloads.deletes, !context.paths.isLimited else { return [] }
        let runs = try? await context.onDisk { directory throws(LocalError) in
            try directory.trash.runs()
        }
        guard executor.ledger.keepsOwnTrash else { return runs ?? [] }
        return (runs ?? []).filter { !$0.isOfRun(context.trashName) }
    }

    private func freeBytes() async -> Int64? { try? await context.freeBytes() }

    private func remove(_ run: TrashOfRun) async {
        let before = await freeBytes() ?? 0
        executor.ledger.trashSize = nil
        do {
            try await context.onDisk { directory throws(LocalError) in
                try directory.trash.remove(run)
            }
        } catch {
            let message = ItemFailure(any: error).message
            return context.emit(
                .warning(
                    message: "the trash was not removed completely: "
                        + "\(message)"
                )
            )
        }
        let gained = max(0, (await freeBytes() ?? before) - before)
        context.emit(
            .warning(
                message: "removed the trash of the run \(run.display) (\(sizeText(gained)))"
                    + " to make room"
            )
        )
    }
}

extension FileDownloads {
    /// Reports what the disk has no room for, and what else there is on it.
    func failForRoom(_ item: RunLedger.ShortOfRoom) async {
        let (key, size) = (item.entry.key, item.entry.remote?.size ?? 0)
        guard case .diskFull(var message) = item.failure else {
            return fail(.download, key, size: size, item.failure)
        }
        if !context.paths.isLimited, let trash = await trashSize(), trash > 0 {
            message += "; the trash contains \(sizeText(trash)), which --trash-days 0 frees"
        }
        let checkpoint = try? await context.manifest.first(.download(key))
        if checkpoint?.ranges.contains(where: { $0.received > 0 }) == true {
            message += "; the downloaded part is kept for the next run"
        }
        fail(.download, key, size: size, .diskFull(message: message))
    }

    /// What the trash holds; counted once for many items.
    fileprivate func trashSize() async -> Int64? {
        if let known = ledger.trashSize { return known }
        let size = try? await context.onDisk { directory throws(LocalError) in
            try directory.trash.size().bytes
        }
        ledger.trashSize = size
        return size
    }
}
