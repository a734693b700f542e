internal import ManifestStore
internal import SyncModel

/// Where transfers keep what they need to go on after an interruption.
///
/// A mirror keeps it in its manifest, a transfer that stands alone in a record of its own. Calls
/// end also if the task is cancelled: the last checkpoint is what the next attempt needs.
protocol TransferRecords: Sendable {
    func download(_ key: ObjectKey) async throws(ItemFailure) -> DownloadCheckpoint?
    /// Records a download with its ranges, in place of an earlier one of the same key.
    func beginDownload(_ checkpoint: DownloadCheckpoint) async throws(ItemFailure)
    /// Records how far one range is of the download into `partialName`.
    func saveRange(
        _ key: ObjectKey,
        _ range: RangeCheckpoint,
        partialName: String
    ) async throws(ItemFailure)
    /// Drops the checkpoint and its ranges; nothing happens if there is none.
    func dropDownload(_ key: ObjectKey) async throws(ItemFailure)
    /// The partial file of the download is at rest and is this; what cannot be recorded costs
    /// reading it back.
    func sealDownload(
        _ key: ObjectKey,
        _ partial: FileIdentity,
        partialName: String,
        bootID: String
    ) async
    /// True if the recorded bytes of `range` are in the partial file, which is `partial` now; false
    /// if they must be read back to know it.
    func vouches(
        for range: RangeCheckpoint,
        of checkpoint: DownloadCheckpoint,
        in partial: FileIdentity,
        bootID: String
    ) async -> Bool

    func upload(_ key: ObjectKey) async throws(ItemFailure) -> UploadCheckpoint?
    /// Records an upload with its parts, in place of an earlier one of the same key.
    ///
    /// The disk has it when this returns, and so with the answer to Initiate: of an upload that
    /// nobody remembers the parts stay in the bucket.
    func beginUpload(_ checkpoint: UploadCheckpoint) async throws(ItemFailure)
    /// Records the answer to Initiate for the upload of `token`; the disk has it when this returns.
    func setUploadID(
        _ key: ObjectKey,
        _ upload: UploadID,
        token: String
    ) async throws(ItemFailure)
    func savePart(
        _ key: ObjectKey,
        _ part: UploadPartCheckpoint,
        uploadID: UploadID
    ) async throws(ItemFailure)
    /// Drops the checkpoint and its parts; nothing happens if there is none.
    func dropUpload(_ key: ObjectKey) async throws(ItemFailure)
}

/// The records of a mirror.
struct ManifestRecords: TransferRecords {
    let manifest: ManifestStore

    private func mapping<Value>(
        _ body: () async throws(ManifestError) -> Value
    ) async throws(ItemFailure) -> Value {
        do throws(ManifestError) {
            return try await body()
        } catch {
            throw ItemFailure(error)
        }
    }

    func download(_ key: ObjectKey) async throws(ItemFailure) -> DownloadCheckpoint? {
        try await mapping { () throws(ManifestError) in
            try await manifest.downloadCheckpoint(key)
        }
    }

    func beginDownload(_ checkpoint: DownloadCheckpoint) async throws(ItemFailure) {
        try await mapping { () throws(ManifestError) in
            try await manifest.beginDownload(checkpoint)
        }
    }

    func saveRange(
        _ key: ObjectKey,
        _ range: RangeCheckpoint,
        partialName: String
    ) async throws(ItemFailure) {
        try await mapping { () throws(ManifestError) in
            try await manifest.saveRange(key, range, partialName: partialName)
        }
    }

    func dropDownload(_ key: ObjectKey) async throws(ItemFailure) {
        try await mapping { () throws(ManifestError) in try await manifest.dropDownload(key) }
    }

    func sealDownload(
        _ key: ObjectKey,
        _ partial: FileIdentity,
        partialName: String,
        bootID: String
    ) async {
        try? await manifest.sealDownload(key, partial, partialName: partialName)
    }

    /// Within one boot the page cache outlives the process, and whoever writes into the file breaks
    /// its seal.
    func vouches(
        for range: RangeCheckpoint,
        of checkpoint: DownloadCheckpoint,
        in partial: FileIdentity,
        bootID: String
    ) async -> Bool {
        !bootID.isEmpty && range.bootID == bootID && checkpoint.seal == partial
    }

    func upload(_ key: ObjectKey) async throws(ItemFailure) -> UploadCheckpoint? {
        try await mapping { () throws(ManifestError) in try await manifest.uploadCheckpoint(key) }
    }

    func beginUpload(_ checkpoint: UploadCheckpoint) async throws(ItemFailure) {
        try await mapping { () throws(ManifestError) in
            try await manifest.beginUpload(checkpoint)
            try await manifest.makeDurable()
        }
    }

    func setUploadID(
        _ key: ObjectKey,
        _ upload: UploadID,
        token: String
    ) async throws(ItemFailure) {
        try await mapping { () throws(ManifestError) in
            try await manifest.setUploadID(key, upload, token: token)
            try await manifest.makeDurable()
        }
    }

    func savePart(
        _ key: ObjectKey,
        _ part: UploadPartCheckpoint,
        uploadID: UploadID
    ) async throws(ItemFailure) {
        try await mapping { () throws(ManifestError) in
            try await manifest.savePart(key, part, uploadID: uploadID)
        }
    }

    func dropUpload(_ key: ObjectKey) async throws(ItemFailure) {
        try await mapping { () throws(ManifestError) in try await manifest.dropUpload(key) }
    }
}
