internal import SyncModel

/// The one thread at a time on which a store uses SQLite, which blocks: the cooperative pool has
/// only as many threads as there are cores.
final class ManifestQueue: SerialExecutor {
    let begin: BlockingThreads.Start

    init(_ threads: BlockingThreads) {
        begin = threads.makeQueue("osssync.manifest", .serial)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        begin {
            unsafe job.runSynchronously(on: self.asUnownedSerialExecutor())
        }
    }
}
