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
}
