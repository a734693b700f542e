package import SyncModel
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The right to change one mirrored directory and its state, until it is released or the process
/// ends, even by a kill: the kernel holds the lock, so a lock file that a killed process left
/// blocks nothing.
///
/// Where other machines can reach the state, or the file system has no locks, a lease as well: see
/// ``DirectoryLease``.
package final class DirectoryLock: Sendable {
    private let file: OpenFile
    /// Two runs with different state directories meet here.
    private let root: OpenDirectory
    /// Nil where the kernel's lock is enough.
    let lease: DirectoryLease?

    /// True if another machine might take it: see ``MirrorDirectory/requireLock()``.
    package var isLeased: Bool { lease != nil }

    private static let maximumTextLength = 256

    /// - Throws: `lockHeld` with what the holder wrote about itself.
    init(
        root: OpenDirectory,
        state: OpenDirectory,
        calls: SystemCalls,
        unless interruption: Interruption?,
        onWait: (@Sendable (String) -> Void)?
    ) throws(LocalError) {
        let descriptor = try calls.open(
            at: state.descriptor,
            PathBytes("lock"),
            flags: SystemCalls.lockFlags,
            mode: 0o600
        )
        file = OpenFile(adopting: descriptor, name: "lock", calls: calls)
        var needsLease = try calls.isNetworkFileSystem(state.descriptor)
        let isFree: Bool
        do throws(LocalError) {
            isFree = try calls.lockExclusively(descriptor)
        } catch {
            guard error.isWithoutLocks else { throw error }
            (isFree, needsLease) = (true, true)
        }
        guard isFree else {
            let text = try file.read(at: 0, length: Self.maximumTextLength)
            let line = displayText(text.prefix { $0 != UInt8(ascii: "\n") })
            throw .lockHeld(by: line.isEmpty ? "another process" : line)
        }
        let secondDescriptor = try calls.open(
            at: root.descriptor,
            PathBytes("."),
            flags: SystemCalls.directoryFlags,
            mode: 0
        )
        self.root = OpenDirectory(adopting: secondDescriptor, calls: calls)
        // Network file systems may not support locks on directories; only the lock file is used
        // there.
        if (try? calls.lockExclusively(secondDescriptor)) == false {
            throw .lockHeld(by: "another process, with another state directory")
        }
        lease =
            needsLease
            ? try DirectoryLease(
                in: state,
                calls: calls,
                unless: interruption,
                onWait: onWait
            ) : nil
        if let lease { BlockingThreads.system.makeQueue("osssync.lease", .serial)(lease.keep) }
        try calls.truncate(descriptor, to: 0)
        try file.write([UInt8]((SystemCalls.processDescription + "\n").utf8), at: 0)
    }

    /// A child that was forked and did not exec yet shares the descriptors, so closing them would
    /// not be enough.
    deinit {
        lease?.release()
        SystemCalls.unlock(root.descriptor)
        SystemCalls.unlock(file.descriptor)
    }
}

extension MirrorDirectory {
    /// Takes the lock for one run.
    ///
    /// - Parameters:
    ///   - interruption: Ends waiting.
    ///   - onWait: Called where it has to be seen whether a holder on another machine lives.
    /// - Returns: The lock, held as long as it lives.
    /// - Throws: `lockHeld` with the holder's process and host, `interrupted`.
    package func lock(
        unless interruption: Interruption? = nil,
        onWait: (@Sendable (String) -> Void)? = nil
    ) throws(LocalError) -> DirectoryLock {
        let lock = try DirectoryLock(
            root: root,
            state: state,
            calls: calls,
            unless: interruption,
            onWait: onWait
        )
        opened.withLock { $0.lease = lock.lease }
        return lock
    }

    /// False if the file system of the state has no locks of ranges, such as SQLite takes.
    package func hasRecordLocks() -> Bool {
        let descriptor = try? calls.open(
            at: state.descriptor,
            PathBytes("lock"),
            flags: SystemCalls.readingFlags,
            mode: 0
        )
        // What no run has locked yet has no manifest either.
        guard let descriptor else { return true }
        let file = OpenFile(adopting: descriptor, name: "lock", calls: calls)
        return calls.hasRecordLocks(file.descriptor)
    }

    /// Asks before a change whether the lock is still this run's, where another machine might have
    /// taken it.
    ///
    /// - Throws: `leaseLost`.
    package func requireLock() throws(LocalError) {
        try opened.withLock { $0.lease }?.require()
    }

    /// True while a run holds the lock of this state.
    ///
    /// For an instant the lock is shared: ask only where a run was begun and did not end.
    package var isLocked: Bool {
        get throws(LocalError) {
            let descriptor: Int32
            do throws(LocalError) {
                descriptor = try calls.open(
                    at: state.descriptor,
                    PathBytes("lock"),
                    flags: SystemCalls.readingFlags,
                    mode: 0
                )
            } catch {
                guard error.errno == ENOENT else { throw error }
                return false
            }
            let file = OpenFile(adopting: descriptor, name: "lock", calls: calls)
            defer { SystemCalls.unlock(file.descriptor) }
            do throws(LocalError) {
                return try !calls.lockShared(file.descriptor)
            } catch {
                guard error.isWithoutLocks else { throw error }
                return try LeaseFiles(state: state, calls: calls).isHeld
            }
        }
    }
}
