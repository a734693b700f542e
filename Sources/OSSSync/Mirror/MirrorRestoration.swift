internal import OSSBucket
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncEngine
internal import SyncModel

/// Brings back files: the newest version that is not what is there, that of a time or of a run.
///
/// Looks, in this order, at the object in the bucket, the trash here and in the bucket, and the
/// versions that the bucket keeps; for a time at the versions, or where the bucket keeps none, at
/// the trash and the object; for a run at the trash. A file that is replaced goes to the trash
/// here. The object comes by a pull that is limited to its path.
package struct MirrorRestoration: Sendable {
    let local: LocalMirror
    private(set) var mirror: DirectoryMirror?
    /// Why the bucket is not asked any more.
    private var outage: TransferError?
    /// When what is in the trash was removed, once it was needed.
    private var removals: [String: StoreTime]?
    private(set) var options: RunOptions
    let onWarning: @Sendable (String) -> Void

    /// Creates one.
    ///
    /// - Parameters:
    ///   - local: The directory.
    ///   - mirror: The same with its remote; nil to look only at the trash here.
    ///   - options: Those of a pull.
    ///   - onWarning: Called if the bucket cannot be asked, with the reason.
    package init(
        _ local: LocalMirror,
        _ mirror: DirectoryMirror?,
        options: RunOptions,
        onWarning: @escaping @Sendable (String) -> Void
    ) {
        (self.local, self.mirror, self.onWarning) = (local, mirror, onWarning)
        var options = options.restoring
        options.allowsMissingPaths = true
        self.options = options
    }

    /// Restores files, and what is missing beneath directories.
    ///
    /// A file that was asked for by its own path replaces the one that is there; one in a directory
    /// does so only if the request says so.
    ///
    /// - Parameters:
    ///   - request: What comes back, and where.
    ///   - onFile: Called with each file from any thread.
    /// - Returns: What came back.
    /// - Throws: `TransferError`; `locked` while another run is active.
    package func restore(
        _ request: RestoreRequest,
        onFile: @escaping @Sendable (RestoredFile) -> Void
    ) async throws(TransferError) -> RestoreReport {
        var report = RestoreReport()
        var asking = self
        for path in request.paths {
            var one = try await asking.restore(request, path, onFile)
            // The object of a stored link has a name of its own.
            if one.isOnlyMissing, asking.options.links == .store,
                let name = RestoreRequest.linkName(path)
            {
                let link = try await asking.restore(request, name, onFile)
                if link.missing.isEmpty { one = link }
            }
            report.add(one)
        }
        if let outage = asking.outage, report.isOnlyMissing { throw outage.unasked }
        return report
    }

    /// Restores one path; without the bucket from then on, if that cannot be asked.
    private mutating func restore(
        _ request: RestoreRequest,
        _ path: String,
        _ onFile: @escaping @Sendable (RestoredFile) -> Void
    ) async throws(TransferError) -> RestoreReport {
        var one = request
        one.paths = [path]
        guard request.version == .latest else {
            one.replacesFiles = !request.isCopy && !RestoreRequest.isAll(path)
            return try await restoreThen(one, path, onFile)
        }
        var found: Found?
        do throws(TransferError) {
            found = try await look(at: path)
        } catch {
            try leaveBucket(after: error)
        }
        return try await restore(one, path, found, onFile)
    }

    /// Continues without the bucket after an error that keeps it from being asked.
    private mutating func leaveBucket(after error: TransferError) throws(TransferError) {
        guard Self.isOutage(error) else { throw error }
        onWarning(error.message)
        (mirror, outage) = (nil, error)
    }

    /// Restores what was there at a time, or what a run removed.
    ///
    /// What a bucket with versions had, no trash knows as well; copying versions back needs one
    /// manifest.
    private func restoreThen(
        _ request: RestoreRequest,
        _ path: String,
        _ onFile: @escaping @Sendable (RestoredFile) -> Void
    ) async throws(TransferError) -> RestoreReport {
        guard case .at(let time) = request.version, let mirror, try mirror.shards() == nil else {
            return try await restoreFromTrash(request, onFile)
        }
        let found = request.isCopy ? nil : try await look(at: path)
        let written = found?.explanation?.remote?.time
        let isNow = found?.isDirectory == false && written.map { $0 <= time } == true
        if isNow, let repaired = try await repair(request, found, onFile) { return repaired }
        if try await mirror.keepsVersions() {
            return try await restoreVersions(request, .at(time.timestamp), onFile)
        }
        let collected = RestoredItems()
        var report = try await restoreFromTrash(request) { collected.add($0, onFile) }
        // What no run has removed since is in the bucket as it was then.
        if request.isCopy {
            var rest = request
            rest.settledKeys = collected.report.settledKeys
            let missing = report.missing
            report.missing = []
            report.add(try await copy(rest, path, onFile))
            if report == RestoreReport() { report.missing = missing }
            return report
        }
        guard !report.missing.isEmpty, isNow, let found else { return report }
        if found.bringsSomething { return try await pull(request, found, isFile: true, onFile) }
        guard found.explanation?.local != nil else { return report }
        (report.missing, report.unchanged) = ([], report.unchanged + 1)
        return report
    }

    private mutating func restore(
        _ request: RestoreRequest,
        _ path: String,
        _ found: Found?,
        _ onFile: @escaping @Sendable (RestoredFile) -> Void
    ) async throws(TransferError) -> RestoreReport {
        var request = request
        let items = RestoredItems()
        let given = onFile
        let onFile: @Sendable (RestoredFile) -> Void = { items.add($0, given) }
        let isFile = found.map { !$0.isDirectory } ?? false
        let isCopy = request.isCopy
        if !isCopy, isFile { request.replaces = true }
        // What is neither here nor in the bucket may be a directory of which the trash has files.
        if !isCopy, isFile || found == nil && !RestoreRequest.isAll(path) {
            request.replacesFiles = true
        }
        var report = RestoreReport()
        if let found, try await brings(request, found, isFile: isFile) {
            report =
                try await isCopy
                ? copy(request, path, onFile) : pull(request, found, isFile: isFile, onFile)
            if isFile, report.restored > 0 || report.failed > 0 { return report }
        } else if request.outside != nil, RestoreRequest.isAll(path) {
            report = try await copyAll(request, path, onFile)
        }
        if isFile, !isCopy, let repaired = try await repair(request, found, onFile) {
            return repaired
        }
        request.settledKeys = report.settledKeys
        let newest = try await restoreNewestVersions(request, found, onFile)
        report.add(newest)
        request.settledKeys.formUnion(newest.settledKeys)
        var rest = try await restoreFromTrash(request, onFile)
        if report != RestoreReport() { rest.missing = [] }
        if !rest.missing.isEmpty || isFile && rest.restored == 0 && rest.kept == 0,
            newest == RestoreReport(),
            let other = try await restoreFromVersions(request, found, onFile)
        {
            rest = other
        }
        if !rest.missing.isEmpty, request.outside != nil, let mirror {
            // Nothing was removed: the object that is there is the only version.
            rest = try await mirror.restoreObjects(
                request,
                from: .bucket,
                downloading: options,
                onFile: onFile
            )
        }
        if !rest.missing.isEmpty, let rule = found?.exclusion {
            let file = RestoredFile(excluded: path, by: rule)
            (rest, rest.missing) = (RestoreReport(), [])
            rest.add(file)
            onFile(file)
        }
        if !isCopy, found?.isDirectory == true { rest.missing = [] }
        report.add(rest)
        for key in report.lostKeys.subtracting(items.report.settledKeys).sorted() {
            let file = RestoredFile(lost: key)
            report.add(file)
            onFile(file)
        }
        return report
    }

    /// Replaces a file whose content is not that of its object, as only reading it tells, before
    /// an older version comes; nil if it has that content.
    private func repair(
        _ request: RestoreRequest,
        _ found: Found?,
        _ onFile: @escaping @Sendable (RestoredFile) -> Void
    ) async throws(TransferError) -> RestoreReport? {
        guard let found, found.isOnBothSides else { return nil }
        let repaired = try await pull(request, found, isFile: true, reads: true, onFile)
        return repaired.hasNothing ? nil : repaired
    }

    /// True if the bucket has what is not here; a copy reads the file where only that can tell.
    private func brings(
        _ request: RestoreRequest,
        _ found: Found,
        isFile: Bool
    ) async throws(TransferError) -> Bool {
        guard request.isCopy, isFile, found.exclusion == nil, found.isOnBothSides else {
            return found.bringsSomething
        }
        var request = request
        request.isDryRun = true
        return try await repair(request, found) { _ in } != nil
    }

    /// Nil if the path is in neither, or the bucket is not asked.
    private func look(at path: String) async throws(TransferError) -> Found? {
        guard let mirror, !RestoreRequest.isAll(path), try mirror.shards() == nil else {
            return nil
        }
        var pull = options
        pull.replacesLocalChanges = true
        // As the pull of it, which brings back what was freed.
        pull.paths = [path]
        if LocalMirror.isEscaped(path) { pull.names = .escape }
        do throws(TransferError) {
            return Found(explanation: try await mirror.explain(path: path, of: [.pull: pull]))
        } catch {
            guard error.code == .configuration else { throw error }
            let prefix = mirror.remote.prefix + (try LocalMirror.key(path)) + "/"
            for try await _ in try mirror.bucketClient().objects(prefix: prefix) {
                return Found(explanation: nil)
            }
            return nil
        }
    }

    /// Downloads what the bucket has by a pull of the path, which with `reads` compares contents.
    private func pull(
        _ request: RestoreRequest,
        _ found: Found,
        isFile: Bool,
        reads: Bool = false,
        _ onFile: @escaping @Sendable (RestoredFile) -> Void
    ) async throws(TransferError) -> RestoreReport {
        guard let mirror else { return RestoreReport() }
        var options = options
        options.paths = request.paths
        options.isDryRun = request.isDryRun
        options.comparesContent = options.comparesContent || reads
        let replaces = isFile || request.replaces
        options.replacesLocalChanges = replaces
        options.conflictPolicy = replaces ? .remote : .skip
        if request.paths.contains(where: LocalMirror.isEscaped) { options.names = .escape }
        let collected = RestoredItems()
        options.namesExcluded = true
        let isReplaced = isFile && found.explanation?.local != nil
        let done: ItemState = request.isDryRun ? .planned : .done
        let summary = try await mirror.run(.pull, options: options) { event in
            if case .excluded(let key, _, let rule) = event, !local.has(key) {
                collected.add(RestoredFile(excluded: key, by: rule), onFile)
            }
            guard case .item(let item) = event else { return }
            if item.state == done, [.download, .copyLocal].contains(item.action) {
                collected.add(RestoredFile(item, isReplaced ? .replaced : .restored), onFile)
            } else if item.action == .conflict {
                // One that is replaced has an item of its own.
                if !replaces { collected.add(RestoredFile(kept: item), onFile) }
            } else if item.state == .failed || item.state == .skipped && !reads,
                let message = item.message
            {
                guard message != ItemEvent.keptAloneText else { return }
                if message == ItemEvent.lostText { return collected.note(lost: item.key) }
                let isKept = message == ItemEvent.keptText
                collected.add(
                    isKept
                        ? RestoredFile(kept: item) : RestoredFile(notDownloaded: item, message),
                    onFile
                )
            }
        }
        var report = collected.report
        // What a comparison skips stays as it is.
        let skipped = reads ? 0 : summary.skipped - report.lostKeys.count
        report.failed = max(report.failed, summary.failed + skipped)
        return report
    }

    /// The same of the whole mirror, of which nothing was asked yet; not of one that is cut.
    private mutating func copyAll(
        _ request: RestoreRequest,
        _ path: String,
        _ onFile: @escaping @Sendable (RestoredFile) -> Void
    ) async throws(TransferError) -> RestoreReport {
        guard let mirror, try mirror.shards() == nil else { return RestoreReport() }
        do throws(TransferError) {
            return try await copy(request, path, onFile)
        } catch {
            try leaveBucket(after: error)
            return RestoreReport()
        }
    }

    private func restoreFromTrash(
        _ request: RestoreRequest,
        _ onFile: @escaping @Sendable (RestoredFile) -> Void
    ) async throws(TransferError) -> RestoreReport {
        guard let mirror, try await hasRemoteTrash() else {
            return try await local.trash.restore(request, onFile: onFile)
        }
        return try await mirror.restoreFromTrash(request, local, downloading: options, onFile)
    }

    /// Restores the newest version that the bucket keeps and that is not what is here, of a
    /// directory what was deleted in it; nil if the bucket keeps none.
    private func restoreFromVersions(
        _ request: RestoreRequest,
        _ found: Found?,
        _ onFile: @escaping @Sendable (RestoredFile) -> Void
    ) async throws(TransferError) -> RestoreReport? {
        guard let path = request.paths.first, !RestoreRequest.isAll(path),
            try await keepsVersions()
        else { return nil }
        var request = request
        if request.replacesFiles { request.replaces = true }
        guard let found, !found.isDirectory, let explanation = found.explanation else {
            return try await restoreVersions(request, .deleted, onFile)
        }
        let present = explanation.local == nil ? nil : explanation.remote?.etag
        let choice = PastStore.Choice.newest(except: present.map { ETag(wire: $0) })
        return try await restoreVersions(request, choice, onFile)
    }

    /// The same of what no trash has a later version of: of each file the newest one comes back,
    /// wherever it is.
    private mutating func restoreNewestVersions(
        _ request: RestoreRequest,
        _ found: Found?,
        _ onFile: @escaping @Sendable (RestoredFile) -> Void
    ) async throws(TransferError) -> RestoreReport {
        guard try await keepsVersions() else { return RestoreReport() }
        var request = request
        if removals == nil { removals = try await removalTimes() }
        request.removalTimes = removals ?? [:]
        // Without a trash, what is missing in a directory is in the versions alone.
        guard found?.isDirectory == true || !request.removalTimes.isEmpty else {
            return RestoreReport()
        }
        let collected = RestoredItems()
        let report = try await restoreFromVersions(request, found) { collected.add($0, onFile) }
        guard var report else { return RestoreReport() }
        report.missing = []
        report.settledKeys = collected.report.settledKeys
        return report
    }

    private func restoreVersions(
        _ request: RestoreRequest,
        _ choice: PastStore.Choice,
        _ onFile: @escaping @Sendable (RestoredFile) -> Void
    ) async throws(TransferError) -> RestoreReport {
        guard let mirror else { return RestoreReport() }
        return try await mirror.restoreVersions(request, choice, downloading: options) { file in
            var file = file
            file.place = .versions
            onFile(file)
        }
    }
}
