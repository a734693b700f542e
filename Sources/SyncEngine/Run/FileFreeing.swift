internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
package import ObjectTransfer
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

/// Removes local copies of what the bucket has.
///
/// 1. A listing and a walk, as those of a push, find the files that are as recorded and whose
///    objects have the recorded tags and sizes.
///    An encrypted object is shown to be the file, by the store's checksum or by reading it.
/// 2. The paths are noted in the state and the rows are marked, durably: from now on no run takes
///    the files for deleted.
/// 3. Each file goes if it is still the one that the walk saw. Where neither ctime nor inode would
///    show a change, its content is read first.
///
/// Not guaranteed: that the bucket keeps them; what is deleted there meanwhile is gone.
struct FileFreeing {
    private static let rowsAtOnce = 1_000

    let executor: ItemExecutor
    let options: FreeOptions
    let onFile: @Sendable (FreedFile) -> Void

    private struct Candidate {
        let row: ManifestEntry
        let file: FileIdentity
        /// True if only its content tells that it is as recorded.
        let isToBeRead: Bool
    }

    private struct Found {
        var candidates: [Candidate] = []
        /// The paths that the user gave and that were not met yet.
        var missing: Set<ObjectKey>
        var report = FreeReport()
    }

    private var context: RunContext { executor.context }
    private var setup: RunSetup { context.setup }

    func free() async throws -> FreeReport {
        if let wanted = options.freeBytesWanted, try await context.freeBytes() >= wanted {
            return FreeReport()
        }
        var found = try await search()
        try await limit(&found)
        guard !options.run.isDryRun else {
            for candidate in found.candidates { tell(candidate, nil, &found.report) }
            return found.report
        }
        try await keepUnproven(&found)
        guard !found.candidates.isEmpty else { return found.report }
        let isMarked = try await note(found.candidates)
        var kept: Set<ObjectKey> = []
        for candidate in found.candidates {
            try Task.checkCancellation()
            let reason = try await remove(candidate)
            if reason != nil { kept.insert(candidate.row.key) }
            tell(candidate, reason, &found.report)
        }
        if !kept.isEmpty {
            try await takeBack(found.candidates.map(\.row).filter { kept.contains($0.key) })
        }
        // By now there is room.
        if !isMarked { try await mark(found.candidates.filter { !kept.contains($0.row.key) }) }
        try await measure(&found.report)
        return found.report
    }

    // MARK: - What can go

    private func search() async throws -> Found {
        let manifest = setup.session.manifest
        let rows = try await RecordedRows(setup.paths, in: manifest)
        let oldest = options.minimumAge.map { context.environment.now() - $0 }
        var found = Found(missing: Set(setup.paths.paths.map(\.key)))
        let source = PlanSource(setup)
        let loop = try await source.join(
            rows: rows,
            source.scope,
            executor.issues,
            setup.policy,
            passes: { _ in false },
            skips: { _ in false },
            onUnchanged: { _, _ in },
            onEntry: { entry in
                guard case .file(let file)? = entry.local?.kind, entry.local?.isLink == false else {
                    return
                }
                let isNamed = found.missing.remove(entry.key) != nil
                guard !IgnoreFile.isOfMirror(entry.key, in: context.directory) else {
                    if isNamed { keep(entry.key, file.size, Self.rules, &found.report) }
                    return
                }
                guard oldest.map({ file.modified <= $0 }) ?? true else { return }
                add(entry, file, to: &found)
            }
        )
        if let failure = loop.listingFailure { throw failure }
        try await keepOthers(&found)
        keepMounts(&found)
        return found
    }

    /// Names what the user gave and no run mirrors as a file.
    private func keepOthers(_ found: inout Found) async throws {
        let directory = context.directory
        for path in setup.paths.paths where found.missing.contains(path.key) {
            let state = try await context.disk.run { () throws(LocalError) in
                try directory.identity(of: path)
            }
            let reason = "no run mirrors it; 'osssync explain DIR PATH' tells why"
            switch state {
            case .file(let file):
                keep(path.key, file.size, reason, &found.report)
            case .directory where setup.filter.excludes(path.beneath):
                keep(path.beneath, 0, reason, &found.report)
            case .other(let kind):
                keep(path.key, 0, "it is \(kind.description)", &found.report)
            case .absent, .directory: break
            }
        }
    }

    /// Leaves what lies on other mounts, where no pull can put anything.
    private func keepMounts(_ found: inout Found) {
        let mounts = (executor.issues.mountPoints ?? []).map { ObjectKey($0 + [UInt8(ascii: "/")]) }
        guard !mounts.isEmpty else { return }
        let all = found.candidates
        found.candidates = all.filter { candidate in
            guard mounts.contains(where: { candidate.row.key.hasPrefix($0) }) else { return true }
            let reason = "it is on a different disk or mount, where no pull could bring it back"
            keep(candidate.row.key, candidate.file.size, reason, &found.report)
            return false
        }
    }

    /// Leaves files of which the bucket is not shown to have what they were encrypted to.
    private func keepUnproven(_ found: inout Found) async throws {
        guard context.store.cipher != nil else { return }
        let doubts = Mutex<[ObjectKey: String]>([:])
        var rest = found.candidates[...]
        try await forEachBounded(
            limit: options.run.connectionLimit,
            next: { rest.popFirst() },
            body: { candidate in
                guard let doubt = try await doubt(candidate) else { return }
                doubts.withLock { $0[candidate.row.key] = doubt }
            }
        )
        let unproven = doubts.withLock { $0 }
        let all = found.candidates
        found.candidates = all.filter { candidate in
            guard let doubt = unproven[candidate.row.key] else { return true }
            keep(candidate.row.key, candidate.file.size, doubt, &found.report)
            return false
        }
    }

    /// Why an encrypted object is not known to be the file; nil if it is.
    private func doubt(_ candidate: Candidate) async throws -> String? {
        let row = candidate.row
        do {
            let object = try await executor.head(row.key, knownSize: row.size)
            guard object.etag == row.etag, object.size == row.size, object.sealed != nil else {
                return Self.otherObject
            }
            guard row.size > 0 else { return nil }
            let (path, directory) = (try context.path(of: row.key), context.directory)
            let file = try await context.disk.run {
                try ItemExecutor.openForReading(path, in: directory)
            }
            guard try file.identity() == candidate.file else {
                return ItemFailure.sourceKeepsChanging.message
            }
            switch try await context.transfer.compareSealed(file, with: object, of: row.key) {
            case .proven: return nil
            case .contentMismatch(isSure: true): return Self.notEncryptedFromIt
            case .contentMismatch, .unknown: break
            }
            let content = try await context.transfer.fetchedChecksum(row.key, row.etag, row.size)
            return content == row.crc64 ? nil : Self.notEncryptedFromIt
        } catch {
            let failure = ItemFailure(any: error)
            guard failure != .cancelled else { throw CancellationError() }
            return failure.message
        }
    }

    private static let rules = "its rules are needed here"
    private static let otherObject = "its object is not the recorded one"
    private static let notEncryptedFromIt = "its object is not what it was encrypted to"

    private func add(_ entry: JoinedEntry, _ file: FileIdentity, to found: inout Found) {
        guard let row = entry.base, let object = entry.remote else {
            let reason =
                entry.remote == nil
                ? "it is not in the bucket" : "it was never compared with its object"
            return keep(entry.key, file.size, reason, &found.report)
        }
        let change = LocalChange(
            of: entry.local,
            since: row,
            judgesInodes: context.policy.judgesInodes
        )
        if row.isDamaged {
            keep(entry.key, file.size, "it was found damaged", &found.report)
        } else if change == .changed || change == .shortened {
            keep(entry.key, file.size, "it was changed here since the last run", &found.report)
        } else if row.isThroughLink || RemoteChange(of: object, since: row) != .same {
            keep(entry.key, file.size, Self.otherObject, &found.report)
        } else if let local = entry.local, carriedMode(row, local, object, context.policy) != nil {
            keep(entry.key, file.size, "its permissions were not sent yet", &found.report)
        } else {
            let isSeen = change == .same && context.policy.judgesInodes && row.changed != nil
            found.candidates.append(Candidate(row: row, file: file, isToBeRead: !isSeen))
        }
    }

    /// Leaves only as many as are needed for what is to be free, the oldest modification first.
    private func limit(_ found: inout Found) async throws {
        guard let wanted = options.freeBytesWanted else { return }
        var missing = wanted - (try await context.freeBytes())
        var chosen: [Candidate] = []
        for candidate in found.candidates.sorted(by: { $0.file.modified < $1.file.modified }) {
            guard missing > 0 else { break }
            missing -= candidate.file.size
            chosen.append(candidate)
        }
        found.report.isEnough = missing <= 0
        found.report.freeBytes = wanted - missing
        found.candidates = chosen.sorted { $0.row.key < $1.row.key }
    }

    private func measure(_ report: inout FreeReport) async throws {
        guard let wanted = options.freeBytesWanted else { return }
        let free = try await context.freeBytes()
        (report.isEnough, report.freeBytes) = (free >= wanted, free)
    }

    // MARK: - What goes

    /// Makes sure that no later run takes for deleted what goes now.
    ///
    /// - Returns: False if there was no room for the marks of the rows, which only count where the
    ///   list is lost.
    private func note(_ candidates: [Candidate]) async throws -> Bool {
        let freed = try await setup.session.freed.adding(names(of: candidates))
        try freed.check()
        try await setup.session.manifest.setSetting(FreedPaths.ownSetting, "1")
        do throws(TransferError) {
            try freed.write(to: setup.session.directory)
        } catch {
            guard (error.underlying as? LocalError)?.isOutOfRoom == true else { throw error }
            throw TransferError(
                code: .localState,
                message: "the disk is full, also for the list of what is freed, without which "
                    + "nothing goes; delete something else first, such as the trash: 'osssync "
                    + "trash --empty DIR'"
            )
        }
        do throws(ManifestError) {
            try await mark(candidates)
            return true
        } catch {
            guard case .diskFull = error else { throw error }
            return false
        }
    }

    private func mark(_ candidates: [Candidate]) async throws(ManifestError) {
        let manifest = setup.session.manifest
        var rest = candidates[...]
        while !rest.isEmpty {
            let page = rest.prefix(Self.rowsAtOnce)
            try await manifest.record(page.map { .upsert($0.row.freed) })
            rest = rest.dropFirst(Self.rowsAtOnce)
        }
        try await manifest.makeDurable()
    }

    /// The directories among the paths, of which everything is freed, also what is new there later,
    /// and the files that are in none of them.
    private func names(of candidates: [Candidate]) async throws -> [ObjectKey] {
        let isWhole = options.minimumAge == nil && options.freeBytesWanted == nil
        guard isWhole else { return candidates.map(\.row.key) }
        let (directory, paths) = (context.directory, setup.paths.paths)
        let directories = try await context.disk.run { () throws(LocalError) in
            var found: [RelativePath] = []
            for path in paths where try directory.identity(of: path) == .directory {
                found.append(path)
            }
            return found
        }
        let keys = candidates.map(\.row.key)
        let whole = FreedPaths().adding(directories.map(\.beneath)).directories(holding: keys)
        return whole.keys + keys.filter { !whole.contains($0) }
    }

    /// Why the file stays; nil if it is gone.
    private func remove(_ candidate: Candidate) async throws -> String? {
        let (directory, file) = (context.directory, candidate.file)
        do {
            let path = try context.path(of: candidate.row.key)
            if candidate.isToBeRead {
                guard let recorded = candidate.row.crc64 else {
                    return "no checksum of it is recorded"
                }
                // The time of the last change moved if another name of the file went.
                guard case .file(let read) = try await context.state(of: path),
                    read.isVersion(file)
                else { throw ItemFailure.sourceKeepsChanging }
                let checksum = try await executor.checksum(of: path, expected: read)
                guard checksum == recorded else { return "its content is not the recorded one" }
            }
            try await context.closed.writing([path]) { () throws(LocalError) in
                try directory.remove(path, expected: file)
            }
            return nil
        } catch let error as LocalError {
            return ItemFailure(ofChange: error).message
        } catch {
            let failure = ItemFailure(any: error)
            guard failure != .cancelled else { throw CancellationError() }
            return failure.message
        }
    }

    /// What stays here is a file like any other.
    private func takeBack(_ rows: [ManifestEntry]) async throws {
        let kept = Set(rows.map(\.key))
        try await setup.session.manifest.record(rows.map { .upsert($0) })
        let freed = try FreedPaths.read(in: setup.session.directory)
        try freed.removing { kept.contains($0) }.write(to: setup.session.directory)
    }

    private func keep(
        _ key: ObjectKey,
        _ size: Int64,
        _ reason: String,
        _ report: inout FreeReport
    ) {
        report.kept += 1
        onFile(
            FreedFile(
                key: key.text,
                displayKey: key.display,
                size: size,
                reasonKept: reason
            )
        )
    }

    private func tell(_ candidate: Candidate, _ reason: String?, _ report: inout FreeReport) {
        let (key, file) = (candidate.row.key, candidate.file)
        if let reason { return keep(key, file.size, reason, &report) }
        report.files += 1
        if candidate.row.storageClass.isArchived { report.archived += 1 }
        report.bytes = report.bytes.addingClamped(file.size)
        onFile(FreedFile(key: key.text, displayKey: key.display, size: file.size))
    }
}

extension MirrorEngine {
    /// Removes local copies of what the bucket is shown to have, and remembers that they are only
    /// there.
    ///
    /// `onFile` takes each file that was removed, and each that stays with the reason.
    ///
    /// - Throws: `TransferError`: `locked` while another run is active, `configuration` for a path
    ///   that exists nowhere.
    package func free(
        _ options: FreeOptions,
        onFile: @escaping @Sendable (FreedFile) -> Void
    ) async throws(TransferError) -> FreeReport {
        let isDryRun = options.run.isDryRun
        let session = try await MirrorSession.open(
            settings,
            locks: !isDryRun,
            allowsRebinding: false
        )
        let setup = try RunSetup(settings, session, .push, options.run)
        if !isDryRun { try session.requireWritable(settings) }
        try await setup.checkPaths()
        let executor = ItemExecutor(ItemParts(setup))
        do {
            let freeing = FileFreeing(executor: executor, options: options, onFile: onFile)
            let report = try await freeing.free()
            await executor.permissions.closeDirectories()
            if !isDryRun { try await session.manifest.checkpointAndClose() }
            return report
        } catch {
            await executor.permissions.closeDirectories()
            throw TransferError(any: error)
        }
    }
}
