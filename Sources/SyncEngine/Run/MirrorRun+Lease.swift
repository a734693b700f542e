internal import LocalStorage
internal import ObjectTransfer
internal import SyncModel

/// Where another machine might take the mirror: asking before each change whether it has.
extension MirrorRun {
    /// What a store asks before it changes an object; nil where the kernel's lock is enough.
    static func asking(
        _ session: MirrorSession,
        _ settings: MirrorSettings
    ) -> (@Sendable () async -> Bool)? {
        guard session.lock?.isLeased == true else { return nil }
        let directory = session.directory
        let queue = queue(settings)
        return {
            await queue.run {
                do throws(LocalError) {
                    try directory.requireLock()
                    return true
                } catch {
                    // The run's own look says why.
                    return false
                }
            }
        }
    }

    /// That another process has taken the mirror; nil if none has.
    func lockLoss() async -> SyncError? {
        guard session.lock?.isLeased == true else { return nil }
        let directory = session.directory
        do {
            try await Self.queue(settings).run { () throws(LocalError) in
                try directory.requireLock()
            }
            return nil
        } catch {
            return SyncError(error)
        }
    }

    private static func queue(_ settings: MirrorSettings) -> BlockingQueue {
        BlockingQueue(label: "osssync.lease.look", width: 1, threads: settings.environment.threads)
    }
}
