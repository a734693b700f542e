internal import LocalStorage
internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Checks again that the mirrored directory is still at its path.
///
/// The run reads through a descriptor: in a directory that was removed or moved away, files are
/// missing that the user did not delete. And that no other machine has taken the mirror.
struct DirectoryWatch: Sendable {
    private let directory: MirrorDirectory
    private let disk: BlockingQueue
    /// True if the directory had a marker when the run began.
    private let isMarked: Bool

    init(_ context: RunContext) async throws {
        let directory = context.directory
        (self.directory, disk) = (directory, context.disk)
        isMarked = try await disk.run { () throws(LocalError) in
            do throws(LocalError) {
                return try directory.markerFile.read() != nil
            } catch {
                // Another user's, in a directory that this one only reads.
                guard case .systemCall(let call) = error, call.isWriteRefused else { throw error }
                return false
            }
        }
    }

    /// - Throws: That it is not there, or cannot be looked at, which is as much of a doubt.
    func check() async throws(TransferError) {
        let (directory, isMarked) = (directory, isMarked)
        do {
            try await disk.run { () throws(LocalError) in try directory.requireLock() }
        } catch {
            throw TransferError(error)
        }
        let isThere = await disk.run {
            let found =
                try? directory.isAtItsPath() && (!isMarked || directory.markerFile.read() != nil)
            return found ?? false
        }
        guard !isThere else { return }
        throw TransferError(code: .refused, message: DeletionRefusal.directoryMoved.message)
    }
}
