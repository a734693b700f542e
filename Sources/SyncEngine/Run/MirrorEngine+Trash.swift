internal import LocalStorage
package import ObjectStorage
package import ObjectTransfer
package import SyncModel

/// The trash in the bucket, which pushes and syncs fill with `TrashPlace.remote`.
extension MirrorEngine {
    /// Hands each copy of runs that began at least `age` seconds ago to `onFile`, the oldest run's
    /// first, until that returns false.
    package func listRemoteTrash(
        age: Int64,
        onFile: @escaping @Sendable (TrashedFile) -> Bool
    ) async throws(SyncError) -> TrashReport {
        let limit = limit(age)
        var report = TrashReport()
        do {
            let mark = try await session(locks: false).trashMark(settings.environment)
            try await remoteTrash.forEachPage([]) { copies in
                for copy in copies where copy.run.time.map({ $0 < limit }) ?? false {
                    report.files += 1
                    report.bytes = report.bytes.addingClamped(copy.object.size)
                    let path = try? RelativePath(key: copy.key, links: .skip, names: .escape)
                    var file = TrashedFile(
                        key: path?.text ?? copy.key.text,
                        displayKey: path?.display ?? copy.key.display,
                        size: copy.object.size,
                        run: copy.run.number,
                        removed: copy.run.time.map { StoreTime($0) },
                        isRemote: true
                    )
                    file.host = copy.run.host(unless: mark)
                    guard onFile(file) else { return false }
                }
                return true
            }
            return report
        } catch {
            throw SyncError(any: error)
        }
    }

    /// Deletes the copies of this mirror's runs that began at least `age` seconds ago, by this
    /// machine's clock; while no run of this directory is active.
    package func emptyRemoteTrash(age: Int64) async throws(SyncError) -> TrashReport {
        let limit = limit(age)
        do {
            let session = try await session(locks: true)
            defer { withExtendedLifetime(session.lock) {} }
            let mark = session.trashMark(settings.environment)
            return try await remoteTrash.delete(before: limit, pages: .max) { run in
                run.host(unless: mark) == nil
            }
        } catch {
            throw SyncError(any: error)
        }
    }

    /// When the last run of this machine began that left something, and its number.
    package func lastRunInRemoteTrash() async throws(SyncError) -> (time: StoreTime, number: Int64)?
    {
        do {
            let mark = try await session(locks: false).trashMark(settings.environment)
            let last = try await remoteTrash.runs().last { run in
                run.number != nil && run.name.suffix(mark.utf8.count).elementsEqual(mark.utf8)
            }
            guard let last, let time = last.time, let number = last.number else { return nil }
            return (StoreTime(time), number)
        } catch {
            throw SyncError(any: error)
        }
    }

    /// Copies objects back from the trash, where there are none now, or where those that are there
    /// may be replaced.
    ///
    /// - Parameters:
    ///   - request: What comes back.
    ///   - isUndo: True for the copies of this machine's runs only, whether there are files or not.
    ///   - past: The bucket as it was, whose versions are restored; nil to restore from the trash.
    ///   - readsBucket: True for the objects that are in the bucket now instead of the trash.
    ///   - names: What becomes of keys that fit no file name; one whose path is given is escaped.
    ///   - fetch: Downloads an object to a path, if the request is for outside of the directory, or
    ///     this key may not copy in the bucket.
    ///   - onFile: Called with each, from any thread.
    /// - Returns: What came back, and the paths of objects that are there.
    /// - Throws: `SyncError`; `locked` while another run is active.
    package func restoreObjects(
        _ request: RestoreRequest,
        isUndo: Bool,
        from past: PastStore?,
        readsBucket: Bool = false,
        names: NamePolicy,
        fetch: (
            @Sendable (_ key: ObjectKey, _ past: PastStore?, _ path: String)
                async throws -> Void
        )? = nil,
        onFile: @escaping @Sendable (RestoredFile) -> Void
    ) async throws(SyncError) -> (report: RestoreReport, paths: [String]) {
        let (paths, target) = try request.places()
        var request = request
        request.isUndo = isUndo
        do {
            let session = try await session(locks: !request.isDryRun && request.outside == nil)
            defer { withExtendedLifetime(session.lock) {} }
            // Before anything is copied for a pull that would be refused.
            if !isUndo, !request.isDryRun, request.outside == nil {
                try session.directory.requireOwn()
            }
            if let target, request.outside == nil {
                try session.directory.requireNoState(above: target)
            }
            let mark = session.trashMark(settings.environment)
            let trash = remoteTrash
            let replaces = isUndo || request.replaces || request.replacesFiles
            let runs = replaces ? try await trash.runs() : []
            let name = TrashOfRun.nameOfRestoration(settings.environment.now(), after: runs)
            var traces: RunTraces?
            if isUndo, !request.replaces {
                traces = try await RunTraces(of: runs, in: session.manifest)
            }
            let setup = try RunSetup(settings, session, .push, .standard)
            let outcome = try await ObjectRestorer(
                trash: trash,
                transfer: ItemParts(setup).context.transfer,
                directory: session.directory,
                manifest: session.manifest,
                ignored: session.ignored,
                disk: BlockingQueue(
                    label: "osssync.trash",
                    width: 1,
                    threads: settings.environment.threads
                ),
                request: request,
                mark: isUndo || request.version.isOfRun ? mark : nil,
                bringsFiles: !isUndo,
                traces: traces,
                trashName: name + mark,
                past: past,
                readsBucket: readsBucket,
                names: paths.contains { $0?.isEscaped == true } ? .escape : names,
                fetch: fetch,
                onFile: onFile
            ).restoreOrFetch(paths, to: target, at: settings.environment.now())
            return (outcome.report, outcome.paths)
        } catch {
            throw SyncError(any: error)
        }
    }

    /// The mirror, after the checks of every run: nothing is changed in the bucket for a directory
    /// that is linked with another remote, or with the bucket as it was.
    private func session(locks: Bool) async throws(SyncError) -> MirrorSession {
        try await MirrorSession.open(settings, locks: locks, allowsRebinding: false)
    }

    private var remoteTrash: TrashedObjects {
        let limiter = ConnectionLimiter(
            maximum: RunOptions.standard.connectionLimit,
            monotonic: settings.environment.monotonic,
            sleep: settings.environment.sleep
        )
        return TrashedObjects(store: LimitedStore(settings.store, limiter), prefix: settings.prefix)
    }

    private func limit(_ age: Int64) -> Timestamp {
        guard age > 0 else { return Timestamp(seconds: .max) }
        return Timestamp(seconds: settings.environment.now().seconds - age + 1)
    }
}
