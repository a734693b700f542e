internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import SyncModel

/// A verified object in a partial file, ready to be published.
struct FinishedDownload: Sendable {
    let partialName: String
    let object: PinnedObject
    /// Of the bytes received; nil where the store had nothing to hold them against.
    let checksum: CRC64?
    /// Of the bytes received, proven or not.
    let received: CRC64
    /// What the file's mtime becomes; nil if the object has none.
    let modified: Timestamp?
    let lastModified: Timestamp?
    /// True if the row of a checkpoint must be dropped with the publication.
    let hasCheckpoint: Bool
    /// Of the version that was fetched; nil if no answer told it.
    let metadata: ObjectMetadata?
}

/// Carries out what ``DownloadState`` decides, for one object.
struct Downloader: Sendable {
    let means: TransferMeans
    let key: ObjectKey
    let transfer: ProgressTracker.Transfer
    /// Sizes the requests and stops them gently; nil where a kill is all that interrupts.
    var gate: PauseGate?

    /// What the shell knows beside the machine.
    struct Shell {
        var object: PinnedObject
        var effects: [DownloadState.Effect] = []
        var partial: (name: String, file: OpenFile)?
        var hasCheckpoint = false
        var metadata: ObjectMetadata?
        /// The CRC-64 of what came and was not what the store says of the object.
        var disproved: CRC64?
        /// False once a file was taken of which the store proved no more than the size.
        var isProven = true
        var result: Result<FinishedDownload, ItemFailure>?
    }

    enum RangeEnd: Sendable {
        case finished(Int, CRC64, ObjectMetadata)
        case failed(Int, RangeFailure)
    }

    /// Fetches the object into a partial file.
    ///
    /// - Throws: Why it could not be; a checkpoint is kept where the next run can go on from it.
    func run(_ object: RemoteObject) async throws(ItemFailure) -> FinishedDownload {
        let pinned = PinnedObject(etag: object.etag, size: object.size, crc64: nil)
        var state = DownloadState(
            rangeSize: means.partSize,
            streamLimit: means.limits.streamsPerFile
        )
        var shell = Shell(object: pinned)
        shell.effects = await begin(&state, &shell)
        let resumed = transfer.bytesResumed
        means.item(
            .download,
            resumed > 0 ? .resumed : .started,
            key,
            size: object.size,
            resumed: resumed
        )
        while shell.result == nil {
            await runGeneration(&state, &shell)
        }
        guard let result = shell.result else { throw .cancelled }
        return try result.get()
    }

    /// Runs effects and fetches until the end, or until every fetch under way must stop.
    ///
    /// A task group that was cancelled takes no new tasks, so each generation has its own.
    private func runGeneration(_ state: inout DownloadState, _ shell: inout Shell) async {
        await withTaskGroup(of: RangeEnd.self) { group in
            while shell.result == nil {
                guard shell.effects.isEmpty else {
                    let effect = shell.effects.removeFirst()
                    switch effect {
                    case .fetch(let range):
                        guard let partial = shell.partial else { continue }
                        let object = shell.object
                        let name = shell.hasCheckpoint ? partial.name : nil
                        group.addTask {
                            await fetch(range, of: object, into: partial.file, checkpointing: name)
                        }
                    case .cancelFetches:
                        group.cancelAll()
                        while await group.next() != nil {}
                        return
                    default:
                        shell.effects += await perform(effect, &state, &shell)
                    }
                    continue
                }
                guard let end = await group.next() else {
                    shell.result = .failure(.cancelled)
                    return
                }
                handle(end, &state, &shell)
            }
        }
    }

    private func handle(_ end: RangeEnd, _ state: inout DownloadState, _ shell: inout Shell) {
        switch end {
        case .finished(let index, let checksum, let metadata):
            if shell.metadata == nil { shell.metadata = metadata }
            // What a writer said of its object is judged when the object is whole.
            let crc64 = means.store.dialect.computesChecksum ? metadata.crc64 : nil
            if let crc64 { shell.effects += state.learned(crc64) }
            shell.effects += state.finishedRange(index, checksum: checksum)
        case .failed(let index, let failure):
            shell.effects += state.failedRange(index, failure)
        }
    }
}
