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

    /// The transfer itself, with its record in `directory`, which the manager removes at its end.
    func work(
        _ id: String,
        directory: String,
        base: String?,
        onNotice: @escaping @Sendable (TransferNotice) -> Void
    ) throws(TransferError) -> any ManagedWork {
        switch content {
        case .download(let source, var options):
            options.recordDirectory = directory
            options.identity = id
            options.base = options.base ?? base
            return Transfer(
                try DownloadWork(
                    from: source,
                    to: path,
                    checkpoint: nil,
                    options: options,
                    isOwned: true,
                    onNotice: onNotice
                )
            )
        case .upload(let target, var options):
            options.recordDirectory = directory
            options.identity = id
            return Transfer(
                try UploadWork(
                    of: path,
                    to: target,
                    options: options,
                    isOwned: true,
                    onNotice: onNotice
                )
            )
        }
    }
}

extension TransferJob {
    /// What a transfer came to.
    public enum Outcome: Sendable, Hashable {
        /// The file is in its place.
        case downloaded(DownloadedFile)
        /// The object is there.
        case uploaded(UploadedObject)
    }
}

/// A download or an upload of a manager.
protocol ManagedWork: Sendable {
    var progress: TransferProgress.Updates { get }
    var snapshot: ProgressState.Snapshot { get }
    func resume()
    func pause()
    func cancel(keepingParts: Bool)
    func networkChanged()
    /// What came of it, once it has stopped; nil if it was stopped by a call.
    func result() async throws(TransferError) -> TransferJob.Outcome?
    /// Deletes what it left unfinished; it does not run.
    func discard() async throws(TransferError)
}

extension Transfer: ManagedWork where Outcome: ManagedOutcome {
    func result() async throws(TransferError) -> TransferJob.Outcome? { try await ending().result }

    func discard() async throws(TransferError) {
        cancel()
        _ = try await value
    }
}

/// What a manager tells of an outcome.
protocol ManagedOutcome {
    /// Nil unless it has finished.
    var result: TransferJob.Outcome? { get }
}

extension ResumableDownload.Outcome: ManagedOutcome {
    var result: TransferJob.Outcome? {
        if case .finished(let file) = self { .downloaded(file) } else { nil }
    }
}

extension ResumableUpload.Outcome: ManagedOutcome {
    var result: TransferJob.Outcome? {
        if case .finished(let object) = self { .uploaded(object) } else { nil }
    }
}
