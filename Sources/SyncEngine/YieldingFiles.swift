internal import LocalStorage
internal import ManifestStore
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

/// Files that are to give way to directories of their names.
///
/// Each stays until the first thing that needs the directory is complete and only waits for its
/// place: a download that fails must not cost the file. It goes to the trash whatever
/// `--trash-days` says, because no deletion was asked for and no guard of deletions was passed.
final class YieldingFiles: Sendable {
    /// Those that wait are about as many as the queues hold; the bound is for a run in which
    /// everything beneath them fails.
    private static let limit = 10_000

    private struct State {
        /// By the path's bytes, because an error may name it as a directory.
        var waiting: [[UInt8]: JoinedEntry] = [:]
        /// Those that somebody moves, with who else wants to know how that ends.
        var moving: [[UInt8]: [CheckedContinuation<Bool, Never>]] = [:]
        /// The first of those that are gone: who met one of them before may ask after.
        var moved: Set<[UInt8]> = []
    }

    private let context: TransferContext
    private let reports: ItemReports
    private let state = Mutex(State())

    init(context: TransferContext, reports: ItemReports) {
        self.context = context
        self.reports = reports
    }

    /// False if there are too many already.
    func add(_ path: RelativePath, _ entry: JoinedEntry) -> Bool {
        state.withLock { state in
            guard state.waiting.count < Self.limit else { return false }
            state.waiting[path.bytes] = entry
            return true
        }
    }

    /// Moves the file at `path` out of the way; false if it is none that is to give way, or stays.
    func clear(_ path: RelativePath) async -> Bool {
        let entry = state.withLock { state -> JoinedEntry? in
            guard let entry = state.waiting.removeValue(forKey: path.bytes) else { return nil }
            state.moving[path.bytes] = []
            return entry
        }
        guard let entry else { return await end(of: path) }
        let isMoved = await clear(path, entry)
        let others = state.withLock { state in
            if isMoved, state.moved.count < Self.limit { state.moved.insert(path.bytes) }
            return state.moving.removeValue(forKey: path.bytes) ?? []
        }
        for other in others { other.resume(returning: isMoved) }
        return isMoved
    }

    /// How it ends or ended that somebody else moves the file.
    private func end(of path: RelativePath) async -> Bool {
        await withCheckedContinuation { continuation in
            let known = state.withLock { state -> Bool? in
                guard state.moving[path.bytes] != nil else {
                    return state.moved.contains(path.bytes)
                }
                state.moving[path.bytes]?.append(continuation)
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    private func clear(_ path: RelativePath, _ entry: JoinedEntry) async -> Bool {
        guard let file = entry.local?.identity else { return false }
        do {
            try await move(path, entry, file)
        } catch {
            reports.fail(.deleteLocal, entry.key, size: file.size, ItemFailure(any: error))
            return false
        }
        context.tracker.count { $0.deleted += 1 }
        context.keptItem(
            .deleteLocal,
            .done,
            entry.key,
            size: file.size,
            message: "it gives way to a directory: the remote has keys beneath this name"
        )
        // An object of this name is none that the directory can hold, now as in later runs.
        if let object = entry.remote {
            let reason = SkipReason.shadowedByDirectory
            reports.skip(entry.key, size: object.size, message: reason.message)
        }
        return true
    }

    private func move(
        _ path: RelativePath,
        _ entry: JoinedEntry,
        _ file: FileIdentity
    ) async throws {
        let (directory, manifest) = (context.directory, context.manifest)
        let trash = context.yieldedTrashName
        // Where there is still an object of this key, the row goes first: a row without its file
        // would look like a deletion by the user, also after a power cut. What a kill then leaves
        // is a file without a row, which the next run compares with the object. Without an object
        // the row goes last: a file without its row would look like the user's own.
        if entry.remote != nil {
            try await manifest.record([.forget(entry.key)])
            try await manifest.makeDurable()
        }
        var failure: LocalError?
        do throws(LocalError) {
            try await context.disk.run { () throws(LocalError) in
                try directory.moveToTrash(path, expected: file, run: trash)
            }
        } catch {
            failure = error
        }
        if let failure {
            if entry.remote != nil, let base = entry.base {
                try await manifest.record([.upsert(base)])
            }
            throw failure
        }
        if entry.remote == nil {
            try await context.disk.run { () throws(LocalError) in try directory.synchronize() }
            try await manifest.record([.forget(entry.key)])
        }
    }
}
