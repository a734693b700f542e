internal import LocalStorage
internal import ManifestStore
internal import SyncModel
internal import SyncPlanner

/// Looks again whether the mirrored directory is still at its path, because everything that the
/// run sees comes from a descriptor: in a directory that was removed or moved away, files are
/// missing that nobody deleted.
struct DirectoryWatch: Sendable {
    private let directory: MirrorDirectory
    private let disk: BlockingQueue
    /// True if the directory had a marker when the run began.
    private let isMarked: Bool

    init(_ context: TransferContext) async throws {
        let directory = context.directory
        (self.directory, disk) = (directory, context.disk)
        isMarked = try await disk.run { () throws(LocalError) in
            do throws(LocalError) {
                return try directory.marker() != nil
            } catch {
                // Another user's, in a directory that this one only reads.
                guard case .systemCall(let call) = error, call.isWriteRefused else { throw error }
                return false
            }
        }
    }

    /// - Throws: That it is not there, or cannot be looked at, which is as much of a doubt.
    func check() async throws(SyncError) {
        let (directory, isMarked) = (directory, isMarked)
        let isThere = await disk.run {
            let found = try? directory.isAtItsPath() && (!isMarked || directory.marker() != nil)
            return found ?? false
        }
        guard !isThere else { return }
        throw SyncError(code: .refused, message: DeletionRefusal.directoryMoved.message)
    }
}

extension MirrorRun {
    /// Deletes what was planned, unless the directory goes away before or meanwhile.
    func deletePlanned(
        _ parts: Parts,
        _ renames: [ObjectKey: LocalRenames.Proven],
        _ watch: DirectoryWatch
    ) async throws {
        let context = parts.context
        do {
            try await DeletionPass(
                context: context,
                executor: parts.executor,
                watch: watch,
                renames: renames
            ).run()
        } catch let error as SyncError where error.code == .refused {
            context.tracker.count { $0.deletionsHeldBack = error.message }
            // The refusal is what counts; the next run drops a plan that is left.
            try? await context.manifest.clearPlannedDeletions(run: context.run)
            throw error
        }
    }
}
