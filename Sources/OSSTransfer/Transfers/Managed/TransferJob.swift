internal import ObjectTransfer

/// What a ``TransferManager`` is to transfer: from where, to where, by which right.
///
/// It may hold secrets, and so it is kept in memory only.
public struct TransferJob: Sendable {
    /// The direction of a transfer.
    public enum Kind: String, Sendable, Hashable {
        /// An object to a file.
        case download
        /// A file to an object.
        case upload
    }

    private enum Content: Sendable {
        case download(DownloadSource, DownloadOptions)
        case upload(UploadTarget, UploadOptions)
    }

    /// The file's path.
    public let path: String
    private let content: Content

    /// An object on its way to a file.
    ///
    /// The options' record directory is not used: the manager has its own.
    public static func download(
        _ source: DownloadSource,
        to path: String,
        options: DownloadOptions = DownloadOptions()
    ) -> TransferJob {
        TransferJob(path: path, content: .download(source, options))
    }

    /// A file on its way to an object.
    ///
    /// The options' record directory is not used: the manager has its own.
    public static func upload(
        of path: String,
        to target: UploadTarget,
        options: UploadOptions = UploadOptions()
    ) -> TransferJob {
        TransferJob(path: path, content: .upload(target, options))
    }

    /// A file on its way to an object of a bucket that is written with the bucket's credentials.
    ///
    /// The options' record directory is not used: the manager has its own.
    public static func upload(
        of path: String,
        to client: BucketClient,
        key: String,
        options: UploadOptions = UploadOptions()
    ) -> TransferJob {
        .upload(of: path, to: .object(client, key: key), options: options)
    }

    /// Whether it is a download or an upload.
    public var kind: Kind {
        switch content {
        case .download: .download
        case .upload: .upload
        }
    }

    /// The transfer itself, with its record in `directory`.
    func work(
        _ id: String,
        directory: String,
        base: String?,
        onNotice: @escaping @Sendable (TransferNotice) -> Void
    ) throws(SyncError) -> ManagedWork {
        switch content {
        case .download(let source, var options):
            options.recordDirectory = directory
            options.identity = id
            options.base = options.base ?? base
            options.keepsRecord = true
            return .download(
                try ResumableDownload(
                    from: source,
                    to: path,
                    options: options,
                    onNotice: onNotice
                )
            )
        case .upload(let target, var options):
            options.recordDirectory = directory
            options.identity = id
            options.keepsRecord = true
            return .upload(
                try ResumableUpload(
                    of: path,
                    to: target,
                    options: options,
                    onNotice: onNotice
                )
            )
        }
    }
}

/// What a transfer came to.
public enum TransferResult: Sendable, Hashable {
    /// The file is in its place.
    case downloaded(DownloadedFile)
    /// The object is there.
    case uploaded(UploadedObject)
}

/// A download or an upload.
enum ManagedWork: Sendable {
    case download(ResumableDownload)
    case upload(ResumableUpload)

    /// Starts it; from here on, a pause takes effect.
    func start() {
        switch self {
        case .download(let download): download.start()
        case .upload(let upload): upload.start()
        }
    }

    /// What came of it, once it has stopped; nil if it was stopped by a call.
    func result() async throws(SyncError) -> TransferResult? {
        switch self {
        case .download(let download):
            if case .finished(let file) = try await download.transfer.ending() {
                return .downloaded(file)
            }
        case .upload(let upload):
            if case .finished(let object) = try await upload.transfer.ending() {
                return .uploaded(object)
            }
        }
        return nil
    }

    /// Stops it so that it can be resumed.
    func pause() {
        switch self {
        case .download(let download): download.transfer.pause()
        case .upload(let upload): upload.transfer.pause()
        }
    }

    /// Ends the wait for a network.
    func networkChanged() {
        switch self {
        case .download(let download): download.transfer.networkChanged()
        case .upload(let upload): upload.transfer.networkChanged()
        }
    }

    /// Stops it at once.
    func stop() {
        switch self {
        case .download(let download): download.transfer.cancel(keepingParts: true)
        case .upload(let upload): upload.transfer.cancel(keepingParts: true)
        }
    }

    /// Deletes what it left unfinished; it does not run.
    func discard() async throws(SyncError) {
        switch self {
        case .download(let download):
            download.transfer.cancel()
            _ = try await download.transfer.value
        case .upload(let upload):
            upload.transfer.cancel()
            _ = try await upload.transfer.value
        }
    }

    /// Forgets what a finished transfer kept until its end was written down.
    func forgetRecord() async throws(ItemFailure) {
        switch self {
        case .download(let download): try await download.forgetRecord()
        case .upload(let upload): try await upload.forgetRecord()
        }
    }

    var progress: TransferProgressSequence {
        switch self {
        case .download(let download): download.transfer.progress
        case .upload(let upload): upload.transfer.progress
        }
    }

    var snapshot: ProgressState.Snapshot {
        switch self {
        case .download(let download): download.transfer.snapshot
        case .upload(let upload): upload.transfer.snapshot
        }
    }
}
