package import LocalStorage
internal import ManifestStore
package import ObjectTransfer
package import SyncModel
internal import Synchronization

/// What deletions, replacements and conflicts moved away in one mirror's directory.
///
/// The trash is a tree for each run, named by the run's time and number, with the paths that the
/// files had. Listing it takes no lock; changing it takes the directory's, as a run does. The
/// manifest has no part in it: a file that comes back is one that the user put there, and the next
/// run compares it as such.
///
/// Not guaranteed: a whole listing beside a run, which adds to the trash and empties it.
package struct MirrorTrash: TrashSide {
    let settings: LocalMirror

    package init(settings: LocalMirror) {
        self.settings = settings
    }

    /// How much is there; nil if there was no run yet.
    package func size() async throws(TransferError) -> TrashReport? {
        do throws(TransferError) {
            return try await list(age: .zero) { _ in true }
        } catch {
            // There is no state directory.
            guard error.code == .configuration else { throw error }
            return nil
        }
    }

    package var environment: EngineEnvironment { settings.environment }

    package func ownRuns() async throws -> [TrashOfRun] {
        try await onDisk { directory, _ throws(LocalError) in try directory.trash.runs() }
    }

    package func forEachFile(
        before limit: Timestamp,
        _ onFile: @escaping @Sendable (TrashedFile) -> Bool
    ) async throws {
        try await onDisk { directory, interruption throws(LocalError) in
            for run in try directory.trash.runs() where run.time.map({ $0 < limit }) ?? false {
                let goesOn = try directory.trash.forEachFile(in: run, at: nil) {
                    key,
                    file throws(LocalError) in
                    guard !interruption.isRaised else { throw .interrupted }
                    return onFile(TrashedFile(key, file, run))
                }
                guard goesOn else { return }
            }
        }
    }

    package func delete(before limit: Timestamp) async throws -> TrashReport {
        try await onLockedDisk { directory, _ throws(LocalError) in
            let before = try directory.trash.size()
            var report = TrashReport()
            try directory.trash.sweep(olderThan: limit) { report.failures.append($0.message) }
            let after = try directory.trash.size()
            (report.files, report.bytes) = (before.files - after.files, before.bytes - after.bytes)
            return report
        }
    }

    /// True if the bucket has, or has had, a trash of this mirror.
    package func hasRemote() throws(TransferError) -> Bool {
        let directory = try settings.open()
        do throws(LocalError) {
            return try RemoteTrash.isNoted(in: directory)
        } catch {
            throw TransferError(error)
        }
    }

    /// The last run that deleted or replaced something, here or in the bucket: when it began, and
    /// its number.
    ///
    /// `remote` is the last one that left something in the bucket's trash; nil if none did.
    package func lastRun(
        remote: (time: StoreTime, number: Int64)?
    ) async throws(TransferError) -> (time: StoreTime, number: Int64)? {
        let here = try await lastRun()
        let trashed = [here, remote].compactMap(\.self).max { $0 < $1 }
        guard let manifest = try await manifest() else { return trashed }
        do {
            return try await UndoneRun.last(trashed, in: manifest)
        } catch {
            throw TransferError(any: error)
        }
    }

    /// Brings files back with their times and modes; each by one rename, so that a kill leaves it
    /// here or there.
    ///
    /// A file that comes back is like any other: the next push uploads it if the remote does not
    /// have it, and the next pull keeps it. Cancelling the task ends it between two files.
    ///
    /// - Parameters:
    ///   - request: What comes back. Of a directory, everything in the trash beneath it does.
    ///   - onFile: Called from another thread.
    /// - Returns: What came back.
    /// - Throws: `TransferError`, `locked` while another run is active.
    package func restore(
        _ request: RestoreRequest,
        onFile: @escaping @Sendable (RestoredFile) -> Void
    ) async throws(TransferError) -> RestoreReport {
        let (wanted, place) = try request.places()
        let now = settings.environment.now()
        let chosen = try await onDisk { directory, _ throws(LocalError) in
            request.version.chosen(among: try directory.trash.runs())
        }
        try request.requireWhole(of: chosen)
        if request.isUndo, chosen.isEmpty, try isCut() {
            // A task that works may be about to put something there.
            try await onLockedDisk { _, _ in }
            throw TransferError(
                code: .configuration,
                message: "what the runs of a sharded mirror did is not recorded as one, and no "
                    + "trash here has anything of that run; 'osssync restore --at TIME DIR .' "
                    + "restores what all shards had here at TIME"
            )
        }
        let undone = try await undone(request, chosen)
        let left = try await whatIsLeft(request, chosen, undone)
        let recorded = try await recorded(request, chosen, undone)
        let changesNothing = request.isDryRun || request.outside != nil
        // An undo without anything here changes the bucket only.
        let writes =
            !changesNothing && !(request.isUndo && chosen.isEmpty && undone?.changes != true)
        let namesObjects = request.isUndo ? try !hasRemote() : false
        let work: Work<RestoreReport> = { directory, interruption throws(LocalError) in
            if writes { try directory.requireOwn() }
            directory.trash.record(recorded)
            let runs = try directory.trash.runs()
            let replacing = TrashOfRun.nameOfRestoration(now, after: runs)
            let settled = Mutex<Set<String>>([])
            let work = TrashRestorer(
                directory: directory,
                runs: runs,
                replacing: replacing,
                replaceable: request.replaces || request.outside != nil ? nil : left,
                interruption: interruption,
                request: request,
                onFile: { file in
                    if undone != nil { settled.withLock { _ = $0.insert(file.key) } }
                    onFile(file)
                }
            )
            var report = try work.restore(wanted, to: place)
            guard let undone else { return report }
            var rest = UndoneRun.Restorer(
                undone,
                in: directory,
                left: left,
                settled: settled.withLock(\.self),
                trees: chosen,
                namesObjects: namesObjects,
                isDryRun: request.isDryRun,
                onFile: onFile
            )
            try rest.restore()
            if writes { try directory.disk.synchronize() }
            report.missing = []
            report.add(rest.report)
            return report
        }
        return changesNothing ? try await onDisk(work) : try await onLockedDisk(work)
    }

    /// What the journal says of the run that is undone; nil if none is, or nothing is known of it.
    private func undone(
        _ request: RestoreRequest,
        _ chosen: [TrashOfRun]
    ) async throws(TransferError) -> UndoneRun? {
        guard request.isUndo, let run = request.version.run ?? chosen.last?.run,
            let manifest = try await manifest()
        else { return nil }
        do {
            return try await UndoneRun.find(run.number, began: run.time, in: manifest)
        } catch {
            throw TransferError(any: error)
        }
    }

    /// True for a mirror of which each shard has a manifest of its own.
    private func isCut() throws(TransferError) -> Bool {
        try Cutting.read(in: try settings.open()) != nil
    }

    /// Nil if it cannot be read, or there are many.
    private func manifest() async throws(TransferError) -> ManifestStore? {
        guard try !isCut() else { return nil }
        do {
            return try await settings.readableManifest(checksContent: true)
        } catch {
            throw TransferError(any: error)
        }
    }

    /// The permissions of directories that are missing where something comes back.
    private func recorded(
        _ request: RestoreRequest,
        _ chosen: [TrashOfRun],
        _ undone: UndoneRun?
    ) async throws(TransferError) -> [ObjectKey: UInt32] {
        guard request.outside == nil, !request.isDryRun else { return [:] }
        let places = try request.places()
        let missing = try await onDisk { directory, interruption throws(LocalError) in
            var missing = MissingDirectories()
            for run in chosen {
                try missing.add(run, places, in: directory, unless: interruption)
            }
            for path in undone?.places ?? [] {
                try missing.add(above: path, from: path, in: directory)
            }
            return missing
        }
        do {
            return try await missing.permissions(in: manifest(), on: settings.open())
        } catch {
            throw TransferError(any: error)
        }
    }

    /// Files of an undo that are as its run left them.
    private func whatIsLeft(
        _ request: RestoreRequest,
        _ chosen: [TrashOfRun],
        _ undone: UndoneRun?
    ) async throws(TransferError) -> [ObjectKey: FileIdentity] {
        guard request.isUndo, !chosen.isEmpty || undone != nil else { return [:] }
        let present = try await onDisk { directory, interruption throws(LocalError) in
            var present: [(ObjectKey, FileIdentity, TrashOfRun)] = []
            func add(_ key: ObjectKey, _ run: TrashOfRun) throws(LocalError) {
                guard !interruption.isRaised else { throw .interrupted }
                guard let path = try? RelativePath(path: key) else { return }
                do throws(LocalError) {
                    guard case .file(let file) = try directory.identity(of: path) else { return }
                    present.append((path.key, file, run))
                } catch {
                    // Nothing of the run is there any more.
                    guard case .symlinkInPath = error else { throw error }
                }
            }
            for run in chosen {
                try directory.trash.forEachFile(in: run, at: nil) { key, _ throws(LocalError) in
                    try add(key, run)
                    return true
                }
            }
            guard let undone else { return present }
            for key in undone.kept { try add(key, undone.tree) }
            for (_, key) in undone.renames { try add(key, undone.tree) }
            return present
        }
        // Without the manifest nobody knows; what is in the way stays.
        guard let manifest = try await manifest() else { return [:] }
        do {
            let trees = chosen + [undone?.tree].compactMap(\.self)
            let traces = try await RunTraces(of: trees, in: manifest)
            var left: [ObjectKey: FileIdentity] = [:]
            for (key, file, run) in present where try await traces.left(file, at: key, in: run) {
                left[key] = file
            }
            return left
        } catch {
            throw TransferError(any: error)
        }
    }
}

// MARK: - The disk

extension MirrorTrash {
    private typealias Work<Value> =
        @Sendable (MirrorDirectory, Interruption) throws(LocalError) -> Value

    private func onLockedDisk<Value: Sendable>(
        _ work: @escaping Work<Value>
    ) async throws(TransferError) -> Value {
        try await onDisk { directory, interruption throws(LocalError) in
            let lock = try directory.lockWhole(unless: interruption)
            defer { withExtendedLifetime(lock) {} }
            return try work(directory, interruption)
        }
    }

    private func onDisk<Value: Sendable>(
        _ work: @escaping Work<Value>
    ) async throws(TransferError) -> Value {
        let interruption = Interruption()
        let threads = settings.environment.threads
        let queue = BlockingQueue(label: "osssync.trash", width: 1, threads: threads)
        let settings = settings
        do {
            return try await withTaskCancellationHandler {
                try await queue.run {
                    let directory = try settings.open()
                    return try work(directory, interruption)
                }
            } onCancel: {
                interruption.raise()
            }
        } catch {
            throw TransferError(any: error)
        }
    }
}

extension LocalMirror {
    /// What deletions, replacements and conflicts moved away here.
    package var trash: MirrorTrash { MirrorTrash(settings: self) }
}

extension TrashOfRun {
    /// Nil for what no run put there.
    fileprivate var run: (number: Int64, time: Timestamp?)? { number.map { ($0, time) } }
}

extension TrashedFile {
    fileprivate init(_ key: ObjectKey, _ file: FileIdentity, _ run: TrashOfRun) {
        self.init(
            key: key.text,
            displayKey: key.display,
            size: file.size,
            run: run.number,
            removed: run.time.map { StoreTime($0) }
        )
    }
}
