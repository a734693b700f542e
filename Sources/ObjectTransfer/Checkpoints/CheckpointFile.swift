internal import LocalStorage
internal import ObjectStorage
package import SyncModel

/// The record of one single transfer: in memory, and in a file if there is a directory for records.
///
/// The file is written when so much is new that it would be a pity to move it again, and at each
/// pause; what it says is verified before it is believed.
package actor CheckpointFile: CheckpointStore {
    /// Bytes that may be on disk without the file saying so.
    private static let downloadInterval: Int64 = 1 << 20
    /// Bytes that may be at the store without the file saying so; the store lists its parts.
    private static let uploadInterval: Int64 = 8 << 20
    /// The age of a download's file with which the next progress is written.
    private static let downloadAge = Duration.seconds(1)
    /// How long a transfer that is stopping is waited for.
    private static let patience = Duration.seconds(2)

    /// What is transferred, without secrets.
    private let subject: String
    private let place: RecordPlace?
    private let disk: BlockingQueue
    private let environment: EngineEnvironment
    /// While it is open.
    private var file: OpenRecord?
    private var download: DownloadCheckpoint?
    private var ranges: [Int: RangeProgress] = [:]
    private var seal: Checkpoint.Seal?
    /// CRC-64 of a download that is whole and about to get its name.
    private var whole: CRC64?
    private var upload: UploadCheckpoint?
    private var parts: [PartNumber: UploadedPart] = [:]
    private var unwritten: Int64 = 0
    /// When the file was written last.
    private var written = Duration.zero

    /// A record whose file no other transfer uses.
    private struct OpenRecord {
        let directory: RecordDirectory
        let name: String
        let destination: String?
        let lock: RecordLock
    }

    /// Makes a record that knows nothing before ``whileOpen(_:isPatient:_:)``.
    ///
    /// - Parameters:
    ///   - subject: What is transferred, without secrets; a record of anything else is not used.
    ///   - place: Where the file is; nil for a record in memory only.
    ///   - disk: Where files are read and written.
    ///   - environment: Its clocks.
    package init(
        subject: String,
        place: RecordPlace?,
        disk: BlockingQueue,
        environment: EngineEnvironment
    ) {
        self.subject = subject
        self.place = place
        self.disk = disk
        self.environment = environment
    }

    // MARK: The file

    /// Reads what there is, and keeps other transfers from the record until ``close()``.
    ///
    /// - Throws: `held` if another transfer has the record, also after a while if `isPatient`.
    private func open(_ key: ObjectKey, isPatient: Bool) async throws(ItemFailure) -> Bool {
        guard let place, file == nil else { return true }
        let bytes: [UInt8]?
        (file, bytes) = try await whenFree(within: isPatient ? Self.patience : .zero) {
            () throws(LocalError) -> (OpenRecord, [UInt8]?) in
            let directory = try RecordDirectory(path: place.directory)
            let (name, destination) = try place.name()
            let lock = try directory.lockRecord(name)
            let record = OpenRecord(
                directory: directory,
                name: name,
                destination: destination,
                lock: lock
            )
            return (record, try directory.read(name))
        }
        // What is not on disk any more may still be known here.
        guard let bytes else { return true }
        (download, ranges, seal, whole, upload, parts) = (nil, [:], nil, nil, nil, [:])
        guard let record = TransferRecord(content: bytes) else { return false }
        try await removeElsewhere(record)
        restore(from: record, key)
        let isAnnounced = record.download == nil && record.upload == nil
        return download != nil || upload != nil || isAnnounced
    }

    /// Does what only one transfer of a file may do, once another one has stopped that is about to.
    ///
    /// - Throws: `held` if that takes too long; it may be another process that never stops.
    private func whenFree<Value: Sendable>(
        within patience: Duration = patience,
        _ body: @escaping @Sendable () throws(LocalError) -> Value
    ) async throws(ItemFailure) -> Value {
        let end = environment.monotonic() + patience
        while true {
            do throws(ItemFailure) {
                return try await disk.reporting(body)
            } catch {
                guard error == .held, environment.monotonic() < end else { throw error }
            }
            do {
                try await environment.sleep(.milliseconds(20))
            } catch {
                throw .cancelled
            }
        }
    }

    /// Removes temporary files of `destination` but that of the record; `held` if one is in use.
    package func removeLeftovers(of destination: FileDestination) async throws(ItemFailure) {
        let kept = download?.partialName
        try await whenFree { () throws(LocalError) in
            let partials = try destination.openIfPresent(.standard)?.partials
            _ = try partials?.remove(of: destination.partials, except: kept)
        }
    }

    /// Removes a partial file, unless another transfer has taken it over, which is `held`.
    package func remove(_ name: String, of file: FileDestination) async throws(ItemFailure) {
        try await whenFree { () throws(LocalError) in
            let partials = try file.open(.standard).partials
            // Where it is gone, its name may be another transfer's by now.
            guard let opened = try partials.open(name, expectedSize: nil) else { return }
            defer { withExtendedLifetime(opened) {} }
            try partials.remove(name)
        }
    }

    /// Removes the partial file of a download that was to go to another directory before.
    private func removeElsewhere(_ record: TransferRecord) async throws(ItemFailure) {
        guard let place, let recorded = record.file,
            let destination = file?.destination, recorded != destination,
            let earlier = place.destination(of: recorded),
            let current = place.destination(of: destination), earlier.parent != current.parent
        else { return }
        let name = record.download?.partialName
        try await disk.reporting { () throws(LocalError) in
            guard let parent = try earlier.openIfPresent(.standard) else { return }
            if let name { try parent.partials.remove(name) }
            try parent.partials.remove(of: earlier.partials, except: nil)
        }
    }

    /// Lets other transfers use the record; what is known is kept for ``checkpoint``.
    private func close() async {
        guard let lock = file?.lock else { return }
        file = nil
        // Now, and not when the last work that knows of it is gone.
        await disk.run { lock.release() }
    }

    /// Does `body` while no other transfer has the record.
    ///
    /// - Parameters:
    ///   - key: What is transferred.
    ///   - isPatient: True waits for another transfer that is about to stop.
    ///   - body: Is told false if something was there, and nothing of it can be used.
    /// - Returns: What `body` returns.
    /// - Throws: `held` if another transfer has the record; what `body` throws.
    nonisolated package func whileOpen<Value: Sendable>(
        _ key: ObjectKey,
        isPatient: Bool = true,
        _ body: (_ isUsable: Bool) async throws(ItemFailure) -> Value
    ) async throws(ItemFailure) -> Value {
        let isUsable = try await open(key, isPatient: isPatient)
        let result: Result<Value, ItemFailure>
        do throws(ItemFailure) {
            result = .success(try await body(isUsable))
        } catch {
            result = .failure(error)
        }
        await close()
        return try result.get()
    }

    /// Writes down where the file will be, before anything is there, so that what a killed process
    /// leaves is found.
    package func announce() async throws(ItemFailure) {
        guard download == nil, file?.destination != nil else { return }
        try await flush(isAnnounced: true)
    }

    /// The transfer is complete: removes the record, unless its owner does that.
    package func end() async throws(ItemFailure) {
        if place?.isOwned != true { try await forget() }
    }

    /// Removes the record, also one that was only announced.
    package func forget() async throws(ItemFailure) {
        (download, ranges, seal, whole, upload, parts) = (nil, [:], nil, nil, nil, [:])
        try await flush()
    }

    private func restore(from record: TransferRecord, _ key: ObjectKey) {
        if let checkpoint = record.download {
            restore(from: checkpoint, key)
            whole = record.whole
        }
        if let checkpoint = record.upload?.checkpoint(key, to: subject) { begin(checkpoint) }
    }

    /// Writes what is known now, or removes the file if nothing is.
    package func flush() async throws(ItemFailure) { try await flush(isAnnounced: false) }

    private func flush(isAnnounced: Bool) async throws(ItemFailure) {
        (unwritten, written) = (0, environment.monotonic())
        guard let file else { return }
        let upload = currentUpload.map { UploadRecord(target: subject, checkpoint: $0) }
        let record = TransferRecord(
            download: checkpoint,
            whole: checkpoint == nil ? nil : whole,
            upload: upload,
            file: file.destination
        )
        let isKept = record.download != nil || upload != nil || isAnnounced
        // The store keeps the parts of an upload that nothing here knows of any more.
        let isDurable = upload != nil
        try await disk.reporting { () throws(LocalError) in
            if isKept {
                try file.directory.write(file.name, record.content, isDurable: isDurable)
            } else {
                try file.directory.remove(file.name)
            }
        }
    }

    private func note(_ bytes: Int64) async throws(ItemFailure) {
        unwritten += bytes
        let isDue =
            if upload == nil {
                unwritten >= Self.downloadInterval
                    || environment.monotonic() - written >= Self.downloadAge
            } else {
                unwritten >= Self.uploadInterval
            }
        if isDue { try await flush() }
    }

    // MARK: Downloads

    /// The checkpoint for the caller to keep; nil if nothing is unfinished.
    package var checkpoint: Checkpoint? {
        currentDownload.map { Checkpoint(source: subject, $0, seal: seal) }
    }

    /// Resumes from a checkpoint that was kept elsewhere; false if it is for another object or has
    /// impossible values.
    @discardableResult
    package func restore(from checkpoint: Checkpoint, _ key: ObjectKey) -> Bool {
        guard checkpoint.isOf(subject), let known = checkpoint.download(key) else {
            return false
        }
        begin(known)
        seal = checkpoint.seal
        return true
    }

    private var currentDownload: DownloadCheckpoint? {
        guard let download else { return nil }
        return download.replacingRanges(with: ranges.values.sorted { $0.index < $1.index })
    }

    private func begin(_ checkpoint: DownloadCheckpoint) {
        download = checkpoint
        ranges = Dictionary(checkpoint.ranges.map { ($0.index, $0) }) { $1 }
        (seal, whole) = (nil, nil)
    }

    package func download(_ key: ObjectKey) async throws(ItemFailure) -> DownloadCheckpoint? {
        currentDownload
    }

    package func beginDownload(_ checkpoint: DownloadCheckpoint) async throws(ItemFailure) {
        begin(checkpoint)
        try await flush()
    }

    package func saveRange(
        _ key: ObjectKey,
        _ range: RangeProgress,
        partialName: String
    ) async throws(ItemFailure) {
        guard let download, download.partialName == partialName else {
            // A late word of one version must not count for the next.
            throw .checkpointGone(key)
        }
        let before = ranges[range.index]
        var range = range
        range.mark(before, ofObjectOf: download.size)
        ranges[range.index] = range
        seal = nil
        try await note(range.received - (before?.received ?? 0))
    }

    /// The file is complete and about to be renamed: a later process that finds this record, and
    /// the file at its path, need not download it again.
    package func noteWhole(_ checksum: CRC64) async throws(ItemFailure) {
        guard download != nil else { return }
        whole = checksum
        try await flush()
    }

    /// True if the record is of a download that was whole.
    package var isWhole: Bool { whole != nil }

    /// The checksum, and the partial file's name, of a download of this version that was whole.
    package func published(_ object: PinnedObject) -> (checksum: CRC64, partialName: String)? {
        guard let whole, let download, download.etag == object.etag, download.size == object.size
        else { return nil }
        return (whole, download.partialName)
    }

    /// Another version may follow: the record still says where the file will be.
    package func dropDownload(_ key: ObjectKey) async throws(ItemFailure) {
        guard download != nil else { return }
        (download, ranges, seal, whole) = (nil, [:], nil, nil)
        try await flush(isAnnounced: true)
    }

    package func sealDownload(
        _ key: ObjectKey,
        _ partial: FileIdentity,
        partialName: String,
        bootID: String
    ) async {
        seal = Checkpoint.Seal(identity: partial, bootID: bootID)
    }

    package func isTrusted(
        _ range: RangeProgress,
        of checkpoint: DownloadCheckpoint,
        in partial: FileIdentity,
        bootID: String
    ) async -> Bool {
        seal?.matches(partial, bootID: bootID) ?? false
    }

    // MARK: Uploads

    private var currentUpload: UploadCheckpoint? {
        var upload = upload
        upload?.parts = parts.values.sorted { $0.number < $1.number }
        return upload
    }

    private func begin(_ checkpoint: UploadCheckpoint) {
        upload = checkpoint
        parts = Dictionary(checkpoint.parts.map { ($0.number, $0) }) { $1 }
    }

    package func upload(_ key: ObjectKey) async throws(ItemFailure) -> UploadCheckpoint? {
        currentUpload
    }

    package func beginUpload(_ checkpoint: UploadCheckpoint) async throws(ItemFailure) {
        begin(checkpoint)
        try await flush()
    }

    package func setUploadID(
        _ key: ObjectKey,
        _ upload: UploadID,
        token: String
    ) async throws(ItemFailure) {
        guard self.upload?.token == token else { throw .checkpointGone(key) }
        self.upload?.uploadID = upload
        try await flush()
    }

    package func savePart(
        _ key: ObjectKey,
        _ part: UploadedPart,
        uploadID: UploadID
    ) async throws(ItemFailure) {
        guard upload?.uploadID == uploadID else { throw .checkpointGone(key) }
        parts[part.number] = part
        try await note(part.size)
    }

    package func dropUpload(_ key: ObjectKey) async throws(ItemFailure) {
        guard upload != nil else { return }
        upload = nil
        parts = [:]
        try await flush()
    }
}
