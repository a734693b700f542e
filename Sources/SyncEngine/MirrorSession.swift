internal import LocalStorage
internal import ManifestStore
internal import SyncModel

/// A directory that is open and locked, with its manifest: what every use of a mirror begins with.
struct MirrorSession: Sendable {
    let directory: MirrorDirectory
    let manifest: ManifestStore
    let lock: DirectoryLock?
    /// True if the manifest says nothing of this remote yet: it was set aside as unusable and begun
    /// anew, or was made with another remote.
    let isManifestRebuilt: Bool
    /// What the manifest knows of the directory itself.
    let known: KnownDirectory
    /// What the directory's ignore file says.
    let ignored: FileFilter
    /// When files changed that a power cut may have damaged; nil if none is in doubt.
    let doubt: Doubt?
    /// True if a run met two keys that are one name on this disk.
    let hasFoldedNames: Bool
    /// Names of runs that ended before they had recorded all that they sent.
    let cutOffRuns: [String]
    let warnings: [String]

    private enum Setting {
        static let dialect = "remote.dialect"
        static let host = "remote.endpoint-host"
        static let bucket = "remote.bucket"
        static let prefix = "remote.prefix"
    }

    /// Opens a mirror: with `locks` false to look only, beside a run that may be under way; with
    /// `allowsRebinding`, another remote than the recorded one is taken as the new one.
    static func open(
        _ settings: MirrorSettings,
        locks: Bool,
        allowsRebinding: Bool
    ) async throws(SyncError) -> MirrorSession {
        do {
            let threads = settings.environment.threads
            let queue = BlockingQueue(label: "osssync.open", width: 1, threads: threads)
            let (directory, lock, isNetwork) = try await queue.run {
                () throws(LocalError) -> (MirrorDirectory, DirectoryLock?, Bool) in
                let directory = try openDirectory(settings, makesIt: locks)
                // To look only needs no lock, but opening may make or mend the manifest: that is
                // done under the lock, unless a run holds it and has opened the manifest already.
                let lock = locks ? try directory.lock() : try? directory.lock()
                return (directory, lock, try directory.stateIsOnNetworkFileSystem())
            }
            let ignored = try await queue.run { try IgnoreFile.rules(in: directory) }
            let opening = Opening(
                settings: settings,
                directory: directory,
                lock: lock,
                isNetwork: isNetwork,
                ignored: ignored,
                locks: locks,
                allowsRebinding: allowsRebinding
            )
            do {
                return try await opening.open()
            } catch let error as ManifestError where error.isDamage && lock != nil {
                // It is marked as damaged now, and so set aside.
                return try await opening.open()
            }
        } catch let error as LocalError {
            throw explained(error, settings)
        } catch {
            throw SyncError(any: error)
        }
    }

    /// What is known of a mirror before its manifest is opened.
    private struct Opening {
        let settings: MirrorSettings
        let directory: MirrorDirectory
        let lock: DirectoryLock?
        let isNetwork: Bool
        let ignored: FileFilter
        let locks: Bool
        let allowsRebinding: Bool

        func open() async throws -> MirrorSession {
            let (manifest, outcome) = try await ManifestStore.open(
                directory: directory.stateDirectoryPath,
                now: settings.environment.now(),
                usesWriteAheadLog: !isNetwork,
                threads: settings.environment.threads,
                onlyReads: !locks && !directory.stateIsWritable
            )
            directory.removeStandIn()
            let isRebound = try await checkRemote(
                settings,
                manifest,
                allowsRebinding,
                records: locks
            )
            let known = try await KnownDirectory.check(
                settings,
                directory,
                manifest,
                allowsRebinding: allowsRebinding,
                records: locks
            )
            let doubt = try await UnsynchronizedRun.doubt(
                manifest,
                bootID: directory.bootID,
                environment: settings.environment
            )
            var isRebuilt = false
            if case .recreated = outcome { isRebuilt = true }
            let isKnown = known.isSame && !isRebuilt && !isRebound
            let cutOff = isKnown ? try await OwnUploads.recorded(in: manifest) : []
            return MirrorSession(
                directory: directory,
                manifest: manifest,
                lock: locks ? lock : nil,
                isManifestRebuilt: isRebuilt || isRebound,
                known: known,
                ignored: ignored,
                doubt: doubt,
                hasFoldedNames: try await FoldedNames.areKnown(to: manifest),
                cutOffRuns: cutOff,
                warnings: warnings(
                    outcome,
                    isNetwork: isNetwork,
                    isRebound: isRebound,
                    isDoubted: doubt != nil
                )
            )
        }
    }

    /// What a user can do about a state that cannot be written.
    private static func explained(
        _ error: LocalError,
        _ settings: MirrorSettings
    ) -> SyncError {
        guard case .systemCall(let call) = error, call.isWriteRefused else {
            return SyncError(error)
        }
        let place = settings.stateDirectory ?? settings.directory
        let mend =
            call.isReadOnly
            ? "its file system is read-only. Mount it for writing"
            : "this user may not write there. Change its owner or mode"
        return SyncError(
            code: .localState,
            message: "'\(displayText(place.utf8))' cannot be written: \(mend), or keep osssync's "
                + "state elsewhere with --state-dir (\(call.message))",
            underlying: error
        )
    }

    private static func warnings(
        _ outcome: OpenOutcome,
        isNetwork: Bool,
        isRebound: Bool,
        isDoubted: Bool
    ) -> [String] {
        var warnings: [String] = []
        if case .recreated(let name, let reason) = outcome {
            warnings.append(
                "the manifest could not be used (\(reason)) and was set aside"
                    + (name.map { " as '\($0)'" } ?? "")
                    + "; it is rebuilt by comparing content, and nothing is deleted in this run"
            )
        }
        if isNetwork {
            warnings.append(
                "the state is on a network file system, where locks and recovery are weaker;"
                    + " --state-dir can put it on a local disk"
            )
        }
        if isRebound {
            warnings.append(
                "the remote is another one now: what was recorded is compared anew, and "
                    + "nothing is deleted in this run"
            )
        }
        if isDoubted {
            warnings.append(
                "a run with --durability fast was cut off by a power cut: what a pull finds "
                    + "damaged goes to the trash and is fetched again"
            )
        }
        return warnings
    }

    private static func openDirectory(
        _ settings: MirrorSettings,
        makesIt: Bool
    ) throws(LocalError) -> MirrorDirectory {
        guard makesIt else {
            return try MirrorDirectory.look(
                at: settings.directory,
                stateDirectory: settings.stateDirectory,
                homeDirectory: settings.homeDirectory,
                calls: settings.systemCalls
            )
        }
        return try MirrorDirectory(
            path: settings.directory,
            stateDirectory: settings.stateDirectory,
            homeDirectory: settings.homeDirectory,
            createsIfMissing: true,
            calls: settings.systemCalls
        )
    }

    /// True if the remote is another one than the recorded.
    private static func checkRemote(
        _ settings: MirrorSettings,
        _ manifest: ManifestStore,
        _ allowsRebinding: Bool,
        records: Bool
    ) async throws -> Bool {
        let found = settings.identity
        var isRebound = false
        var isSameBucket = true
        let values = [
            (name: Setting.dialect, value: found.dialect),
            (name: Setting.host, value: found.endpointHost),
            (name: Setting.bucket, value: found.bucket),
            (name: Setting.prefix, value: found.prefix),
        ]
        for (name, value) in values {
            guard let recorded = try await manifest.setting(name), recorded != value else {
                continue
            }
            isRebound = true
            // One bucket has several endpoints: public, internal, accelerated.
            if name != Setting.host { isSameBucket = false }
            guard allowsRebinding else {
                let what = displayText(recorded.utf8)
                throw SyncError(
                    code: .refused,
                    message: "the manifest of '\(displayText(settings.directory.utf8))' was made "
                        + "with another remote (\(name) was '\(what)'), and "
                        + "'\(settings.displayRemote)' is not it; nothing was changed. "
                        + "If the remote moved on purpose, say --rebind"
                )
            }
        }
        guard records else { return isRebound }
        let settings = values.map { (name: $0.name, value: String?.some($0.value)) }
        if isRebound {
            try await manifest.beginAnew(settings, keepsUploads: isSameBucket)
        } else {
            try await manifest.setSettings(settings)
        }
        return isRebound
    }
}
