internal import LocalStorage
internal import ObjectStorage
package import ObjectTransfer
package import SyncModel

extension MirrorEngine {
    /// Opens the mirror as a run does that changes nothing.
    package func checkRemote() async throws(TransferError) {
        _ = try await trash.session(locks: false)
    }

    /// Copies objects back from the trash, where there are none now, or where those that are there
    /// may be replaced.
    ///
    /// - Parameters:
    ///   - request: What comes back; of an undo, the copies of this machine's runs only, whether
    ///     there are files or not.
    ///   - origin: Where it comes back from.
    ///   - links: Whether objects of links become links again, where they go to another path.
    ///   - names: What becomes of keys that fit no file name; one whose path is given is escaped.
    ///   - fetch: Downloads an object to a path, if the request is for outside of the directory, or
    ///     this key may not copy in the bucket.
    ///   - onFile: Called with each, from any thread.
    /// - Returns: What came back, and the paths of objects that are there.
    /// - Throws: `TransferError`; `locked` while another run is active.
    package func restoreObjects(
        _ request: RestoreRequest,
        from origin: ObjectOrigin,
        links: LinkPolicy = .skip,
        names: NamePolicy,
        fetch: ObjectFetch? = nil,
        onFile: @escaping @Sendable (RestoredFile) -> Void
    ) async throws(TransferError) -> (report: RestoreReport, paths: [String]) {
        let (paths, target) = try request.places()
        let isUndo = request.isUndo
        do {
            let session = try await self.trash.session(
                locks: !request.isDryRun && request.outside == nil
            )
            defer { withExtendedLifetime(session.lock) {} }
            // Before anything is copied for a pull that would be refused.
            if !isUndo, !request.isDryRun, request.outside == nil {
                try session.directory.requireOwn()
            }
            if let target, request.outside == nil {
                try session.directory.requireNoState(above: target)
            }
            let mark = session.trashMark(settings.environment)
            let trash = self.trash.objects
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
                session: session,
                disk: BlockingQueue(
                    label: "osssync.trash",
                    width: 1,
                    threads: settings.environment.threads
                ),
                request: request,
                mark: isUndo || request.version.isOfRun ? mark : nil,
                traces: traces,
                trashName: name + mark,
                origin: origin,
                links: links,
                names: paths.contains { $0?.isEscaped == true } ? .escape : names,
                fetch: fetch,
                onFile: onFile
            ).restoreOrFetch(paths, to: target, at: settings.environment.now())
            return (outcome.report, outcome.paths)
        } catch {
            throw TransferError(any: error)
        }
    }
}
