internal import LocalStorage
internal import ObjectTransfer
internal import SyncModel

/// Where another machine might take the mirror: looks before each change whether it has.
struct LeaseLook: Sendable {
    private let directory: MirrorDirectory
    private let queue: BlockingQueue

    /// Nil where the kernel's lock is enough.
    init?(_ session: MirrorSession, _ settings: MirrorSettings) {
        guard session.lock?.isLeased == true else { return nil }
        directory = session.directory
        queue = BlockingQueue(
            label: "osssync.lease.look",
            width: 1,
            threads: settings.environment.threads
        )
    }

    /// What a store asks before it changes an object; the run's own look says why not.
    var question: @Sendable () async -> Bool { { await loss() == nil } }

    /// That another process has taken the mirror; nil if none has.
    func loss() async -> TransferError? {
        let directory = directory
        do {
            try await queue.run { () throws(LocalError) in try directory.requireLock() }
            return nil
        } catch {
            return TransferError(error)
        }
    }
}
