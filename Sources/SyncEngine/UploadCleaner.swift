internal import ManifestStore
internal import ObjectStorage
internal import SyncModel

/// Finds and aborts multipart uploads that are ours and of no use any more.
struct UploadCleaner: Sendable {
    /// How much the service's clock may be behind ours when an upload's age is judged.
    private static let clockTolerance: Int64 = 15 * 60

    let context: TransferContext

    /// Aborts what an InitiateMultipartUpload left whose answer was lost.
    ///
    /// A listing shows no metadata, so only an upload of exactly this key that began no earlier
    /// than ours and has not a single part is taken for ours: nobody loses a byte by its end.
    func abortUnanswered(_ checkpoint: UploadCheckpoint) async throws {
        let objectKey = context.objectKey(checkpoint.key)
        let page = try await context.store.listMultipartUploads(
            ListUploadsRequest(prefix: objectKey)
        )
        for upload in page.uploads where upload.key == objectKey {
            let earliest = checkpoint.started.seconds - Self.clockTolerance
            guard let initiated = upload.initiated, initiated.seconds >= earliest else { continue }
            let parts = try await context.store.listParts(objectKey, upload.upload, after: nil)
            guard parts.parts.isEmpty else { continue }
            try await context.store.abortMultipartUpload(objectKey, upload.upload)
        }
    }
}
