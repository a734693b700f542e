internal import LocalStorage
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

/// How an upload ended when it stopped.
public enum UploadOutcome: Sendable, Hashable {
    /// The object is there and holds what the file held.
    case finished(UploadedObject)
    /// It was paused; the parts that were sent are kept at the store.
    case paused
    /// It was cancelled; nothing is left unless the parts were kept.
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
    public let transfer: Transfer<UploadOutcome>
    private let work: UploadWork

    /// Makes an upload; nothing is written and no request is made.
    ///
    /// - Parameters:
    ///   - path: The file's path; a symbolic link is followed.
    ///   - target: The object, and by which right it is written.
    ///   - options: The choices.
    ///   - onNotice: Called from any thread for notices, which are not failures.
    /// - Throws: `SyncError` of code `configuration`.
    public init(
        of path: String,
        to target: UploadTarget,
        options: UploadOptions = UploadOptions(),
        onNotice: @escaping @Sendable (TransferNotice) -> Void = { _ in }
    ) throws(SyncError) {
        try options.check(for: target.dialect)
        let attempts = TransferAttempts(
            subject: displayText(path),
            streams: options.streams,
            reconnects: options.reconnects,
            progressInterval: options.progressInterval,
            onNotice: target.monitor.noting(displayText(path), onNotice),
            onWait: onNotice
        )
        let work = UploadWork(path: path, target: target, options: options, attempts: attempts)
        self.path = path
        self.work = work
        key = target.key
        transfer = Transfer(
            attempts,
            Transfer.Work(
                attempt: { (gate) throws(SyncError) in try await work.run(gate) },
                pause: { .paused },
                discard: { () throws(SyncError) in try await work.discard() },
                cancelled: .cancelled
            )
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
    /// - Throws: `SyncError` of code `configuration`.
    public convenience init(
        of path: String,
        to client: BucketClient,
        key: String,
        options: UploadOptions = UploadOptions(),
        onNotice: @escaping @Sendable (TransferNotice) -> Void = { _ in }
    ) throws(SyncError) {
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
    /// cancelled. It throws `SyncError`, after all repetitions: `cannotResume` if what was sent is
    /// of no use, because the file changed while it was sent, or, if the options forbid to start
    /// over, because it changed since or the store has forgotten the upload; the next start begins
    /// again. `alreadyExists` if an object is there that must not be replaced; `credentials`,
    /// `forbidden`, `expired`; `remoteUnreachable`; `sourceMissing`; `localState` for the disk;
    /// `configuration` for a file that is too large or metadata that no store takes; `corrupt` if
    /// the store states another CRC-64 than that of what was sent; `alreadyRunning` if another
    /// upload has the same record. Starting a finished upload has no effect.
    ///
    /// - Returns: The handle, ``transfer``.
    @discardableResult
    public func start() -> Transfer<UploadOutcome> {
        transfer.resume()
        return transfer
    }

    /// Starts or resumes the upload and returns how it ended; cancelling the task stops it at once
    /// and keeps what a later start needs.
    ///
    /// - Returns: How it ended; see ``start()``.
    /// - Throws: `SyncError` as ``start()`` says, and of code `cancelled` if the task was
    ///   cancelled.
    public func run() async throws(SyncError) -> UploadOutcome { try await transfer.run() }

    /// The caller that asked to keep the record of a finished upload no longer needs it.
    func forgetRecord() async throws(ItemFailure) { try await work.forgetRecord() }
}

/// What is done for an upload, and its record.
private struct UploadWork: Sendable {
    private let path: String
    private let target: UploadTarget
    private let options: UploadOptions
    private let attempts: TransferAttempts
    private let services: SingleTransfer

    init(
        path: String,
        target: UploadTarget,
        options: UploadOptions,
        attempts: TransferAttempts
    ) {
        self.path = path
        self.target = target
        self.options = options
        self.attempts = attempts
        services = SingleTransfer(
            subject: target.subject,
            place: options.recordDirectory.map { directory in
                RecordPlace(
                    directory: directory,
                    identity: options.identity.map { .named($0) }
                        ?? .file(object: target.object),
                    file: path,
                    base: options.base,
                    isDownload: false
                )
            },
            partSize: options.partSize,
            attempts: attempts
        )
    }

    func run(_ gate: PauseGate) async throws(SyncError) -> UploadOutcome {
        // Made for each attempt: one of signed requests has a thread and connections, which an
        // upload that has stopped does not need.
        let upload = try upload()
        let finished = try await attempts.run(gate) { () throws(ItemFailure) in
            try await self.withRecord { (isUsable) throws(ItemFailure) in
                if !isUsable { self.attempts.onNotice(.startedOver(.foreignCheckpoint)) }
                return try await upload.run()
            }
        }
        return .finished(UploadedObject(key: target.key, finished))
    }

    func discard() async throws(SyncError) {
        let upload = try upload()
        try await attempts.reporting { () throws(ItemFailure) in
            try await withRecord { (_) throws(ItemFailure) in try await upload.discard() }
        }
    }

    func forgetRecord() async throws(ItemFailure) {
        try await withRecord { (_) throws(ItemFailure) in
            try await services.record.dropUpload(ObjectKey(target.key))
        }
    }

    private func upload() throws(SyncError) -> ObjectUpload {
        ObjectUpload(
            settings: ObjectUpload.Settings(target, try target.makeStore(), path, options),
            services: services
        )
    }

    /// Does `body` while no other transfer has the record.
    private func withRecord<Value: Sendable>(
        _ body: (_ isUsable: Bool) async throws(ItemFailure) -> Value
    ) async throws(ItemFailure) -> Value {
        try await services.record.whileOpen(ObjectKey(target.key), body)
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
        _ target: UploadTarget,
        _ store: any ObjectStore,
        _ path: String,
        _ options: UploadOptions
    ) {
        self.init(
            store: store,
            key: ObjectKey(target.key),
            path: path,
            forbidsOverwrite: options.put.ifExists == .fail,
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
