package import SyncModel

/// Where transfers keep what they need to continue after an interruption.
///
/// 1. `beginDownload` and `beginUpload` record a transfer before its first byte is moved.
/// 2. `saveRange` and `savePart` record progress, after the bytes are written or answered.
/// 3. The next attempt reads the checkpoint; `isTrusted` returns which bytes need not be read
///    again.
///
/// A mirror's are in its manifest (`ManifestCheckpoints`), those of a single transfer in a file of
/// its own (`CheckpointFile`). Calls complete also in a cancelled task: the next attempt needs
/// them.
///
/// Not guaranteed: that a checkpoint is true. It may be older than the partial file or of another
/// object, so it is verified before it is used.
package protocol CheckpointStore: Sendable {
    func download(_ key: ObjectKey) async throws(ItemFailure) -> DownloadCheckpoint?
    /// Records a download with its ranges, in place of an earlier one of the same key.
    func beginDownload(_ checkpoint: DownloadCheckpoint) async throws(ItemFailure)
    /// Records how far one range is of the download into `partialName`.
    func saveRange(
        _ key: ObjectKey,
        _ range: RangeProgress,
        partialName: String
    ) async throws(ItemFailure)
    /// Drops the checkpoint and its ranges; nothing happens if there is none.
    func dropDownload(_ key: ObjectKey) async throws(ItemFailure)
    /// Records the identity of the partial file, which is no longer written; if that fails, the
    /// next run must read the file back.
    func sealDownload(
        _ key: ObjectKey,
        _ partial: FileIdentity,
        partialName: String,
        bootID: String
    ) async
    /// True if the recorded bytes of `range` are in the partial file, which is `partial` now; false
    /// if they must be read back to know it.
    func isTrusted(
        _ range: RangeProgress,
        of checkpoint: DownloadCheckpoint,
        in partial: FileIdentity,
        bootID: String
    ) async -> Bool

    func upload(_ key: ObjectKey) async throws(ItemFailure) -> UploadCheckpoint?
    /// Records an upload with its parts, in place of an earlier one of the same key.
    ///
    /// It is durable when this returns, as is the answer to Initiate: the parts of a forgotten
    /// upload would stay in the bucket.
    func beginUpload(_ checkpoint: UploadCheckpoint) async throws(ItemFailure)
    /// Records the answer to Initiate for the upload of `token`; the disk has it when this returns.
    func setUploadID(
        _ key: ObjectKey,
        _ upload: UploadID,
        token: String
    ) async throws(ItemFailure)
    func savePart(
        _ key: ObjectKey,
        _ part: UploadedPart,
        uploadID: UploadID
    ) async throws(ItemFailure)
    /// Drops the checkpoint and its parts; nothing happens if there is none.
    func dropUpload(_ key: ObjectKey) async throws(ItemFailure)
}
