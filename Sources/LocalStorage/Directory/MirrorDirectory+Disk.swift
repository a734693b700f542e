internal import SyncModel
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension MirrorDirectory {
    /// Makes everything written and renamed so far survive a power cut.
    package func synchronize() throws(LocalError) {
        do throws(LocalError) {
            try calls.synchronizeFileSystem(work.descriptor)
        } catch {
            failedToSynchronize.store(true, ordering: .releasing)
            throw error
        }
    }

    /// True if the disk once failed to take everything.
    ///
    /// Files that were being written then may have lost pages, which the next sync does not report:
    /// the system reports each failure once.
    package var hasFailedToSynchronize: Bool {
        failedToSynchronize.load(ordering: .acquiring)
    }

    /// True if the state is on a file system where SQLite's write-ahead log is not reliable.
    package func stateIsOnNetworkFileSystem() throws(LocalError) -> Bool {
        try calls.isNetworkFileSystem(state.descriptor)
    }

    /// Adds the numbers to a "no space" error of any call.
    package func explained(_ error: LocalError, neededBytes: Int64?) -> LocalError {
        guard case .systemCall(let failed) = error else { return error }
        let resource: DiskShortage.Resource
        // A full disk that cannot be asked for its numbers is still full.
        let free = try? calls.freeSpace(work.descriptor)
        switch failed.errno {
        case ENOSPC: resource = lacksInodes(free?.inodes) ? .inodes : .space
        case EDQUOT: resource = .quota
        default: return error
        }
        return .diskFull(
            DiskShortage(
                resource: resource,
                call: failed.call,
                errno: failed.errno,
                path: failed.path,
                neededBytes: neededBytes,
                freeBytes: free?.bytes
            )
        )
    }
}
