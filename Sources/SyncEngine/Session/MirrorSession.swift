internal import LocalStorage
internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel

/// An open and locked directory with its manifest: what every command on a mirror starts with.
///
/// 1. Open the directory, take its lock, and open the manifest; a damaged one is set aside.
/// 2. Check that the remote is the recorded one (`RemoteCheck`), that directory and state belong
///    together (`DirectoryCheck`), and which mounts are missing (`DirectoryIdentity`).
/// 3. Read the ignore file and the names of earlier runs that did not finish.
///
/// Not guaranteed: that the directory stays at its path; `DirectoryWatch` checks that again before
/// deletions. Without the lock (`status`, dry runs) a run of another process may be active at the
/// same time.
struct MirrorSession: Sendable {
    let directory: MirrorDirectory
    let manifest: ManifestStore
    let lock: DirectoryLock?
    /// True if the manifest says nothing of this remote yet: it was lost or set aside as unusable
    /// and begun anew, or was made with another remote.
    let isManifestRebuilt: Bool
    /// What the manifest knows of the directory itself.
    var known: DirectoryIdentity
    /// What the directory's ignore file says, and then this machine's own one.
    let ignored: FileFilter
    /// What the ignore file alone says; if it cannot be used, all but that file is left out.
    let rules: IgnoreRules
    /// True if a run met two keys that are one name on this disk.
    let hasFoldedNames: Bool
    /// Names of runs that ended before they had recorded all that they sent.
    let cutOffRuns: [String]
    let warnings: [String]
    let damaged: DamagedRows
    /// What the user has only in the bucket.
    let freed: FreedPaths
    /// True if this state has freed something: its rows tell what.
    let hasFreed: Bool
    /// The name of the state, which no other mirror has.
    let state: String

    /// Opens a mirror: with `locks` false to look only, beside a run that may be under way; with
    /// `allowsRebinding`, another remote than the recorded one is taken as the new one; with
    /// `sends`, for a run that sends files.
    static func open(
        _ settings: MirrorSettings,
        locks: Bool,
        allowsRebinding: Bool,
        mayFetchRules: Bool = false,
        sends: Bool = false,
        onWait: (@Sendable (String) -> Void)? = nil
    ) async throws(TransferError) -> MirrorSession {
        do {
            let threads = settings.environment.threads
            let queue = BlockingQueue(label: "osssync.open", width: 1, threads: threads)
            let interruption = Interruption()
            let (directory, lock, isNetwork) = try await withTaskCancellationHandler {
                try await queue.run {
                    () throws(LocalError) -> (MirrorDirectory, DirectoryLock?, Bool) in
                    let directory = try openDirectory(settings, makesIt: locks)
                    // To look only needs no lock, and keeps no run from beginning.
                    let lock =
                        locks ? try taken(directory, settings, interruption, onWait) : nil
                    return (directory, lock, try directory.stateIsOnNetworkFileSystem())
                }
            } onCancel: {
                interruption.raise()
            }
            if settings.shard == nil, let cutting = try Cutting.read(in: directory) {
                throw cutting.refusal(for: settings.directory)
            }
            let opening = Opening(
                settings: settings,
                directory: directory,
                lock: lock,
                isNetwork: isNetwork,
                locks: locks,
                allowsRebinding: allowsRebinding,
                mayFetchRules: mayFetchRules,
                sends: sends
            )
            do {
                let session = try await opening.open()
                // Not where the manifest is lost: then the file `cuts` may be, too. Shards that are
                // left only take room, so no run ends because of them.
                if locks, settings.shard == nil, !session.isManifestRebuilt {
                    try? Cutting.removeLeftShards(in: directory)
                }
                return session
            } catch let error as ManifestError where error.isDamage {
                // For a run it is marked as damaged now, and so set aside.
                return try await opening.open(damage: locks ? nil : error)
            }
        } catch let error as LocalError {
            throw TransferError(
                ofState: error,
                directory: settings.directory,
                stateDirectory: settings.stateDirectory
            )
        } catch {
            throw TransferError(any: error)
        }
    }

    private static func taken(
        _ directory: MirrorDirectory,
        _ settings: MirrorSettings,
        _ interruption: Interruption,
        _ onWait: (@Sendable (String) -> Void)?
    ) throws(LocalError) -> DirectoryLock {
        guard let shard = settings.shard else {
            return try directory.lockWhole(unless: interruption, onWait: onWait)
        }
        return try directory.lock(within: shard.whole, unless: interruption, onWait: onWait)
    }

    /// What is known of a mirror before its manifest is opened.
    private struct Opening {
        let settings: MirrorSettings
        let directory: MirrorDirectory
        let lock: DirectoryLock?
        let isNetwork: Bool
        let locks: Bool
        let allowsRebinding: Bool
        let mayFetchRules: Bool
        let sends: Bool

        func open(damage: ManifestError? = nil) async throws -> MirrorSession {
            if locks { try directory.state.requireIndexRoom() }
            let (manifest, outcome) =
                locks
                ? try await openManifest(in: directory.state.path)
                : try await inspect(damage)
            if lock?.isLeased == true { await askBeforeWriting(manifest) }
            directory.removeStandIn()
            let remoteCheck = RemoteCheck(
                settings: settings,
                directory: directory,
                manifest: manifest,
                allowsRebinding: allowsRebinding,
                records: locks,
                sends: sends
            )
            let remote = try await remoteCheck.run()
            let finding = try await DirectoryCheck(
                settings: settings,
                directory: directory,
                manifest: manifest,
                state: remote.state,
                allowsRebinding: allowsRebinding,
                records: locks
            ).run()
            if locks { try remoteCheck.keep(remote, state: finding.state) }
            let known = try await DirectoryIdentity.check(finding, directory, manifest)
            var isRebuilt = remote.isManifestLost
            if case .recreated = outcome { isRebuilt = true }
            if isRebuilt, locks { try await RebuiltManifest.record(in: manifest) }
            let isKnown = known.isSame && !isRebuilt && !remote.isRebound
            if !allowsRebinding, known.unmounted.contains(IgnoreFile.key.bytes) {
                throw IgnoreFile.notMounted
            }
            let (rules, local) = try await rules(manifest, isKnown: isKnown)
            let session = MirrorSession(
                directory: directory,
                manifest: manifest,
                lock: lock,
                isManifestRebuilt: isRebuilt || remote.isRebound,
                known: known,
                // Without the shared rules, nothing may include more than the ignore file.
                ignored: rules.problem == nil ? rules.current.followed(by: local) : rules.current,
                rules: rules,
                hasFoldedNames: try await FoldedNames.areKnown(to: manifest),
                cutOffRuns: isKnown ? try await OwnUploads.recorded(in: manifest) : [],
                warnings: warnings(outcome, remote)
                    + (rules.damaged == nil ? [] : [IgnoreFile.damagedMessage]),
                damaged: try await DamagedRows(
                    manifest,
                    directory,
                    settings.shard.map {
                        FolderOfShards(DamageList.folder, of: $0.folder, in: directory)
                    }
                        ?? FolderOfShards(
                            DamageList.folder,
                            ofState: finding.state,
                            in: directory
                        ),
                    // A manifest that is only looked at is not written.
                    isRebuilt: isRebuilt && (locks || outcome != .opened)
                ),
                freed: try FreedPaths.read(in: directory),
                hasFreed: try await manifest.setting(FreedPaths.ownSetting) != nil,
                state: finding.state
            )
            if let row = rules.damaged, locks { try await session.damaged.mark(row) }
            return session
        }

        /// The shared rules, and this machine's own ones; those of a round for a shard.
        private func rules(
            _ manifest: ManifestStore,
            isKnown: Bool
        ) async throws -> (IgnoreRules, local: FileFilter) {
            if let rules = settings.shard?.rules {
                let shared = try IgnoreRules(current: rules.ignored, held: rules.heldFilters)
                return (shared, FileFilter())
            }
            let rules = try await IgnoreFile.rules(
                in: directory,
                manifest,
                settings.environment,
                isRebuilt: !isKnown,
                records: locks,
                sends: sends
            )
            if let problem = rules.problem, !mayFetchRules { throw problem }
            let local = try await LocalRules.read(
                in: directory,
                manifest,
                settings.environment,
                records: locks
            )
            return (rules, local)
        }

        /// Another machine may take the mirror in the middle of a run.
        private func askBeforeWriting(_ manifest: ManifestStore) async {
            let directory = directory
            await manifest.ask { () throws(ManifestError) in
                do throws(LocalError) {
                    try directory.requireLock()
                } catch {
                    throw .leaseLost(reason: error.message)
                }
            }
        }

        private func openManifest(
            in directory: String
        ) async throws(ManifestError) -> (ManifestStore, OpenOutcome) {
            try await ManifestStore.open(
                directory: directory,
                now: settings.environment.now(),
                usesWriteAheadLog: !isNetwork && self.directory.hasRecordLocks(),
                hasLocks: self.directory.hasRecordLocks(),
                threads: settings.environment.threads,
                smallestSearchable: settings.limits.smallestSearchable
            )
        }

        /// Opens the existing manifest; if that is impossible, creates outside the state what the
        /// next run would create.
        private func inspect(_ damage: ManifestError?) async throws -> (ManifestStore, OpenOutcome)
        {
            let threads = settings.environment.threads
            let path = directory.state.path
            var reason = damage?.message
            var copies = false
            if damage == nil {
                switch try await ManifestStore.inspect(
                    directory: path,
                    hasLocks: directory.hasRecordLocks(),
                    threads: threads
                ) {
                case .opened(let manifest): return (manifest, .opened)
                case .absent: break
                case .damaged(let found): reason = found
                case .unfinished: copies = true
                }
            }
            let standIn = try directory.makeStandIn()
            if copies { try await ManifestStore.copy(from: path, to: standIn, threads: threads) }
            let (manifest, outcome) = try await openManifest(in: standIn)
            guard let reason else { return (manifest, outcome) }
            return (manifest, .recreated(movedAside: nil, reason: reason))
        }

        private func warnings(
            _ outcome: OpenOutcome,
            _ remote: RemoteCheck.Finding
        ) -> [String] {
            var warnings: [String] = []
            let rebuilding = "rebuilt by comparing content, and nothing is deleted in this run"
            switch outcome {
            case .recreated(_, let reason) where !locks:
                warnings.append(
                    "the manifest could not be used (\(reason)); the next run sets it aside, "
                        + "rebuilds it by comparing content, and deletes nothing"
                )
            case .recreated(let name, let reason):
                warnings.append(
                    "the manifest could not be used (\(reason)) and was set aside"
                        + (name.map { " as '\($0)'" } ?? "") + "; it is \(rebuilding)"
                )
            case .created where remote.isManifestLost:
                warnings.append("the manifest is missing; it is \(rebuilding)")
            case .created, .opened: break
            }
            // The leases of shards are in their states, which all machines have to see.
            if isNetwork, settings.shard == nil {
                warnings.append(
                    "the state is on a network file system, where locks and recovery are weaker;"
                        + " --state-dir can put it on a local disk"
                )
            }
            if remote.isRebound {
                warnings.append(
                    "the remote is not the one of the last run: everything is compared again, and "
                        + "nothing is deleted in this run"
                )
            }
            return warnings
        }
    }

    /// Refuses a run that writes into a directory where nothing can be written.
    func requireWritable(_ settings: MirrorSettings) throws(TransferError) {
        do throws(LocalError) {
            try directory.requireOwn()
        } catch {
            throw TransferError(error)
        }
        guard let refusal = known.writingRefusal ?? directory.placeRefusal else { return }
        guard case .systemCall(let call) = refusal else { throw TransferError(refusal) }
        let shown = displayText(settings.directory.utf8)
        // A directory that cannot be made does not belong to another user.
        let isOther = call.path == ".osssync" && call.call != "mkdirat" && !call.isReadOnly
        throw TransferError(
            code: .localState,
            message: isOther
                ? "'\(shown)/.osssync' belongs to another user, whose mirror the directory is: "
                    + "only a push is possible (\(call.message))"
                : "'\(shown)' cannot be written: \(call.remedy); only a push needs no write "
                    + "access (\(call.message))",
            underlying: refusal
        )
    }

    private static func openDirectory(
        _ settings: MirrorSettings,
        makesIt: Bool
    ) throws(LocalError) -> MirrorDirectory {
        guard makesIt else {
            return try MirrorDirectory.inspect(
                at: settings.directory,
                stateDirectory: settings.stateDirectory,
                homeDirectory: settings.homeDirectory,
                shard: settings.shard?.folder ?? [],
                calls: settings.systemCalls
            )
        }
        return try MirrorDirectory(
            path: settings.directory,
            stateDirectory: settings.stateDirectory,
            homeDirectory: settings.homeDirectory,
            createsIfMissing: true,
            shard: settings.shard?.folder ?? [],
            calls: settings.systemCalls
        )
    }
}

extension TransferError {
    /// Of a state that cannot be written, with what a user can do about it.
    init(ofState error: LocalError, directory: String, stateDirectory: String?) {
        let directory = displayText(directory.utf8)
        guard case .systemCall(let call) = error, call.isWriteRefused, call.path != directory else {
            self.init(error)
            return
        }
        let place = stateDirectory.map { displayText($0.utf8) } ?? directory
        let elsewhere =
            stateDirectory == nil ? ", or keep osssync's state elsewhere with --state-dir" : ""
        self.init(
            code: .localState,
            message: "'\(place)' cannot be written: \(call.remedy)\(elsewhere) (\(call.message))",
            underlying: error
        )
    }
}

extension SystemCallError {
    /// What a user can do where writing was refused.
    fileprivate var remedy: String {
        isReadOnly
            ? "its file system is read-only. Mount it for writing"
            : "this user may not write there. Change its owner or mode"
    }
}

extension MirrorSession {
    /// What the names of this mirror's runs end with in the bucket: for people the machine, and
    /// the beginning of the state's name.
    func trashMark(_ environment: EngineEnvironment) -> String {
        "~" + environment.safeHostName + "~" + state.prefix(8)
    }
}
