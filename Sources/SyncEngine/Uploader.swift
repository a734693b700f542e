internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import SyncModel

/// An object that is at the service and holds what the file held.
struct FinishedUpload: Sendable {
    let etag: ETag
    let checksum: CRC64?
    let lastModified: Timestamp?
    /// The file's state whose content was sent.
    let source: FileIdentity
    /// True if the row of a checkpoint must be dropped with the record.
    let hasCheckpoint: Bool
    let versionID: VersionID?
    /// What became of the callback, if one was asked for.
    let callback: CallbackEnding?
}

/// What became of a callback of an object that is stored in any case.
package enum CallbackEnding: Sendable, Hashable {
    /// What the callback's server answered.
    case answered([UInt8])
    /// What the service said of it.
    case failed(String)
    /// The object was found by asking for it, after an answer that was lost.
    case unknown
}

/// What an upload's object gets beside its content, and what is done about an earlier attempt.
struct UploadDetails: Sendable {
    /// Nil: by the key's suffix.
    var contentType: String?
    /// The user's own, beside osssync's.
    var userMetadata: [(name: String, value: String)] = []
    var storageClass: StorageClass?
    /// Notes the file's modification time in the metadata, by which a pull gives it back.
    var keepsModificationTime = true
    var callback: UploadCallback?
    /// True if no listing told whether there is an object already.
    var isUnseen = false
    /// False: what an earlier attempt left and is of no use is an error, and not begun again.
    var startsOver = true
}

/// Carries out what ``UploadState`` decides, for one file.
struct Uploader: Sendable {
    /// The metadata that names the upload which made an object, so that a lost answer can be
    /// settled.
    static let tokenMetadataName = StorageDialect.tokenMetadataName
    static let tokenLength = 26

    let means: TransferMeans
    let key: ObjectKey
    let path: RelativePath
    let transfer: ProgressTracker.Transfer
    /// True if the listing had no object of this key: one that exists then is somebody else's.
    let isNew: Bool
    /// The version that the listing had: another one is somebody else's.
    let replaced: ETag?
    var details = UploadDetails()

    /// What the shell knows beside the machine.
    struct Shell {
        let file: OpenFile
        let source: FileIdentity
        var token: String
        /// Of the whole file, where the object's metadata must hold it because the service
        /// computes none; nil for an upload that an earlier run began.
        var announced: CRC64?
        var effects: [UploadState.Effect] = []
        var hasCheckpoint = false
        /// True if the file was touched since the parts of an earlier run were sent: only its
        /// content tells whether it was written.
        var doubtsRecordedParts = false
        /// Parts that the manifest knows, by number.
        var recorded: [PartNumber: UploadPartCheckpoint] = [:]
        var confirmed: (etag: ETag, lastModified: Timestamp?)?
        var versionID: VersionID?
        var callback: CallbackEnding?
        /// True once an upload was begun or gone on with.
        var hasBegun = false
        var result: Result<FinishedUpload, ItemFailure>?
    }

    enum PartEnd: Sendable {
        case sent(UploadState.SentPart)
        case failed(UploadState.Failure)
    }

    /// Sends the file as it is now.
    ///
    /// - Throws: Why it could not be; a checkpoint is kept where the next run can go on from it.
    ///   `sourceKeepsChanging` if the file changed while it was read: nothing was made of it.
    func run() async throws(ItemFailure) -> FinishedUpload {
        let (file, source) = try await open()
        let dialect = means.store.dialect
        let layout = PartLayout(
            objectSize: source.size,
            preferredPartSize: means.partSize,
            minimumPartSize: dialect.minimumPartSize
        )
        guard let layout, source.size <= dialect.maximumObjectSize else {
            throw .tooLarge(size: source.size, limit: dialect.maximumObjectSize)
        }
        let token = try await means.token(of: key)
        var shell = Shell(file: file, source: source, token: token)
        var state: UploadState
        do {
            (state, shell.effects) = try await begin(layout, &shell)
        } catch {
            throw error as? ItemFailure ?? .manifest(message: SyncError(any: error).message)
        }
        while shell.result == nil {
            await runGeneration(&state, layout, &shell)
        }
        guard let result = shell.result else { throw .cancelled }
        return try result.get()
    }

    private func open() async throws(ItemFailure) -> (OpenFile, FileIdentity) {
        let (directory, path) = (means.directory, path)
        do {
            let (file, source) = try await means.disk.run { () throws(LocalError) in
                let file = try directory.openForReading(path)
                return (file, try file.identity())
            }
            if source.size == 0 { try await checkEmpty(file) }
            return (file, source)
        } catch {
            throw ItemFailure(any: error)
        }
    }

    /// Refuses a file whose size is said to be 0 and that has content, as files of `/proc` do:
    /// nobody can tell when all of it was read.
    private func checkEmpty(_ file: OpenFile) async throws {
        let content = try await means.disk.run { () throws(LocalError) in
            try file.read(at: 0, length: 1)
        }
        guard try content.isEmpty || file.identity().size > 0 else {
            throw ItemFailure.local(
                message: "its size is said to be 0, but it has content; copy it to an ordinary file"
                    + " and send that",
                stops: nil
            )
        }
    }

    /// Runs effects and parts until the end, or until every part under way must stop.
    private func runGeneration(
        _ state: inout UploadState,
        _ layout: PartLayout,
        _ shell: inout Shell
    ) async {
        await withTaskGroup(of: PartEnd.self) { group in
            while shell.result == nil {
                guard shell.effects.isEmpty else {
                    let effect = shell.effects.removeFirst()
                    switch effect {
                    case .upload(let upload, let number, let range):
                        let (file, source) = (shell.file, shell.source)
                        group.addTask {
                            await send(upload, number, range, of: file, source)
                        }
                    case .cancelParts:
                        group.cancelAll()
                        while await group.next() != nil {}
                        return
                    default:
                        shell.effects += await perform(effect, &state, layout, &shell)
                    }
                    continue
                }
                guard let end = await group.next() else {
                    shell.result = .failure(.cancelled)
                    return
                }
                switch end {
                case .sent(let part): shell.effects += state.uploaded(part)
                case .failed(let failure): shell.effects += state.failed(failure)
                }
            }
        }
    }
}

extension Uploader {
    /// The machine and its first effects: from a checkpoint that is still true, or from the start.
    func begin(
        _ layout: PartLayout,
        _ shell: inout Shell
    ) async throws -> (UploadState, [UploadState.Effect]) {
        let isMultipart = layout.objectSize > layout.partSize
        let streams = means.limits.streamsPerFile
        if let checkpoint = try await means.records.upload(key) {
            let recorded = PartLayout(
                objectSize: shell.source.size,
                recordedPartSize: checkpoint.partSize
            )
            if let recorded, recorded == layout, let upload = checkpoint.uploadID,
                Self.isSame(checkpoint.source, shell.source)
            {
                shell.hasCheckpoint = true
                shell.doubtsRecordedParts = checkpoint.source != shell.source
                shell.token = checkpoint.token
                for part in checkpoint.parts { shell.recorded[part.number] = part }
                shell.hasBegun = true
                var state = UploadState(
                    layout: layout,
                    isMultipart: true,
                    streamLimit: streams,
                    startsOver: details.startsOver
                )
                let effects = state.resume(upload)
                return (state, effects)
            }
            try await discard(checkpoint)
            // Before an upload has an ID nothing was sent that could start over.
            if checkpoint.uploadID != nil {
                guard details.startsOver else { throw ItemFailure.cannotResume }
                means.onStartOver(.fileChanged)
            }
        }
        var state = UploadState(
            layout: layout,
            isMultipart: isMultipart,
            streamLimit: streams,
            startsOver: details.startsOver
        )
        let effects = state.start()
        return (state, effects)
    }

    /// True if the file is perhaps the one the upload began with.
    private static func isSame(_ recorded: FileIdentity, _ found: FileIdentity) -> Bool {
        recorded.size == found.size && recorded.modified == found.modified
            && recorded.inode == found.inode
    }

    /// Aborts the upload of a checkpoint that is of no use any more, and forgets it.
    private func discard(_ checkpoint: UploadCheckpoint) async throws {
        do {
            try await UploadCleaner(means: means).abort(checkpoint)
        } catch let error as StorageError where error.serviceCode == "AccessDenied" {
            // Whoever may not abort may still upload; the upload's own lifetime ends it.
            means.warn(ofUpload: key, error)
        }
        try await means.records.dropUpload(key)
    }

    func abort(_ upload: UploadID) async throws(ItemFailure) {
        let (store, objectKey) = (means.store, means.objectKey(key))
        try await means.withConnection { () throws(StorageError) in
            try await store.abortMultipartUpload(objectKey, upload)
        }
    }
}
