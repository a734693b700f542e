internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import SyncModel

/// Removes what earlier runs left and nobody needs.
struct Housekeeping: Sendable {
    private static let checkpointsAtOnce = 100

    let context: TransferContext

    /// Before a run: partial files without a checkpoint, and old trash.
    func sweepBefore() async throws {
        var known: Set<String> = []
        try await forEachDownload { known.insert($0.partialName) }
        let directory = context.directory
        let days = Int64(context.options.trashDays)
        let now = context.environment.now()
        let limit = Timestamp(seconds: now.seconds - days * 86_400)
        let kept = known
        try await context.disk.run { () throws(LocalError) in
            for name in try directory.partialNames() where !kept.contains(name) {
                try directory.removePartial(name)
            }
            _ = try directory.sweepTrash(olderThan: limit)
        }
    }

    /// After a run in which nothing failed: a checkpoint that is still there belongs to a key that
    /// needs no transfer any more.
    func sweepAfter(_ direction: SyncDirection) async throws {
        if direction != .push {
            var stale: [DownloadCheckpoint] = []
            try await forEachDownload { stale.append($0) }
            for checkpoint in stale { try await drop(checkpoint) }
        }
        if direction != .pull {
            var stale: [UploadCheckpoint] = []
            try await forEachUpload { stale.append($0) }
            for checkpoint in stale { try await drop(checkpoint) }
        }
    }

    func drop(_ checkpoint: DownloadCheckpoint) async throws {
        try await context.manifest.dropDownload(checkpoint.key)
        let directory = context.directory
        try await context.disk.run { () throws(LocalError) in
            try directory.removePartial(checkpoint.partialName)
        }
    }

    func drop(_ checkpoint: UploadCheckpoint) async throws {
        let objectKey = context.objectKey(checkpoint.key)
        if let upload = checkpoint.uploadID {
            try await context.store.abortMultipartUpload(objectKey, upload)
        } else {
            try await UploadCleaner(context: context).abortUnanswered(checkpoint)
        }
        try await context.manifest.dropUpload(checkpoint.key)
    }

    func forEachDownload(_ body: (DownloadCheckpoint) -> Void) async throws {
        var last: ObjectKey?
        while true {
            let page = try await context.manifest.downloadCheckpoints(
                after: last,
                limit: Self.checkpointsAtOnce
            )
            guard let end = page.last else { return }
            for checkpoint in page { body(checkpoint) }
            last = end.key
        }
    }

    func forEachUpload(_ body: (UploadCheckpoint) -> Void) async throws {
        var last: ObjectKey?
        while true {
            let page = try await context.manifest.uploadCheckpoints(
                after: last,
                limit: Self.checkpointsAtOnce
            )
            guard let end = page.last else { return }
            for checkpoint in page { body(checkpoint) }
            last = end.key
        }
    }
}
