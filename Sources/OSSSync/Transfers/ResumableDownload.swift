internal import LocalStorage
internal import ObjectStorage
internal import SyncEngine
internal import SyncModel
internal import Synchronization

/// What became of one call of ``ResumableDownload/resume()``.
public enum DownloadOutcome: Sendable, Hashable {
    /// The file is in its place, complete and verified.
    case finished(DownloadedFile)
    /// `pause()` was called; the checkpoint is what another process needs to resume, nil if nothing
    /// was received yet.
    case paused(Checkpoint?)
    /// `cancel()` was called; nothing is left.
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

/// An attempt of a download that has begun.
struct DownloadAttempt {
    fileprivate let store: any ObjectStore
    fileprivate let gate: PauseGate
}

/// One object on its way to one file, which can be paused and resumed, also by another process.
///
/// ```swift
/// let download = try ResumableDownload(
///     from: .presigned(PresignedURLs(get: getURL, head: headURL)),
///     to: "film.mov"
/// )
/// let outcome = try await download.resume()
/// ```
///
/// Bytes go to a hidden partial file beside the file, which takes the file's place by one rename
/// when all of it is there and verified: at no instant is there a half file under the name. All of
/// them come from one version of the object: the answer to the first request names it, and every
/// other request carries `If-Match`; if the object is replaced, the download starts over and says
/// so. A server that gives no strong ETag, or ignores ranges, is asked for the whole object, which
/// cannot be resumed; a notice says so.
///
/// `resume()` does its work in the task that calls it; `pause()` and `cancel()` are for other
/// tasks.
public final class ResumableDownload: Sendable {
    /// The file's path, as it was given.
    public let path: String
    private let source: DownloadSource
    private let options: DownloadOptions
    private let destination: FileDestination
    private let attempts: TransferAttempts
    private let services: SingleTransfer
    private let madeStore = Mutex<(any ObjectStore)?>(nil)
    /// The checkpoint that the caller provided; used by the first attempt.
    private let given: Mutex<Checkpoint?>

    /// Makes a download; nothing is written and no request is made.
    ///
    /// - Parameters:
    ///   - source: What is downloaded.
    ///   - path: The file's path; its directory must exist. A symbolic link there is replaced.
    ///   - checkpoint: What an earlier process got from `pause()`, in place of a record. One that
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
        destination = try FileDestination(path)
        self.path = path
        self.source = source
        self.options = options
        given = Mutex(checkpoint)
        attempts = TransferAttempts(
            subject: displayText(path),
            streams: options.streams,
            pauseLoss: options.pauseLoss,
            reconnects: options.reconnects,
            progressInterval: options.progressInterval,
            stateWhenCancelled: .cancelled,
            onNotice: onNotice
        )
        services = SingleTransfer(
            subject: source.subject,
            recordDirectory: options.recordDirectory,
            recordName: RecordName.download(source.subject, path),
            partSize: options.partSize,
            attempts: attempts
        )
    }

    private var record: CheckpointFile { services.record }

    deinit { attempts.progressState.end(isOver: true) }

    /// Where the download is.
    public var state: TransferState { attempts.control.current }

    /// How far it is, over all its pauses.
    public var progress: TransferProgressSequence { attempts.progress }

    /// What another process needs to resume; nil if there is nothing to resume.
    ///
    /// While the download runs it is a little behind.
    public var checkpoint: Checkpoint? {
        get async { await record.checkpoint }
    }

    /// Starts, or resumes where an earlier call or process stopped, and returns when the file is
    /// there or the download was paused or cancelled.
    ///
    /// A download that has finished, resumed, is made once more. Cancelling the task ends the call
    /// with an error and keeps what a later call needs.
    ///
    /// - Returns: How it ended.
    /// - Throws: `SyncError`, after all repetitions, with the checkpoint if a later call can go on:
    ///   `notFound`, `needsRestore`; `credentials` if the keys were refused, `forbidden` if they do
    ///   not allow it, `expired` if they or the signed URL have expired and there is no other;
    ///   `objectChanged` if the object was replaced again and again; `corrupt` if twice other bytes
    ///   came than the store states; `unsupportedServer` if the server gives no ETag;
    ///   `remoteUnreachable`; `localState` for the disk; `alreadyExists` for a file that is not to
    ///   be replaced; `alreadyRunning`; `cancelled`.
    public func resume() async throws(SyncError) -> DownloadOutcome {
        try await resume(begin())
    }

    /// A transfer cannot be paused before it has begun; from here on, a pause takes effect.
    func begin() throws(SyncError) -> DownloadAttempt {
        let gate = try attempts.begin()
        do throws(SyncError) {
            return DownloadAttempt(store: try makeStore(), gate: gate)
        } catch {
            throw attempts.end(.failed, error)
        }
    }

    /// Does the work of an attempt that was begun.
    func resume(_ attempt: DownloadAttempt) async throws(SyncError) -> DownloadOutcome {
        let (gate, download) = (attempt.gate, download(attempt.store))
        do throws(SyncError) {
            return try await attempts.run(gate) { () throws(ItemFailure) in
                try await self.prepareRecord()
                return try await download.run(gate: gate)
            } outcome: { ending in
                switch ending {
                case .finished(let finished): .finished(file(finished))
                case .paused: .paused(await record.checkpoint)
                case .cancelled: .cancelled
                }
            }
        } catch {
            throw error.with(checkpoint: await record.checkpoint)
        }
    }

    /// Asks for a pause and waits for nothing.
    package func askForPause() { attempts.control.askForPause() }

    /// Stops at once what runs, and waits for its end; `cancel()` clears up after it.
    func interrupt() async { await attempts.control.stop() }

    /// The caller that asked to keep the record of a finished download no longer needs it.
    func forgetRecord() async throws(ItemFailure) { try await record.dropDownload(source.key) }

    /// How far it is.
    var snapshot: ProgressState.Snapshot { attempts.progressState.snapshot }

    /// Stops the download and returns what another process needs to resume, nil if nothing was
    /// received.
    ///
    /// What has arrived at this machine is received, until no more than
    /// ``DownloadOptions/pauseLoss`` is missing; then the connections are closed, and the call that
    /// runs it returns `paused`. Without one it does nothing.
    @discardableResult
    public func pause() async -> Checkpoint? {
        await attempts.control.pause()
        return await record.checkpoint
    }

    /// Stops the download at once and deletes the partial file, the checkpoint and the record; a
    /// finished file stays.
    ///
    /// - Throws: `SyncError` of code `localState` if something could not be deleted.
    public func cancel() async throws(SyncError) {
        await attempts.control.stop()
        do throws(ItemFailure) {
            try await prepareRecord()
            try await ObjectDownload.discard(source.key, at: destination, services)
        } catch {
            throw SyncError(error, of: displayText(path))
        }
        attempts.giveUp()
    }
}

// MARK: - Attempts

extension ResumableDownload {
    private func download(_ store: any ObjectStore) -> ObjectDownload {
        ObjectDownload(
            settings: ObjectDownload.Settings(
                store: store,
                key: source.key,
                destination: destination,
                replacesFile: options.replacesFile,
                keepsRecord: options.keepsRecord
            ),
            services: services
        )
    }

    /// Made when it is needed: each has a thread and connections of its own.
    private func makeStore() throws(SyncError) -> any ObjectStore {
        try madeStore.withLock { store throws(SyncError) in
            if let store { return store }
            let made = try source.makeStore()
            store = made
            return made
        }
    }

    /// Reads what an earlier process left, the first time.
    private func prepareRecord() async throws(ItemFailure) {
        let isUsable = try await record.load(source.key)
        let checkpoint = given.withLock { given in
            defer { given = nil }
            return given
        }
        let isTaken =
            if let checkpoint { await record.restore(from: checkpoint, source.key) } else {
                isUsable
            }
        if !isTaken { attempts.onNotice(.startedOver(.foreignCheckpoint)) }
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
