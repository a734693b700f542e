internal import LocalStorage
internal import ObjectStorage
internal import SyncEngine
internal import SyncModel

/// What became of one call of ``ResumableUpload/resume()``.
public enum UploadOutcome: Sendable, Hashable {
    /// The object is there and holds what the file held.
    case finished(UploadedObject)
    /// `pause()` was called; the parts that were sent are kept at the store.
    case paused
    /// `cancel()` was called.
    case cancelled
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
    public let callback: CallbackReply?
}

/// One file on its way to one object, which can be paused and resumed, also by another process.
///
/// ```swift
/// var options = UploadOptions()
/// options.recordDirectory = "uploads"
/// let upload = try ResumableUpload(of: "film.mov", to: client, key: "film.mov", options: options)
/// let outcome = try await upload.resume()
/// ```
///
/// Only the store decides which parts it has: a part counts if its number, size, MD5 and CRC-64
/// match the current file. A file that changes while it is sent never becomes an object that is
/// half one version and half another. The object's CRC-64 is combined from its parts and compared
/// with the store's; after a lost response, a HEAD request finds out whether the object exists with
/// this upload's token in its metadata (`osssync-upload`); nothing is sent again blindly.
///
/// `resume()` does its work in the task that calls it; `pause()` and `cancel()` are for other
/// tasks.
public final class ResumableUpload: Sendable {
    /// The file's path, as it was given.
    public let path: String
    /// The object's whole key.
    public let key: String
    private let deletesUploadOnCancel: Bool
    private let attempts: TransferAttempts
    private let upload: ObjectUpload

    /// Makes an upload; nothing is written and no request is made.
    ///
    /// - Parameters:
    ///   - path: The file's path; a symbolic link is followed.
    ///   - client: The bucket.
    ///   - key: The object's whole key; the prefix of the client's remote is not put before it.
    ///   - options: The choices.
    ///   - onNotice: Called from any thread for notices, which are not failures.
    /// - Throws: `SyncError` of code `configuration`.
    public init(
        of path: String,
        to client: BucketClient,
        key: String,
        options: UploadOptions = UploadOptions(),
        onNotice: @escaping @Sendable (TransferNotice) -> Void = { _ in }
    ) throws(SyncError) {
        try options.check()
        self.path = path
        self.key = key
        deletesUploadOnCancel = options.deletesUploadOnCancel
        attempts = TransferAttempts(
            subject: displayText(path),
            streams: options.streams,
            reconnects: options.reconnects,
            progressInterval: options.progressInterval,
            stateWhenCancelled: options.deletesUploadOnCancel ? .cancelled : .paused,
            onNotice: onNotice
        )
        let subject = client.subject(of: key)
        upload = ObjectUpload(
            settings: ObjectUpload.Settings(client, key, path, options),
            services: SingleTransfer(
                subject: subject,
                recordDirectory: options.recordDirectory,
                recordName: RecordName.upload(subject, path),
                partSize: options.partSize,
                attempts: attempts
            )
        )
    }

    deinit { attempts.progressState.end(isOver: true) }

    /// Where the upload is.
    public var state: TransferState { attempts.control.current }

    /// How far it is, over all its pauses.
    public var progress: TransferProgressSequence { attempts.progress }

    /// Starts, or resumes where an earlier call or process stopped, and returns when the object is
    /// there or the upload was paused or cancelled.
    ///
    /// An upload that has finished, resumed, is made once more. Cancelling the task ends the call
    /// with an error and keeps what a later call needs.
    ///
    /// - Returns: How it ended.
    /// - Throws: `SyncError`, after all repetitions: `cannotResume` if what was sent is of no use,
    ///   because the file changed while it was sent, or, if the options forbid to start over,
    ///   because it changed since or the store has forgotten the upload; the next call begins
    ///   again.
    ///   `alreadyExists` if an object is there that must not be replaced; `credentials`;
    ///   `remoteUnreachable`; `sourceMissing`; `localState` for the disk; `configuration` for a
    ///   file that is too large or metadata that no store takes; `corrupt` if the store states
    ///   another CRC-64 than that of what was sent; `alreadyRunning`; `cancelled`.
    public func resume() async throws(SyncError) -> UploadOutcome {
        try await resume(begin())
    }

    /// A transfer cannot be paused before it has begun; from here on, a pause takes effect.
    func begin() throws(SyncError) -> PauseGate { try attempts.begin() }

    /// Does the work of an attempt that was begun.
    func resume(_ gate: PauseGate) async throws(SyncError) -> UploadOutcome {
        let (upload, attempts) = (upload, attempts)
        return try await attempts.run(gate) { () throws(ItemFailure) in
            if try await !upload.services.record.load(upload.settings.key) {
                attempts.onNotice(.startedOver(.foreignCheckpoint))
            }
            return try await upload.run()
        } outcome: { ending in
            switch ending {
            case .finished(let finished): .finished(UploadedObject(key: key, finished))
            case .paused: .paused
            case .cancelled: .cancelled
            }
        }
    }

    /// Asks for a pause and waits for nothing.
    package func askForPause() { attempts.control.askForPause() }

    /// Stops at once what runs, and waits for its end; `cancel()` clears up after it.
    func interrupt() async { await attempts.control.stop() }

    /// The caller that asked to keep the record of a finished upload no longer needs it.
    func forgetRecord() async throws(ItemFailure) {
        try await upload.services.record.dropUpload(upload.settings.key)
    }

    /// How far it is.
    var snapshot: ProgressState.Snapshot { attempts.progressState.snapshot }

    /// Stops the upload, so that the call which runs it returns `paused`.
    ///
    /// Without one it does nothing. Parts under way are sent again later, at most one for each
    /// stream.
    public func pause() async {
        await attempts.control.pause()
    }

    /// Stops the upload at once and, unless the options say otherwise, aborts it at the store,
    /// which deletes its parts, and removes the record; a finished object stays.
    ///
    /// Progress also ends if the options keep the parts; another `resume()` continues with them.
    ///
    /// - Throws: `SyncError` if the upload could not be aborted: the record is kept then, and
    ///   another `cancel()` tries again.
    public func cancel() async throws(SyncError) {
        await attempts.control.stop()
        guard deletesUploadOnCancel else { return attempts.giveUp() }
        do throws(ItemFailure) {
            try await upload.services.record.load(upload.settings.key)
            try await upload.discard()
        } catch {
            throw SyncError(error, of: displayText(path))
        }
        attempts.giveUp()
    }
}

extension UploadedObject {
    init(key: String, _ finished: ObjectUpload.Finished) {
        self.init(
            key: key,
            size: finished.size,
            etag: finished.etag.text,
            crc64: finished.checksum?.value,
            versionID: finished.versionID?.text,
            callback: finished.callback.map { CallbackReply($0) }
        )
    }
}

extension ObjectUpload.Settings {
    init(
        _ client: BucketClient,
        _ key: String,
        _ path: String,
        _ options: UploadOptions
    ) {
        self.init(
            store: client.store,
            key: ObjectKey(key),
            path: path,
            forbidsOverwrite: options.put.forbidsOverwrite,
            properties: options.put.properties,
            keepsFileMetadata: options.keepsFileMetadata,
            callback: options.put.callback?.wire,
            startsOver: options.startsOver,
            keepsRecord: options.keepsRecord
        )
    }
}

extension CallbackReply {
    fileprivate init(_ ending: CallbackEnding) {
        self =
            switch ending {
            case .answered(let body): .answered(json: String(decoding: body, as: UTF8.self))
            case .failed(let message): .failed(message: message)
            case .unknown: .unknown
            }
    }
}
