internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel

/// The records of a mirror.
struct ManifestCheckpoints: CheckpointStore {
    let manifest: ManifestStore

    private func read<Value>(
        _ selection: RowSelection<Value>
    ) async throws(ItemFailure) -> Value? {
        do {
            return try await manifest.first(selection)
        } catch {
            throw ItemFailure(error)
        }
    }

    private func record(
        _ change: ManifestChange,
        isDurable: Bool = false
    ) async throws(ItemFailure) {
        do {
            try await manifest.record(change)
            if isDurable { try await manifest.makeDurable() }
        } catch {
            throw ItemFailure(error)
        }
    }

    func download(_ key: ObjectKey) async throws(ItemFailure) -> DownloadCheckpoint? {
        try await read(.download(key))
    }

    func beginDownload(_ checkpoint: DownloadCheckpoint) async throws(ItemFailure) {
        try await record(.beginDownload(checkpoint))
    }

    func saveRange(
        _ key: ObjectKey,
        _ range: RangeProgress,
        partialName: String
    ) async throws(ItemFailure) {
        try await record(.saveRange(key, range, partialName: partialName))
    }

    func dropDownload(_ key: ObjectKey) async throws(ItemFailure) {
        try await record(.finishDownload(key))
    }

    func sealDownload(
        _ key: ObjectKey,
        _ partial: FileIdentity,
        partialName: String,
        bootID: String
    ) async {
        try? await record(.sealDownload(key, partial, partialName: partialName))
    }

    /// Within one boot the page cache outlives the process, and writing to the file breaks its
    /// seal.
    func isTrusted(
        _ range: RangeProgress,
        of checkpoint: DownloadCheckpoint,
        in partial: FileIdentity,
        bootID: String
    ) async -> Bool {
        !bootID.isEmpty && range.bootID == bootID && checkpoint.seal == partial
    }

    func upload(_ key: ObjectKey) async throws(ItemFailure) -> UploadCheckpoint? {
        try await read(.upload(key))
    }

    func beginUpload(_ checkpoint: UploadCheckpoint) async throws(ItemFailure) {
        try await record(.beginUpload(checkpoint), isDurable: true)
    }

    func setUploadID(
        _ key: ObjectKey,
        _ upload: UploadID,
        token: String
    ) async throws(ItemFailure) {
        try await record(.setUploadID(key, upload, token: token), isDurable: true)
    }

    func savePart(
        _ key: ObjectKey,
        _ part: UploadedPart,
        uploadID: UploadID
    ) async throws(ItemFailure) {
        try await record(.savePart(key, part, uploadID: uploadID))
    }

    func dropUpload(_ key: ObjectKey) async throws(ItemFailure) {
        try await record(.finishUpload(key))
    }
}
