internal import ObjectTransfer

extension ResumableUpload {
    /// How an upload ended when it stopped.
    public enum Outcome: Sendable, Hashable {
        /// The object is there and holds what the file held.
        case finished(UploadedObject)
        /// It was paused; the parts that were sent are kept at the store.
        case paused
        /// It was cancelled; nothing is left unless the parts were kept.
        case cancelled
    }
}

/// An object that was uploaded.
public struct UploadedObject: Sendable, Hashable {
    /// The whole key.
    public let key: String
    /// Bytes.
    public let size: Int64
    /// The tag of the new version, without quotes; opaque.
    public let etag: String
    /// CRC-64 of the object, the store's own where it computes one.
    public let crc64: UInt64?
    /// The version in a versioned bucket.
    public let versionID: String?
    /// What became of the callback that was asked for.
    public let callback: UploadCallback.Reply?

    /// Makes a description, for tests and previews.
    public init(
        key: String,
        size: Int64,
        etag: String,
        crc64: UInt64? = nil,
        versionID: String? = nil,
        callback: UploadCallback.Reply? = nil
    ) {
        self.key = key
        self.size = size
        self.etag = etag
        self.crc64 = crc64
        self.versionID = versionID
        self.callback = callback
    }
}

/// One file on its way to one object, which can be paused and resumed, also by another process.
///
/// ```swift
/// var options = UploadOptions()
/// options.recordDirectory = "uploads"
/// let upload = try ResumableUpload(of: "film.mov", to: client, key: "film.mov", options: options)
/// let transfer = upload.start()
/// let outcome = try await transfer.value
/// ```
///
/// Only the store decides which parts it has: a part counts if its number, size, MD5 and CRC-64
/// match the current file. A file that changes while it is sent never becomes an object that is
/// half one version and half another. The object's CRC-64 is combined from its parts and compared
/// with the store's; after a lost response, a HEAD request finds out whether the object exists with
/// this upload's token in its metadata (`osssync-upload`); nothing is sent again blindly.
public final class ResumableUpload: Sendable {
    /// The file's path, as it was given.
    public let path: String
    /// The object's whole key.
    public let key: String
    /// Pauses, resumes and cancels the upload, and says how far it is; also before its start.
    public let transfer: Transfer<ResumableUpload.Outcome>

    /// Makes an upload; nothing is written and no request is made.
    ///
    /// - Parameters:
    ///   - path: The file's path; a symbolic link is followed.
    ///   - target: The object, and by which right it is written.
    ///   - options: The choices.
    ///   - onNotice: Called from any thread for notices, which are not failures.
    /// - Throws: `TransferError` of code `configuration`.
    public init(
        of path: String,
        to target: UploadTarget,
        options: UploadOptions = UploadOptions(),
        onNotice: @escaping @Sendable (TransferNotice) -> Void = { _ in }
    ) throws(TransferError) {
        self.path = path
        key = target.key
        transfer = Transfer(
            try UploadWork(
                of: path,
                to: target,
                options: options,
                isOwned: false,
                onNotice: onNotice
            ),
            at: RunningTransfers.Place(path: path, object: target.recordedSubject)
        )
    }

    /// The upload of a file to an object that runs in this process.
    ///
    /// - Parameters:
    ///   - path: The file's path, however it is spelled.
    ///   - target: The object.
    /// - Returns: Nil if there is none, or a manager has it.
    public static func running(
        of path: String,
        to target: UploadTarget
    ) async -> Transfer<ResumableUpload.Outcome>? {
        await RunningTransfers.shared.find(
            at: RunningTransfers.Place(path: path, object: target.recordedSubject)
        )
    }

    /// Makes an upload to an object of a bucket that is written with the bucket's credentials.
    ///
    /// - Parameters:
    ///   - path: The file's path; a symbolic link is followed.
    ///   - client: The bucket.
    ///   - key: The object's whole key.
    ///   - options: The choices.
    ///   - onNotice: Called from any thread for notices, which are not failures.
    /// - Throws: `TransferError` of code `configuration`.
    public convenience init(
        of path: String,
        to client: BucketClient,
        key: String,
        options: UploadOptions = UploadOptions(),
        onNotice: @escaping @Sendable (TransferNotice) -> Void = { _ in }
    ) throws(TransferError) {
        try self.init(
            of: path,
            to: .object(client, key: key),
            options: options,
            onNotice: onNotice
        )
    }

    /// Starts the upload, or resumes it where an earlier start or process stopped, and returns at
    /// once.
    ///
    /// The handle's ``Transfer/value`` returns when the object is there or the upload was paused or
    /// cancelled. It throws `TransferError`, after all repetitions: `sourceChanged` if the
    /// file changed while it was sent, and again when it was sent again; `cannotResume`, only if
    /// the options forbid to start over, if it changed or the store has forgotten the upload: the
    /// next start begins again. `alreadyExists` if an object is there that must not be replaced;
    /// `credentials`, `forbidden`, `expired`; `remoteUnreachable`; `sourceMissing`; `localState`
    /// for the disk; `configuration` for a file that is too large or metadata that no store takes;
    /// `corrupt` if the store states another CRC-64 than that of what was sent; `alreadyRunning` if
    /// another upload has the same record, and does not stop within two seconds. Starting a
    /// finished upload has no effect.
    ///
    /// - Returns: The handle, ``transfer``.
    @discardableResult
    public func start() -> Transfer<ResumableUpload.Outcome> {
        transfer.resume()
        return transfer
    }

    /// Starts or resumes the upload and returns how it ended; cancelling the task stops it at once
    /// and keeps what a later start needs.
    ///
    /// - Returns: How it ended; see ``start()``.
    /// - Throws: `TransferError` as ``start()`` says, and of code `cancelled` if the task was
    ///   cancelled.
    public func run() async throws(TransferError) -> ResumableUpload.Outcome {
        try await transfer.run()
    }
}
