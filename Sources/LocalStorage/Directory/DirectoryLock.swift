internal import CLibrary
package import SyncModel
internal import Synchronization

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
    /// The mirror's own lock, which the runs of its shards share; nil for that of a whole mirror,
    /// and for a shard of a mirror that this process holds as a whole.
    private let shared: OpenFile?
    /// Nil where the kernel's lock is enough.
    let lease: DirectoryLease?

    /// True if another machine might take it: see ``MirrorDirectory/requireLock()``.
    package var isLeased: Bool { lease != nil }

    private static let maximumTextLength = 256

    /// With `top`, the lock is that of a shard's `state`, and shared for the rest of the mirror.
    ///
    /// - Throws: `lockHeld` with what the holder wrote about itself.
    init(
        root: OpenDirectory,
        state: OpenDirectory,
        top: OpenDirectory?,
        locksRoot: Bool,
        calls: SystemCalls,
        unless interruption: Interruption?,
        onWait: (@Sendable (String) -> Void)?
    ) throws(LocalError) {
        var needsLease = try calls.isNetworkFileSystem(state.descriptor)
        shared = try top.map { top throws(LocalError) in
            try Self.take(in: top, isShared: true, &needsLease)
        }
        file = try Self.take(in: state, isShared: false, &needsLease)
        let secondDescriptor = try calls.open(
            at: root.descriptor,
            PathBytes("."),
            flags: SystemCalls.directoryFlags,
            mode: 0
        )
        self.root = OpenDirectory(adopting: secondDescriptor, calls: calls)
        // Network file systems may not support locks on directories; only the lock file is used
        // there.
        if locksRoot {
            let isFree =
                top == nil
                ? try? calls.lockExclusively(secondDescriptor)
                : try? calls.lockShared(secondDescriptor)
            if isFree == false {
                throw .lockHeld(by: "another process, with another state directory")
            }
        }
        lease =
            needsLease
            ? try DirectoryLease(
                in: state,
                calls: calls,
                unless: interruption,
                onWait: onWait
            ) : nil
        lease?.beginKeeping(calls.leaseHost)
        if let top, lease != nil {
            do throws(LocalError) {
                try Self.requireFree(top, unless: interruption, onWait)
                // That can take minutes, in which this process may have slept.
                try lease?.require()
            } catch {
                lease?.release()
                throw error
            }
        }
        try calls.truncate(file.descriptor, to: 0)
        try file.write([UInt8]((SystemCalls.processDescription + "\n").utf8), at: 0)
    }

    /// Takes the kernel's lock of a state directory, if its file system has any.
    private static func take(
        in state: OpenDirectory,
        isShared: Bool,
        _ needsLease: inout Bool
    ) throws(LocalError) -> OpenFile {
        let calls = state.calls
        let (name, flags) = (PathBytes("lock"), SystemCalls.lockFlags)
        let file = try state.file(name, "lock", flags: flags, mode: 0o600)
        let isFree: Bool
        do throws(LocalError) {
            isFree =
                try isShared
                ? calls.lockShared(file.descriptor) : calls.lockExclusively(file.descriptor)
        } catch {
            guard error.isWithoutLocks else { throw error }
            (isFree, needsLease) = (true, true)
        }
        guard isFree else { throw .lockHeld(by: try holder(in: file)) }
        return file
    }

    /// The file of the lock of a state directory; nil if no run has made it.
    fileprivate static func file(in state: OpenDirectory) throws(LocalError) -> OpenFile? {
        do throws(LocalError) {
            return try state.file(PathBytes("lock"), "lock")
        } catch {
            guard error.errno == ENOENT else { throw error }
            return nil
        }
    }

    /// The process and host that a lock's file names.
    fileprivate static func holder(in file: OpenFile) throws(LocalError) -> String {
        let text = try file.read(at: 0, length: Self.maximumTextLength)
        let line = displayText(text.prefix { $0 != UInt8(ascii: "\n") })
        return line.isEmpty ? "another process" : line
    }

    /// Finds out that nobody holds the lease of a state directory; one of a dead holder is taken
    /// and given back, so that a holder that only slept finds it gone.
    ///
    /// Whoever looks has written its own lease before: of two that look for each other's, at least
    /// one sees the other.
    static func requireFree(
        _ state: OpenDirectory,
        unless interruption: Interruption?,
        _ onWait: (@Sendable (String) -> Void)?
    ) throws(LocalError) {
        guard try LeaseFiles(state: state, calls: state.calls).isTaken else { return }
        try DirectoryLease(
            in: state,
            calls: state.calls,
            unless: interruption,
            onWait: onWait
        ).release()
    }

    /// A child that was forked and did not exec yet shares the descriptors, so closing them would
    /// not be enough.
    deinit {
        lease?.release()
        SystemCalls.unlock(root.descriptor)
        SystemCalls.unlock(file.descriptor)
        if let shared { SystemCalls.unlock(shared.descriptor) }
    }
}

extension MirrorDirectory {
    /// Takes the lock for one run.
    ///
    /// - Parameters:
    ///   - whole: The lock of the mirror that the directory is a shard of, if this process has it.
    ///   - interruption: Ends waiting.
    ///   - onWait: Called where it has to be seen whether a holder on another machine lives.
    /// - Returns: The lock, held as long as it lives.
    /// - Throws: `lockHeld` with the holder's process and host, `interrupted`.
    package func lock(
        within whole: DirectoryLock? = nil,
        unless interruption: Interruption? = nil,
        onWait: (@Sendable (String) -> Void)? = nil
    ) throws(LocalError) -> DirectoryLock {
        let lock = try DirectoryLock(
            root: root,
            state: state.directory,
            top: isOfShard && whole == nil ? sharedState.directory : nil,
            locksRoot: whole == nil,
            calls: calls,
            unless: interruption,
            onWait: onWait
        )
        opened.withLock { ($0.lease, $0.wholeLease) = (lock.lease, whole?.lease) }
        return lock
    }

    /// Finds out, with the lock of the mirror as a whole, that no run of a shard lives: another
    /// machine's, which the kernel's lock may not exclude.
    ///
    /// - Throws: `lockHeld`, `interrupted`.
    package func requireIdle(
        shards: [[String]],
        _ lock: DirectoryLock,
        unless interruption: Interruption? = nil,
        onWait: (@Sendable (String) -> Void)? = nil
    ) throws(LocalError) {
        guard lock.isLeased else { return }
        for shard in shards {
            guard let folder = try state.folder(shard, makes: false) else { continue }
            try DirectoryLock.requireFree(folder.directory, unless: interruption, onWait)
        }
    }

    /// The process and host that hold a shard of the mirror; nil if nobody does.
    package func holder(ofShard folder: [String]) throws(LocalError) -> String? {
        guard let folder = try state.folder(folder, makes: false) else { return nil }
        guard let file = try DirectoryLock.file(in: folder.directory),
            (try? calls.isLocked(file.descriptor)) == true
        else { return nil }
        return try DirectoryLock.holder(in: file)
    }

    /// False if the file system of the state has no locks of ranges, such as SQLite takes.
    package func hasRecordLocks() -> Bool {
        // What no run has locked yet has no manifest either.
        guard let file = try? state.directory.file(PathBytes("lock"), "lock") else { return true }
        return calls.hasRecordLocks(file.descriptor)
    }

    /// True if another machine might take the lock: see ``requireLock()``.
    package var isLeased: Bool {
        opened.withLock { $0.lease != nil || $0.wholeLease != nil }
    }

    /// False if only ``requireLock()`` can say whether a change may begin; asks only the clock.
    package var isLockTrusted: Bool {
        let (own, whole) = opened.withLock { ($0.lease, $0.wholeLease) }
        return own?.isTrusted ?? true && whole?.isTrusted ?? true
    }

    /// Asks before a change whether the lock is still this run's, where another machine might have
    /// taken it.
    ///
    /// - Throws: `leaseLost`.
    package func requireLock() throws(LocalError) {
        let (own, whole) = opened.withLock { ($0.lease, $0.wholeLease) }
        try own?.require()
        try whole?.require()
    }

    /// True while a run holds the lock of this state.
    ///
    /// For an instant the lock is shared: ask only where a run was begun and did not end.
    package var isLocked: Bool {
        get throws(LocalError) {
            guard let file = try DirectoryLock.file(in: state.directory) else { return false }
            do throws(LocalError) {
                return try calls.isLocked(file.descriptor)
            } catch {
                guard error.isWithoutLocks else { throw error }
                return try LeaseFiles(state: state.directory, calls: calls).isHeld
            }
        }
    }
}
