public import Foundation
public import OSSTransfer

extension ResumableDownload {
    /// Makes a download to the file of a URL; the same as
    /// `ResumableDownload.init(from:to:checkpoint:options:onNotice:)` with its path.
    ///
    /// - Parameters:
    ///   - source: What is downloaded.
    ///   - file: A file URL; the file's directory must exist.
    ///   - checkpoint: What an earlier process got from a pause, in place of a record.
    ///   - options: The choices.
    ///   - onNotice: Called from any thread for notices, which are not failures.
    /// - Throws: `TransferError` of code `configuration`, also if the URL is not a file URL.
    public convenience init(
        from source: DownloadSource,
        to file: URL,
        checkpoint: Checkpoint? = nil,
        options: DownloadOptions = DownloadOptions(),
        onNotice: @escaping @Sendable (TransferNotice) -> Void = { _ in }
    ) throws(TransferError) {
        try self.init(
            from: source,
            to: try localPath(of: file),
            checkpoint: checkpoint,
            options: options,
            onNotice: onNotice
        )
    }

    /// The file's URL.
    public var file: URL { URL(fileURLWithPath: path) }

    /// The download to a file that runs in this process.
    ///
    /// As `ResumableDownload.running(at:)` with its path.
    ///
    /// - Returns: Nil also for what is not a file URL.
    public static func running(at file: URL) async -> Transfer<ResumableDownload.Outcome>? {
        guard let path = try? localPath(of: file) else { return nil }
        return await running(at: path)
    }
}

extension ResumableUpload {
    /// The upload of a file to an object that runs in this process.
    ///
    /// As `ResumableUpload.running(of:to:)` with its path.
    ///
    /// - Returns: Nil also for what is not a file URL.
    public static func running(
        of file: URL,
        to target: UploadTarget
    ) async -> Transfer<ResumableUpload.Outcome>? {
        guard let path = try? localPath(of: file) else { return nil }
        return await running(of: path, to: target)
    }

    /// Makes an upload of the file of a URL; the same as
    /// `ResumableUpload.init(of:to:options:onNotice:)` with its path.
    ///
    /// - Parameters:
    ///   - file: A file URL; a symbolic link is followed.
    ///   - target: The object, and by which right it is written.
    ///   - options: The choices.
    ///   - onNotice: Called from any thread for notices, which are not failures.
    /// - Throws: `TransferError` of code `configuration`, also if the URL is not a file URL.
    public convenience init(
        of file: URL,
        to target: UploadTarget,
        options: UploadOptions = UploadOptions(),
        onNotice: @escaping @Sendable (TransferNotice) -> Void = { _ in }
    ) throws(TransferError) {
        try self.init(
            of: try localPath(of: file),
            to: target,
            options: options,
            onNotice: onNotice
        )
    }

    /// Makes an upload of the file of a URL; the same as
    /// `ResumableUpload.init(of:to:key:options:onNotice:)` with its path.
    ///
    /// - Parameters:
    ///   - file: A file URL; a symbolic link is followed.
    ///   - client: The bucket.
    ///   - key: The object's whole key.
    ///   - options: The choices.
    ///   - onNotice: Called from any thread for notices, which are not failures.
    /// - Throws: `TransferError` of code `configuration`, also if the URL is not a file URL.
    public convenience init(
        of file: URL,
        to client: BucketClient,
        key: String,
        options: UploadOptions = UploadOptions(),
        onNotice: @escaping @Sendable (TransferNotice) -> Void = { _ in }
    ) throws(TransferError) {
        try self.init(
            of: try localPath(of: file),
            to: client,
            key: key,
            options: options,
            onNotice: onNotice
        )
    }

    /// The file's URL.
    public var file: URL { URL(fileURLWithPath: path) }
}

extension TransferJob {
    /// An object on its way to the file of a URL.
    ///
    /// - Throws: `TransferError` of code `configuration` for what is not a file URL.
    public static func download(
        _ source: DownloadSource,
        to file: URL,
        options: DownloadOptions = DownloadOptions()
    ) throws(TransferError) -> TransferJob {
        download(source, to: try localPath(of: file), options: options)
    }

    /// The file of a URL on its way to a target, such as an object by signed requests.
    ///
    /// - Throws: `TransferError` of code `configuration` for what is not a file URL.
    public static func upload(
        of file: URL,
        to target: UploadTarget,
        options: UploadOptions = UploadOptions()
    ) throws(TransferError) -> TransferJob {
        upload(of: try localPath(of: file), to: target, options: options)
    }

    /// The file of a URL on its way to an object of a bucket.
    ///
    /// - Throws: `TransferError` of code `configuration` for what is not a file URL.
    public static func upload(
        of file: URL,
        to client: BucketClient,
        key: String,
        options: UploadOptions = UploadOptions()
    ) throws(TransferError) -> TransferJob {
        upload(of: try localPath(of: file), to: client, key: key, options: options)
    }
}

extension PresignedURLs {
    /// URLs that were signed for one object.
    public init(get: URL, head: URL? = nil) {
        self.init(get: get.absoluteString, head: head?.absoluteString)
    }
}

/// The path of a file URL: its bytes, whatever they are.
func localPath(of file: URL) throws(TransferError) -> String {
    guard file.isFileURL else {
        throw TransferError(code: .configuration, message: "a file is named by a file URL only")
    }
    return unsafe file.withUnsafeFileSystemRepresentation { bytes in
        unsafe bytes.map { unsafe String(cString: $0) } ?? file.path
    }
}
