internal import LocalStorage
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import Synchronization

/// How a download ended when it stopped.
public enum DownloadOutcome: Sendable, Hashable {
    /// The file is in its place, complete and verified.
    case finished(DownloadedFile)
    /// It was paused; the checkpoint is what another process needs to resume, nil if nothing was
    /// received yet.
    case paused(Checkpoint?)
    /// It was cancelled; nothing is left unless the parts were kept.
    case cancelled
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
    public let transfer: Transfer<DownloadOutcome>
    private let work: DownloadWork

    /// Makes a download; nothing is written and no request is made.
    ///
    /// - Parameters:
    ///   - source: What is downloaded.
    ///   - path: The file's path; its directory must exist. A symbolic link there is replaced.
    ///   - checkpoint: What an earlier process got from a pause, in place of a record. One that
    ///     is of no use is not an error: the download starts at the first byte and says so.
    ///   - options: The choices.
    ///   - onNotice: Called from any thread for notices, which are not failures.
    /// - Throws: `SyncError` of code `configuration`.
    public init(
        from source: DownloadSource,
        to path: String,
        checkpoint: Checkpoint? = nil,
        options: DownloadOptions = DownloadOptions(),
        onNotice: @escaping @Sendable (TransferNotice) -> Void = { _ in }
    ) throws(SyncError) {
        try options.check()
        let attempts = TransferAttempts(
            subject: displayText(path),
            streams: options.streams,
            pauseLoss: options.pauseLoss,
            reconnects: options.reconnects,
            progressInterval: options.progressInterval,
            onNotice: source.monitor.noting(displayText(path), onNotice),
            onWait: onNotice
        )
        let work = DownloadWork(
            path: path,
            destination: try FileDestination(path),
            source: source,
            options: options,
            attempts: attempts,
            checkpoint: checkpoint
        )
        self.path = path
        self.work = work
        transfer = Transfer(
            attempts,
            Transfer.Work(
                attempt: { (gate) throws(SyncError) in try await work.run(gate) },
                pause: { () throws(SyncError) in .paused(try await work.readCheckpoint()) },
                discard: { () throws(SyncError) in try await work.discard() },
                cancelled: .cancelled
            )
        )
    }

    /// What another process needs to resume; nil if there is nothing to resume.
    ///
    /// While the download runs it is a little behind.
    public var checkpoint: Checkpoint? {
        get async { await work.record.checkpoint }
    }

    /// Starts the download, or resumes it where an earlier start or process stopped, and returns at
    /// once.
    ///
    /// The handle's ``Transfer/value`` returns when the file is there or the download was paused or
    /// cancelled. It throws `SyncError`, after all repetitions, with the checkpoint if a later
    /// start resumes: `notFound`, `needsRestore`; `credentials` if the keys were refused,
    /// `forbidden` if they do not allow it, `expired` if they or the signed URL have expired and
    /// there is no other; `objectChanged` if the object was replaced again and again; `corrupt` if
    /// twice other bytes came than the store states; `unsupportedServer` if the server gives no
    /// ETag; `remoteUnreachable`; `localState` for the disk; `alreadyExists` for a file that is not
    /// to be replaced; `alreadyRunning` if another transfer writes the same file. Starting a
    /// finished download has no effect.
    ///
    /// - Returns: The handle, ``transfer``.
    @discardableResult
    public func start() -> Transfer<DownloadOutcome> {
        transfer.resume()
        return transfer
    }

    /// Starts or resumes the download and returns how it ended; cancelling the task stops it at
    /// once and keeps what a later start needs.
    ///
    /// - Returns: How it ended; see ``start()``.
    /// - Throws: `SyncError` as ``start()`` says, and of code `cancelled`, with the checkpoint, if
    ///   the task was cancelled.
    public func run() async throws(SyncError) -> DownloadOutcome {
        do throws(SyncError) {
            return try await transfer.run()
        } catch {
            // A cancelled task learns of no outcome that could have it.
            throw error.with(checkpoint: await checkpoint)
        }
    }

    /// The caller that asked to keep the record of a finished download no longer needs it.
    func forgetRecord() async throws(ItemFailure) { try await work.forgetRecord() }
}

/// What a download does when its transfer is told to.
struct DownloadWork: Sendable {
    private let path: String
    private let source: DownloadSource
    private let options: DownloadOptions
    private let destination: FileDestination
    private let attempts: TransferAttempts
    private let services: SingleTransfer
    /// The checkpoint that the caller provided; used once.
    private let given: GivenCheckpoint

    init(
        path: String,
        destination: FileDestination,
        source: DownloadSource,
        options: DownloadOptions,
        attempts: TransferAttempts,
        checkpoint: Checkpoint?
    ) {
        self.path = path
        self.destination = destination
        self.source = source
        self.options = options
        self.attempts = attempts
        given = GivenCheckpoint(checkpoint)
        services = SingleTransfer(
            subject: source.subject,
            place: options.recordDirectory.map { directory in
                RecordPlace(
                    directory: directory,
                    identity: options.identity.map { .named($0) } ?? .file(object: nil),
                    file: path,
                    base: options.base,
                    isDownload: true
                )
            },
            partSize: options.partSize,
            attempts: attempts
        )
    }

    var record: CheckpointFile { services.record }

    func run(_ gate: PauseGate) async throws(SyncError) -> DownloadOutcome {
        // Made for each attempt: it has a thread and connections, which a download that has
        // stopped does not need.
        let download = download(try source.makeStore())
        do throws(SyncError) {
            let finished = try await attempts.run(gate) { () throws(ItemFailure) in
                try await self.withRecord { () throws(ItemFailure) in
                    // First, so that a refused second transfer of the file leaves no record.
                    try await self.record.removeLeftovers(of: self.destination)
                    try await self.record.announce()
                    return try await download.run(gate: gate)
                }
            }
            return .finished(file(finished))
        } catch {
            throw error.with(checkpoint: await record.checkpoint)
        }
    }

    /// What another process needs to resume, also from an earlier process.
    func readCheckpoint() async throws(SyncError) -> Checkpoint? {
        try await attempts.reporting { () throws(ItemFailure) in
            try await withRecord { () throws(ItemFailure) in await record.checkpoint }
        }
    }

    func discard() async throws(SyncError) {
        try await attempts.reporting { () throws(ItemFailure) in
            try await withRecord { () throws(ItemFailure) in
                try await ObjectDownload.discard(source.key, at: destination, services)
            }
        }
    }

    func forgetRecord() async throws(ItemFailure) {
        try await withRecord { () throws(ItemFailure) in try await record.forgetDownload() }
    }

    private func download(_ store: any ObjectReader) -> ObjectDownload {
        ObjectDownload(
            settings: ObjectDownload.Settings(
                store: store,
                key: source.key,
                destination: destination,
                replacesFile: options.ifExists == .replace,
                keepsRecord: options.keepsRecord
            ),
            services: services
        )
    }

    /// Reads what there is, and keeps other transfers from it while `body` runs.
    private func withRecord<Value: Sendable>(
        _ body: () async throws(ItemFailure) -> Value
    ) async throws(ItemFailure) -> Value {
        try await record.whileOpen(source.key) { (isUsable) throws(ItemFailure) in
            let isTaken =
                if let checkpoint = given.take() {
                    await record.restore(from: checkpoint, source.key)
                } else {
                    isUsable
                }
            if !isTaken { attempts.onNotice(.startedOver(.foreignCheckpoint)) }
            return try await body()
        }
    }

    private func file(_ finished: ObjectDownload.Finished) -> DownloadedFile {
        DownloadedFile(
            path: path,
            info: ObjectInfo(
                String(decoding: source.key.bytes, as: UTF8.self),
                finished.metadata
            ),
            crc64: finished.checksum.value,
            isVerified: finished.isVerified
        )
    }
}

/// A checkpoint that is used once.
private final class GivenCheckpoint: Sendable {
    private let checkpoint: Mutex<Checkpoint?>

    init(_ checkpoint: Checkpoint?) { self.checkpoint = Mutex(checkpoint) }

    func take() -> Checkpoint? {
        checkpoint.withLock { checkpoint in
            defer { checkpoint = nil }
            return checkpoint
        }
    }
}
