internal import ManifestStore
internal import ObjectStorage
internal import SyncModel
internal import SyncPlanner

/// What unfinished transfers have moved already, for what is only planned.
///
/// A checkpoint counts if it is of the version that would be transferred, and an upload only with
/// parts of the size that is asked for now. Whether the partial file is still as it was, is for the
/// run to find.
struct KeptTransfers: Sendable {
    static let none = KeptTransfers(nil)

    /// There are about as many as connections; what is beyond counts as not kept.
    private static let limit = 10_000

    private struct Download: Sendable {
        let size: Int64
        let etag: ETag
        let bytes: Int64
    }

    private struct Upload: Sendable {
        let source: FileIdentity
        let partSize: Int64
        let bytes: Int64
    }

    private var downloads: [ObjectKey: Download] = [:]
    private var uploads: [ObjectKey: Upload] = [:]

    /// Nil where no upload is to be resumed.
    private let layout: (@Sendable (Int64) -> PartLayout?)?

    private init(_ layout: (@Sendable (Int64) -> PartLayout?)?) { self.layout = layout }

    /// For uploads to `store` with parts of `partSize` bytes.
    init(
        in manifest: ManifestStore,
        _ ranges: KeyRanges,
        _ store: StorageDialect,
        partSize: Int64
    ) async throws {
        var kept = KeptTransfers { size in
            PartLayout(
                objectSize: size,
                preferredPartSize: partSize,
                minimumPartSize: store.minimumPartSize
            )
        }
        try await manifest.forEachDownload(in: ranges) { checkpoint in
            let bytes = InterruptedTransfer(checkpoint).bytesFinished
            guard bytes > 0, kept.downloads.count < Self.limit else { return }
            kept.downloads[checkpoint.key] = Download(
                size: checkpoint.size,
                etag: checkpoint.etag,
                bytes: bytes
            )
        }
        try await manifest.forEachUpload(in: ranges) { checkpoint in
            let bytes = InterruptedTransfer(checkpoint).bytesFinished
            guard bytes > 0, checkpoint.uploadID != nil, kept.uploads.count < Self.limit else {
                return
            }
            kept.uploads[checkpoint.key] = Upload(
                source: checkpoint.source,
                partSize: checkpoint.partSize,
                bytes: bytes
            )
        }
        self = kept
    }

    /// Bytes that need not be moved again if the object is received, or the file is sent.
    func bytes(of entry: JoinedEntry, sends: Bool) -> Int64 {
        if sends {
            guard let upload = uploads[entry.key], let file = entry.local?.identity,
                upload.source.size == file.size, upload.source.modified == file.modified,
                upload.source.inode == file.inode,
                layout?(file.size)?.partSize == upload.partSize
            else { return 0 }
            return upload.bytes
        }
        guard let download = downloads[entry.key], let object = entry.remote,
            download.etag == object.etag, download.size == object.size
        else { return 0 }
        return download.bytes
    }
}
