internal import LocalStorage
package import ObjectStorage
package import SyncModel

/// An object that is at the service and holds what the file held.
package struct FinishedUpload: Sendable {
    package let etag: ETag
    package let checksum: CRC64?
    package let lastModified: Timestamp?
    /// The file's state whose content was sent.
    package let source: FileIdentity
    /// Its bits for owner, group and others; nil for a link.
    package let permissions: UInt32?
    /// True if the row of a checkpoint must be dropped with the record.
    package let hasCheckpoint: Bool
    package let versionID: VersionID?
    /// What became of the callback, if one was asked for.
    package let callback: CallbackEnding?
    /// What its parts contain, if a later upload may copy some of them.
    package let parts: SentParts?
}

/// What became of a callback of an object that is stored in any case.
package enum CallbackEnding: Sendable, Hashable {
    /// What the callback's server answered.
    case answered([UInt8])
    /// What the service said of it.
    case failed(String)
    /// The object was found by asking for it, after an answer that was lost.
    case unknown

    /// Nil if none was asked for.
    package init?(_ result: PutResult) {
        if let failure = result.callbackFailure {
            self = .failed(failure)
        } else if let answer = result.callbackBody {
            self = .answered(answer)
        } else {
            return nil
        }
    }
}

/// Sends one file; ``UploadState`` decides, this carries it out.
///
/// 1. `begin` continues an earlier upload whose parts still fit the file, or starts a new one.
/// 2. Small files go in one PUT, others in parts, several at once; each is recorded when answered.
/// 3. Complete makes the object. A lost answer is resolved by HEAD: the object's token, size and
///    checksum show whose it is.
///
/// A file that changes while it is read is never made an object: `run` throws. One that only
/// becomes longer is sent as it was when it was opened, which is then compared with its beginning.
///
/// Not guaranteed: that nothing is left at the store. An upload that can't be aborted keeps its
/// checkpoint, and the next run aborts it.
package struct Uploader: Sendable {
    let context: TransferContext
    let key: ObjectKey
    let path: RelativePath
    let transfer: TransferCounter
    let details: UploadDetails

    package init(
        context: TransferContext,
        key: ObjectKey,
        path: RelativePath,
        transfer: TransferCounter,
        details: UploadDetails
    ) {
        self.context = context
        self.key = key
        self.path = path
        self.transfer = transfer
        self.details = details
    }

    /// What the shell knows beside the machine.
    struct Attempt {
        let opened: Opened
        /// When this run began to read the file.
        let start: Timestamp
        var token: String
        /// Nil for content that is stored as it is.
        var sealing: SealedUpload?
        /// Of the whole file, where the object's metadata must hold it because the service
        /// computes none; nil for an upload that an earlier run began.
        var declaredChecksum: CRC64?
        var effects: [UploadState.Effect] = []
        var hasCheckpoint = false
        /// True if the file was touched since the parts of an earlier run were sent, or may have
        /// changed unseen: only its content tells whether it was written.
        var doubtsRecordedParts = false
        /// Parts that the manifest knows, by number.
        var recorded: [PartNumber: UploadedPart] = [:]
        var confirmed: (etag: ETag, lastModified: Timestamp?)?
        var versionID: VersionID?
        var callback: CallbackEnding?
        /// What the object was made of.
        var completed: [UploadedPart] = []
        /// True once an upload was begun or gone on with.
        var hasBegun = false
        var result: Result<FinishedUpload, ItemFailure>?
    }

    enum PartEnd: Sendable {
        case sent(UploadedPart)
        case failed(UploadState.Failure)
    }

    /// Sends the file as it is now.
    ///
    /// - Throws: Why it could not be; a checkpoint is kept where the next run can go on from it.
    ///   `sourceKeepsChanging` if the file changed while it was read: nothing was made of it.
    package func run() async throws(ItemFailure) -> FinishedUpload {
        let start = context.environment.now()
        let opened = try await open()
        let source = opened.source
        let dialect = context.store.dialect
        let size = context.store.storedSize(of: source.size)
        let layout =
            recordedLayout(size)
            ?? PartLayout(
                objectSize: size,
                preferredPartSize: context.partSize,
                minimumPartSize: dialect.minimumPartSize
            )
        guard let layout, size <= dialect.maximumObjectSize else {
            throw .tooLarge(size: source.size, limit: dialect.maximumObjectSize)
        }
        let token = try await context.uploadToken(key, source.size)
        var attempt = Attempt(opened: opened, start: start, token: token)
        seal(&attempt)
        var state: UploadState
        do {
            (state, attempt.effects) = try await begin(layout, &attempt)
        } catch {
            throw ItemFailure(ofSource: error)
        }
        while attempt.result == nil {
            await runGeneration(&state, layout, &attempt)
        }
        guard let result = attempt.result.take() else { throw .cancelled }
        return try result.get()
    }

    /// The parts of the version that is replaced, if some of them may be copied, and they are not
    /// smaller than wished.
    private func recordedLayout(_ size: Int64) -> PartLayout? {
        guard let source = details.copies?.source, source.partSize >= context.partSize,
            size > source.partSize
        else { return nil }
        return PartLayout(objectSize: size, recordedPartSize: source.partSize)
    }

    /// Begins anew with what follows from the token.
    func seal(_ attempt: inout Attempt) {
        guard let cipher = context.store.cipher else { return }
        let opened = attempt.opened
        attempt.sealing = SealedUpload(
            cipher,
            token: attempt.token,
            of: context.objectKey(key),
            opened.file,
            opened.source,
            content: opened.content
        )
    }

    /// The file, as it is sent.
    struct Opened {
        let file: OpenFile
        let source: FileIdentity
        /// The bits for owner, group and others; nil for a link, whose own say nothing.
        let permissions: UInt32?
        /// Those that other machines are told.
        let sharedPermissions: UInt32?
        /// All of a small file or a link, as it was at one moment; nil if it is read while it is
        /// sent.
        let content: [UInt8]?
    }

    /// Opens the file, and reads a small one: so it is read once, whatever is computed of it, and
    /// its request leaves in one piece.
    private func open() async throws(ItemFailure) -> Opened {
        let (directory, path) = (context.directory, path)
        do {
            return try await context.disk.run {
                let file = try directory.openForReading(path)
                let (source, permissions) = try file.identityAndPermissions()
                let isLink = file.linkText != nil
                return Opened(
                    file: file,
                    source: source,
                    permissions: isLink ? nil : permissions,
                    sharedPermissions: isLink
                        ? nil : directory.sharedPermissions(permissions, of: file, at: path),
                    content: try file.linkText ?? Self.content(of: file, source)
                )
            }
        } catch {
            throw ItemFailure(ofReading: error)
        }
    }

    /// Nil for a file that is not held.
    private static func content(of file: OpenFile, _ source: FileIdentity) throws -> [UInt8]? {
        guard source.size <= RequestBody.largestSentAtOnce else { return nil }
        // Of a file that says it is empty one byte is asked for.
        let content = try file.read(at: 0, length: max(1, Int(source.size)))
        let found = try file.identity()
        if found != source {
            // What became longer meanwhile is sent as it was, if it is still its beginning.
            let size = Int(source.size)
            let beginning = [UInt8](content.prefix(size))
            guard found.hasGrown(since: source), beginning.count == size,
                try size == 0 || file.read(at: 0, length: size) == beginning,
                isKept(file, source)
            else { throw ItemFailure.sourceKeepsChanging }
            return beginning
        }
        if source.size == 0, !content.isEmpty {
            // As files of `/proc`: nobody can tell when all of it was read.
            throw ItemFailure.local(
                message: "its reported size is 0, but it has content; copy it to an ordinary file"
                    + " and send that"
            )
        }
        guard content.count == source.size else { throw ItemFailure.sourceKeepsChanging }
        return content
    }

    /// Runs the effects up to the first part: for a small file, all of them.
    private func runAlone(
        _ state: inout UploadState,
        _ layout: PartLayout,
        _ attempt: inout Attempt
    ) async {
        while attempt.result == nil, let effect = attempt.effects.first {
            if case .upload = effect { return }
            attempt.effects.removeFirst()
            attempt.effects += await perform(effect, &state, layout, &attempt)
        }
    }

    /// Runs effects and parts until the end, or until every part under way must stop.
    private func runGeneration(
        _ state: inout UploadState,
        _ layout: PartLayout,
        _ attempt: inout Attempt
    ) async {
        await runAlone(&state, layout, &attempt)
        guard attempt.result == nil else { return }
        await withTaskGroup(of: PartEnd.self) { group in
            while attempt.result == nil {
                guard attempt.effects.isEmpty else {
                    let effect = attempt.effects.removeFirst()
                    switch effect {
                    case .upload(let upload, let number, let range):
                        let (opened, sealing) = (attempt.opened, attempt.sealing)
                        group.addTask { await send(upload, number, range, of: opened, sealing) }
                    case .cancelParts:
                        group.cancelAll()
                        while await group.next() != nil {}
                        return
                    default:
                        attempt.effects += await perform(effect, &state, layout, &attempt)
                    }
                    continue
                }
                guard let end = await group.next() else {
                    attempt.result = .failure(.cancelled)
                    return
                }
                switch end {
                case .sent(let part): attempt.effects += state.uploaded(part)
                case .failed(let failure): attempt.effects += state.failed(failure)
                }
            }
        }
    }
}

extension Uploader {
    /// The machine and its first effects: from a checkpoint that is still true, or from the start.
    func begin(
        _ layout: PartLayout,
        _ attempt: inout Attempt
    ) async throws -> (UploadState, [UploadState.Effect]) {
        let isMultipart =
            layout.objectSize > max(layout.partSize, context.limits.largestSinglePut)
        let streams = context.limits.streamsPerFile
        let mayHaveRecord = context.hasRecords || isMultipart
        if mayHaveRecord, let checkpoint = try await context.records.upload(key) {
            let recorded = PartLayout(
                objectSize: layout.objectSize,
                recordedPartSize: checkpoint.partSize
            )
            let mayHide = RecordedTime.mayHide(
                aChangeOf: attempt.opened.source,
                since: checkpoint.started,
                now: attempt.start
            )
            let isDoubtful = mayHide || checkpoint.source != attempt.opened.source
            // What the object's metadata will say of its content was true when it began. A part
            // with other content must not be encrypted under the nonce of what was sent.
            let isOutdated =
                mayHide && !context.store.dialect.computesChecksum
                || isDoubtful && context.store.cipher != nil
            if let recorded, recorded == layout, let upload = checkpoint.uploadID,
                Self.isSame(checkpoint.source, attempt.opened.source), !isOutdated
            {
                attempt.hasCheckpoint = true
                attempt.doubtsRecordedParts = isDoubtful
                attempt.token = checkpoint.token
                seal(&attempt)
                for part in checkpoint.parts { attempt.recorded[part.number] = part }
                attempt.hasBegun = true
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
                context.observer.startedOver(.fileChanged)
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
            try await MultipartUploads(context: context).abort(checkpoint)
        } catch let error as StorageError where error.isNotAllowed {
            // Whoever may not abort may still upload; the upload's own lifetime ends it.
            context.warn(ofUpload: key, error)
        }
        try await context.records.dropUpload(key)
    }

    func abort(_ upload: UploadID) async throws(ItemFailure) {
        do {
            try await context.store.abortMultipartUpload(context.objectKey(key), upload)
        } catch {
            throw ItemFailure(ofSource: error)
        }
    }
}
