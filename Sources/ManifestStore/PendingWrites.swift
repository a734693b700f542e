internal import SyncModel
internal import Synchronization

/// One row-sized step of a call that writes.
enum ManifestWrite: Sendable {
    case change(ManifestChange)
    case beginDownload(DownloadCheckpoint)
    case saveRange(ObjectKey, RangeProgress, partialName: String)
    case sealDownload(ObjectKey, FileIdentity, partialName: String)
    case beginUpload(UploadCheckpoint)
    case setUploadID(ObjectKey, UploadID, token: String)
    case savePart(ObjectKey, UploadedPart, uploadID: UploadID)
    case planDeletion(PlannedDeletion, RunID)
    case addItem(RunItem, RunID)
}

/// A call that waits for its transaction, or has been through it.
final class PendingCall: Sendable {
    let writes: [ManifestWrite]
    private let outcome = Mutex<Result<Void, ManifestError>?>(nil)

    init(_ writes: [ManifestWrite]) { self.writes = writes }

    func finish(_ result: Result<Void, ManifestError>) {
        outcome.withLock { $0 = result }
    }

    /// Nil while it waits.
    var result: Result<Void, ManifestError>? { outcome.withLock { $0 } }
}

/// The calls that wait for the next transaction, in the order in which they came.
final class PendingWrites: Sendable {
    private let waiting = Mutex<[PendingCall]>([])

    var count: Int { waiting.withLock { $0.count } }

    func append(_ call: PendingCall) {
        waiting.withLock { $0.append(call) }
    }

    /// Takes the oldest calls: one, and those after it that fit into `rowLimit` rows with it.
    func take(rowLimit: Int) -> [PendingCall] {
        waiting.withLock { waiting in
            var rows = 0
            var count = 0
            for call in waiting {
                rows += call.writes.count
                guard count == 0 || rows <= rowLimit else { break }
                count += 1
            }
            let taken = Array(waiting.prefix(count))
            waiting.removeFirst(count)
            return taken
        }
    }
}
