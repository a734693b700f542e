internal import ObjectTransfer

extension ResumableDownload {
    /// How a download ended when it stopped.
    public enum Outcome: Sendable, Hashable {
        /// The file is in its place, complete and verified.
        case finished(DownloadedFile)
        /// It was paused; the checkpoint is what another process needs to resume, nil if nothing
        /// was received yet.
        case paused(Checkpoint?)
        /// It was cancelled; nothing is left unless the parts were kept.
        case cancelled
    }
}

/// A file that was downloaded.
public struct DownloadedFile: Sendable, Hashable {
    /// The file's path, as it was given.
    public let path: String
    /// What the store says of the object; of its whole, not of a range.
    public let info: ObjectInfo
    /// CRC-64 of the file.
    public let crc64: UInt64
    /// False if the store states nothing of the content, neither CRC-64 nor another digest: then
    /// only its length was compared.
    public let isVerified: Bool

    /// Makes a description, for tests and previews.
    public init(path: String, info: ObjectInfo, crc64: UInt64, isVerified: Bool) {
        self.path = path
        self.info = info
        self.crc64 = crc64
        self.isVerified = isVerified
    }
}

/// One object on its way to one file, which can be paused and resumed, also by another process.
///
/// ```swift
/// let download = try ResumableDownload(
///     from: .presigned(PresignedURLs(get: getURL, head: headURL)),
///     to: "film.mov"
/// )
/// let transfer = download.start()
/// for await progress in transfer.progress { show(progress) }
/// let outcome = try await transfer.value
/// ```
///
/// Bytes go to a hidden partial file beside the file, which takes the file's place by one rename
/// when all of it is there and verified: at no instant is there a half file under the name. All of
/// them come from one version of the object: the answer to the first request names it, and every
/// other request carries `If-Match`; if the object is replaced, the download starts over and says
/// so. A server that gives no strong ETag, or ignores ranges, is asked for the whole object, which
/// cannot be resumed; a notice says so.
public final class ResumableDownload: Sendable {
    /// The file's path, as it was given.
    public let path: String
    /// Pauses, resumes and cancels the download, and says how far it is; also before its start.
    public let transfer: Transfer<ResumableDownload.Outcome>
    private let record: CheckpointFile

    /// Makes a download; nothing is written and no request is made.
    ///
    /// - Parameters:
    ///   - source: What is downloaded.
    ///   - path: The file's path; its directory must exist. A symbolic link there is replaced.
    ///   - checkpoint: What an earlier process got from a pause, in place of a record. One that
    ///     is of no use is not an error: the download starts at the first byte and says so.
    ///   - options: The choices.
    ///   - onNotice: Called from any thread for notices, which are not failures.
    /// - Throws: `TransferError` of code `configuration`.
    public init(
        from source: DownloadSource,
        to path: String,
        checkpoint: Checkpoint? = nil,
        options: DownloadOptions = DownloadOptions(),
        onNotice: @escaping @Sendable (TransferNotice) -> Void = { _ in }
    ) throws(TransferError) {
        let work = try DownloadWork(
            from: source,
            to: path,
            checkpoint: checkpoint,
            options: options,
            isOwned: false,
            onNotice: onNotice
        )
        self.path = path
        record = work.attempts.record
        transfer = Transfer(work, at: RunningTransfers.Place(path: path, object: nil))
    }

    /// The download to a file that runs in this process, such as one whose screen was left.
    ///
    /// - Parameter path: The file's path, however it is spelled.
    /// - Returns: Nil if there is none, or a manager has it.
    public static func running(at path: String) async -> Transfer<ResumableDownload.Outcome>? {
        await RunningTransfers.shared.find(
            at: RunningTransfers.Place(path: path, object: nil)
        )
    }

    /// What another process needs to resume; nil if there is nothing to resume.
    ///
    /// While the download runs it is a little behind.
    public var checkpoint: Checkpoint? {
        get async { await record.checkpoint }
    }

    /// Starts the download, or resumes it where an earlier start or process stopped, and returns at
    /// once.
    ///
    /// The handle's ``Transfer/value`` returns when the file is there or the download was paused or
    /// cancelled. It throws `TransferError`, after all repetitions, with the checkpoint if a later
    /// start resumes: `notFound`, `needsRestore`; `credentials` if the keys were refused,
    /// `forbidden` if they do not allow it, `expired` if they or the signed URL have expired and
    /// there is no other; `objectChanged` if the object was replaced again and again; `corrupt` if
    /// twice other bytes came than the store states; `unsupportedServer` if the server gives no
    /// ETag; `remoteUnreachable`; `localState` for the disk; `alreadyExists` for a file that is not
    /// to be replaced; `alreadyRunning` if another transfer writes the same file, and does not stop
    /// within two seconds. Starting a finished download has no effect.
    ///
    /// - Returns: The handle, ``transfer``.
    @discardableResult
    public func start() -> Transfer<ResumableDownload.Outcome> {
        transfer.resume()
        return transfer
    }

    /// Starts or resumes the download and returns how it ended; cancelling the task stops it at
    /// once and keeps what a later start needs.
    ///
    /// - Returns: How it ended; see ``start()``.
    /// - Throws: `TransferError` as ``start()`` says, and of code `cancelled`, with the checkpoint,
    ///   if the task was cancelled.
    public func run() async throws(TransferError) -> ResumableDownload.Outcome {
        do throws(TransferError) {
            return try await transfer.run()
        } catch {
            // A cancelled task learns of no outcome that could have it.
            throw error.with(checkpoint: await checkpoint)
        }
    }
}
