internal import LocalStorage
internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel

/// How a run ends: what is recorded of it.
struct RunEnding: RunStep {
    let executor: ItemExecutor

    var setup: RunSetup { executor.context.setup }
    private var context: RunContext { executor.context }

    /// What the checkpoints of this direction hold, within the run's paths.
    func bytesKept() async throws -> Int64 {
        var bytes: Int64 = 0
        func add(_ transfer: InterruptedTransfer) {
            bytes = bytes.addingClamped(transfer.bytesFinished)
        }
        if direction != .push {
            try await session.manifest.forEachDownload(in: paths.ranges) {
                add(InterruptedTransfer($0))
            }
        }
        if direction != .pull {
            try await session.manifest.forEachUpload(in: paths.ranges) {
                add(InterruptedTransfer($0))
            }
        }
        return bytes
    }

    /// Records the run; the failure it ends with, which may be the record's own.
    func close(
        _ summary: RunSummary,
        _ failure: TransferError?,
        countsAsSuccess: Bool
    ) async -> TransferError? {
        let outcome: RunOutcome =
            switch failure?.code {
            case nil: summary.isComplete ? .complete : .incomplete
            case .cancelled?: .cancelled
            case .refused?: .refused
            default: .failed
            }
        let record = RunRecord(
            outcome: outcome,
            seconds: summary.seconds,
            counts: summary.recorded,
            message: failure?.message ?? summary.stopped ?? summary.deletionsHeldBack
        )
        do {
            try await context.journal.flush(
                to: session.manifest,
                run: context.run,
                isEnd: true
            )
            let vanished = executor.ledger.newlyVanished(
                isLimited: paths.isLimited || failure != nil
            )
            try await vanished?.write(to: session.manifest)
            // A conflict may be with what this run sent: its answer was lost, and then the file
            // changed, so that nothing else could tell.
            let isRecorded =
                failure == nil && summary.stopped == nil && summary.failed == 0
                && summary.conflicts == 0
            let sentAll =
                isRecorded && direction != .pull && summary.isInStep && context.filter.isEmpty
                && !paths.isLimited
            try await context.uploads.end(isRecorded: isRecorded, settlesAll: sentAll)
            try await session.manifest.endNumber()
            if outcome == .complete, countsAsSuccess {
                let now = settings.environment.now()
                try await LastSuccess.record(direction, now, in: session.manifest)
            }
            let isWholePlan = options.plan != nil && !paths.isLimited && settings.shard == nil
            if countsAsSuccess || isWholePlan {
                let isInStep = failure == nil && summary.isInStep
                try await LastSuccess.record(isInStep: isInStep, in: session.manifest)
            }
            try await session.damaged.markOtherNames()
            try await session.damaged.writeList(sentAll: sentAll)
            try await session.manifest.finishRun(context.run, record)
            try await session.manifest.checkpointAndClose()
            return failure
        } catch {
            return failure ?? TransferError(any: error)
        }
    }

    /// The failure of a run that a limit ended before anything answered: it is not a success.
    func unanswered(_ summary: RunSummary) -> TransferError? {
        guard summary.reachedLimit != nil, summary.retries > 0, context.clocks.earlier == nil else {
            return nil
        }
        return TransferError(
            code: .remoteUnreachable,
            message: "\(settings.displayRemote) did not answer until the limit ended the run; "
                + "check the endpoint and the network"
        )
    }
}

// MARK: - What was freed

extension RunEnding {
    /// Takes from the list of freed paths what holds no longer: files that are here again, and
    /// directories of which a run of their paths has left out nothing.
    func forgetFreed(
        _ coverage: PlanCoverage,
        isClean: Bool
    ) async throws {
        guard !session.freed.isEmpty, settings.shard == nil else { return }
        let summary = context.tracker.summary
        let isWhole =
            setup.freed.bringsBack && isClean && options.plan == nil
            && (setup.freed == .comeBackOrEnd || coverage.lostFreed == 0)
            && summary.excluded == 0 && summary.skipped == coverage.lostFreed
            && summary.notMirrored == 0 && summary.conflicts == 0
        let named = setup.freed.bringsBack ? session.freed.keys.filter { paths.contains($0) } : []
        let files = named.filter { !$0.isDirectoryMarker }
        var returned: Set<ObjectKey> = []
        for key in coverage.returned.union(files)
        where try await isBack(key) ?? coverage.returned.contains(key) {
            returned.insert(key)
        }
        let endsDirectories = isWhole ? try await mayEndDirectories() : false
        let left = session.freed.removing { key in
            returned.contains(key)
                || endsDirectories && key.isDirectoryMarker && paths.contains(key)
        }
        if left != session.freed { try left.write(to: session.directory) }
    }

    /// False where another state may have freed what this one's bucket does not have.
    private func mayEndDirectories() async throws -> Bool {
        if session.hasFreed { return true }
        return try await context.onDisk { directory throws(LocalError) in
            try directory.markerFile.read()?.stateCount ?? 0
        } <= 1
    }

    /// False for a new file in the place of a freed one, of which the bucket has another version
    /// still; nil if there is no file.
    private func isBack(_ key: ObjectKey) async throws -> Bool? {
        let directory = session.directory
        guard let file = await context.disk.run({ Self.file(of: key, in: directory) }) else {
            return nil
        }
        guard let row = try await session.manifest.entry(key), !row.isLeftOut else { return false }
        return row.size == file.size && row.mayHaveTime(of: file)
    }

    static func file(of key: ObjectKey, in directory: MirrorDirectory) -> FileIdentity? {
        guard let path = try? RelativePath(key: key, links: .store, names: .escape),
            case .file(let file)? = try? directory.identity(of: path)
        else { return nil }
        return file
    }
}
