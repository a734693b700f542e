internal import ManifestStore
internal import SyncModel

extension ManifestStore {
    private static let checkpointsAtOnce = 100

    /// The unfinished downloads whose keys lie in the ranges, in key order, a page of them in
    /// memory; `body` may drop what it is given.
    nonisolated func forEachDownload(
        in ranges: KeyRanges,
        _ body: (DownloadCheckpoint) async throws -> Void
    ) async throws {
        for try await page in pages(.downloads, limit: Self.checkpointsAtOnce) {
            for checkpoint in page where ranges.contains(checkpoint.key) {
                try await body(checkpoint)
            }
        }
    }

    /// The same of unfinished uploads.
    nonisolated func forEachUpload(
        in ranges: KeyRanges,
        _ body: (UploadCheckpoint) async throws -> Void
    ) async throws {
        for try await page in pages(.uploads, limit: Self.checkpointsAtOnce) {
            for checkpoint in page where ranges.contains(checkpoint.key) {
                try await body(checkpoint)
            }
        }
    }
}
