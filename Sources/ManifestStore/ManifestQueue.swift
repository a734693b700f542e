internal import Dispatch

/// The one thread at a time on which a store uses SQLite, which blocks: the cooperative pool has
/// only as many threads as there are cores.
final class ManifestQueue: SerialExecutor {
    let queue = DispatchQueue(label: "osssync.manifest")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async {
            unsafe job.runSynchronously(on: self.asUnownedSerialExecutor())
        }
    }
}
