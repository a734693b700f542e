internal import LocalStorage
package import ObjectTransfer
package import SyncModel
internal import SyncPlanner

extension MirrorEngine {
    /// What a task of an array asks before all else: on a machine where the directory's disk is not
    /// mounted, nothing is to be written into the mount point.
    ///
    /// - Throws: `refused` if there is no mirror in the directory.
    package static func requireMirror(in directory: String) throws(TransferError) {
        let hasMarker: Bool
        do throws(LocalError) {
            hasMarker = try MarkerFile.exists(at: directory, calls: .standard)
        } catch {
            throw TransferError(error)
        }
        guard !hasMarker else { return }
        if try MirrorLink.read(directory: directory, stateDirectory: nil) != nil {
            throw TransferError(
                code: .configuration,
                message:
                    "'\(displayText(directory.utf8))' is linked, and nothing was mirrored there "
                    + "yet; run 'osssync shard --count N DIR' first"
            )
        }
        throw TransferError(
            code: .refused,
            message: "'\(displayText(directory.utf8))' is not a mirror: its marker is missing. Is "
                + "its disk mounted? If nothing was mirrored there yet, 'osssync shard DIR "
                + "REMOTE' creates a sharded mirror"
        )
    }

    /// Makes one side what the other is.
    ///
    /// Cancelling the task ends the run and keeps what the next run needs to resume.
    ///
    /// - Returns: What was done, also where items failed.
    /// - Throws: Why the run could not be done or ended early; the last event is the summary of
    ///   what was done until then.
    package func run(
        _ direction: SyncDirection,
        options: RunOptions,
        onEvent: @escaping @Sendable (SyncEvent) -> Void
    ) async throws(TransferError) -> RunSummary {
        if let run = try shardedRun(direction, options, onEvent) {
            return try await run.perform(with: options)
        }
        return try await runWhole(direction, options: options, onEvent: onEvent)
    }

    /// The run over shards that the options ask for; nil if the mirror is not cut.
    func shardedRun(
        _ direction: SyncDirection,
        _ options: RunOptions,
        _ onEvent: @escaping @Sendable (SyncEvent) -> Void
    ) throws(TransferError) -> ShardedRun? {
        guard let directory = settings.openedMirror(),
            let cutting = try Cutting.read(in: directory)
        else {
            guard options.shard == nil else { throw isNotCut }
            return nil
        }
        let unsupported: String? =
            if !options.paths.isEmpty { "PATHs" } else if options.plan != nil {
                "a saved plan"
            } else if options.shard != nil, options.allowsRebinding { "--rebind" } else { nil }
        if let unsupported {
            throw TransferError(
                code: .configuration,
                message: options.shard == nil
                    ? "'\(displayText(settings.directory.utf8))' is a sharded mirror, with which "
                        + "\(unsupported) cannot be used; 'osssync shard --count 1' joins the "
                        + "shards"
                    : "\(unsupported) cannot be used with --shard; run once without it"
            )
        }
        return ShardedRun(settings, cutting, direction, options, in: directory, onEvent: onEvent)
    }

    fileprivate var isNotCut: TransferError {
        TransferError(
            code: .configuration,
            message: "'\(displayText(settings.directory.utf8))' is not sharded; run "
                + "'osssync shard --count N DIR REMOTE' first"
        )
    }

    /// Ends a round: deletes what the runs of all shards have planned, if all of them have ended
    /// and nothing speaks against it.
    ///
    /// The options are those of the round's runs, but for the limits of deletions and the number of
    /// connections. While a run of a shard lives, it ends with an error of code `locked`.
    package func finish(
        round name: String,
        _ direction: SyncDirection,
        options: RunOptions,
        onEvent: @escaping @Sendable (SyncEvent) -> Void
    ) async throws(TransferError) -> RunSummary {
        try Round.check(name)
        guard let run = try shardedRun(direction, options, onEvent) else { throw isNotCut }
        return try await run.perform {
            let lock = try await run.lockWhole()
            defer { withExtendedLifetime(lock) {} }
            run.begin()
            guard let round = try Round.read(name, in: run.directory) else {
                throw TransferError(
                    code: .configuration,
                    message: "there is no round '\(name)': no task with this --round has begun"
                )
            }
            try round.require(run.cutting, direction, options, in: run.directory)
            try await run.acceptRules(lock)
            try await run.finish(round, lock)
        }
    }

    /// The round of the name, or the newest; nil if there is none.
    package func round(_ name: String?) throws(TransferError) -> RoundReport? {
        do {
            guard let directory = settings.openedMirror() else { return nil }
            if let name { try Round.check(name) }
            let round =
                try name.map { try Round.read($0, in: directory) }
                ?? Round.newest(in: directory)
            return try round.map {
                RoundReport(
                    name: $0.name,
                    direction: $0.direction,
                    command: $0.command,
                    isFinished: try $0.hasEnded(in: directory)
                )
            }
        } catch {
            throw TransferError(any: error)
        }
    }

    /// The shards in key order; nil if the mirror is not cut.
    package func shards() throws(TransferError) -> [ShardState]? {
        guard let directory = settings.openedMirror(),
            let cutting = try Cutting.read(in: directory)
        else { return nil }
        var states: [ShardState] = []
        var ended: [String: Bool] = [:]
        func hasEnded(_ name: String) throws(TransferError) -> Bool {
            if let known = ended[name] { return known }
            let isEnded = try Round.hasEnded(name, in: directory)
            ended[name] = isEnded
            return isEnded
        }
        for (range, number) in zip(cutting.ranges, cutting.numbers) {
            let result = try ShardResult.read(cutting.folder(number), in: directory)
            // What was refused until the round ended is no longer planned.
            let isOver = try result.map { result throws(TransferError) in try hasEnded(result.round)
            }
            states.append(
                ShardState(
                    number: number,
                    firstKey: range.lower.bytes,
                    endKey: range.upper?.bytes,
                    round: result?.round,
                    isComplete: result?.isComplete ?? false,
                    // Those that the end of the round has deleted are recorded no more.
                    recorded: result.map {
                        isOver == true ? max(0, $0.recorded - $0.check.deletions) : $0.recorded
                    },
                    deletionsWaiting: isOver == false ? result?.check.deletions ?? 0 : 0,
                    holder: result == nil
                        ? try? directory.holder(ofShard: cutting.folder(number)) : nil
                )
            )
        }
        return states
    }
}

extension MirrorSettings {
    /// The directory, if it is a mirror.
    fileprivate func openedMirror() -> MirrorDirectory? {
        // Whatever is wrong with it, the session says it.
        try? MirrorDirectory(
            path: directory,
            stateDirectory: stateDirectory,
            homeDirectory: homeDirectory,
            createsIfMissing: false,
            calls: systemCalls
        )
    }
}
