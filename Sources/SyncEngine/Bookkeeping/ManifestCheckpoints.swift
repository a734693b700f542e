internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel

/// The records of a mirror.
struct ManifestCheckpoints: CheckpointStore {
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
        _ range: RangeProgress,
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
        _ part: UploadedPart,
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
