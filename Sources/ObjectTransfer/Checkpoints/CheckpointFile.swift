package import LocalStorage
internal import ObjectStorage
package import SyncModel

/// The record of one single transfer: in memory, and in a file if there is a directory for records.
///
/// The file is written when so much is new that it would be a pity to move it again, and at each
/// pause; what it says is verified before it is believed.
package actor CheckpointFile: CheckpointStore {
    /// Bytes that may be on disk or at the store without the file saying so.
    private static let writeInterval: Int64 = 1 << 20
    private static let wholeName = "whole_crc64"

    /// What is transferred, without secrets.
    private let subject: String
    private let directoryPath: String?
    private let fileName: String
    private let disk: BlockingQueue
    private var directory: RecordDirectory?
    private var isLoaded = false
    private var download: DownloadCheckpoint?
    private var ranges: [Int: RangeProgress] = [:]
    private var seal: Checkpoint.Seal?
    /// CRC-64 of a download that is whole and about to get its name.
    private var whole: CRC64?
    private var upload: UploadCheckpoint?
    private var parts: [PartNumber: UploadedPart] = [:]
    private var unwritten: Int64 = 0

    /// Makes a record that knows nothing before ``load(_:)``.
    ///
    /// - Parameters:
    ///   - subject: What is transferred, without secrets; a record of anything else is not used.
    ///   - directory: Where the file is, made if it is missing; nil for a record in memory only.
    ///   - fileName: Letters, digits, hyphens and points.
    ///   - disk: Where files are read and written.
    package init(
        subject: String,
        directory: String?,
        fileName: String,
        disk: BlockingQueue
    ) {
        self.subject = subject
        directoryPath = directory
        self.fileName = fileName
        self.disk = disk
    }

    // MARK: The file

    /// Opens the directory and reads what an earlier process left, the first time.
    ///
    /// - Returns: False if something was there, and nothing of it can be used.
    @discardableResult
    package func load(_ key: ObjectKey) async throws(ItemFailure) -> Bool {
        guard !isLoaded else { return true }
        guard let path = directoryPath else {
            isLoaded = true
            return true
        }
        let bytes: [UInt8]?
        do {
            let name = fileName
            let (opened, content) = try await disk.run {
                () throws(LocalError) -> (RecordDirectory, [UInt8]?) in
                let directory = try RecordDirectory(path: path)
                return (directory, try directory.read(name))
            }
            directory = opened
            bytes = content
        } catch {
            throw ItemFailure(error)
        }
        isLoaded = true
        guard let bytes else { return true }
        let json = try? JSONText(parsing: bytes, maximumSize: RecordDirectory.maximumLength)
        if let json { restore(from: json, key) }
        return download != nil || upload != nil
    }

    /// Deletes a record that an earlier process left, and the partial file beside `destination`
    /// that it names, whatever is downloaded.
    package static func discard(
        _ name: String,
        in directory: RecordDirectory,
        beside destination: FileDestination
    ) throws(LocalError) {
        let json = try directory.read(name).flatMap {
            try? JSONText(parsing: $0, maximumSize: RecordDirectory.maximumLength)
        }
        if let checkpoint = json?[Checkpoint.recordName].flatMap({ Checkpoint($0) }) {
            do throws(LocalError) {
                try destination.open(.standard).removePartial(checkpoint.partialName)
            } catch {
                // With the directory, the partial file is gone.
                guard case .missingDirectory = error else { throw error }
            }
        }
        try directory.remove(name)
    }

    private func restore(from json: JSONText, _ key: ObjectKey) {
        if let checkpoint = json[Checkpoint.recordName].flatMap({ Checkpoint($0) }) {
            restore(from: checkpoint, key)
            whole = json[Self.wholeName]?.stringValue.flatMap(UInt64.init).map(CRC64.init(value:))
        }
        if let checkpoint = json[UploadCheckpoint.recordName]
            .flatMap({ UploadCheckpoint($0, key: key, target: subject) })
        {
            begin(checkpoint)
        }
    }

    /// Writes what is known now, or removes the file if nothing is.
    package func flush() async throws(ItemFailure) {
        unwritten = 0
        guard let directory else { return }
        let json: JSONText? =
            if let checkpoint {
                .object(
                    [.init(name: Checkpoint.recordName, value: checkpoint.json)]
                        + (whole.map { whole in
                            [.init(name: Self.wholeName, value: .string(String(whole.value)))]
                        } ?? [])
                )
            } else if let upload = currentUpload {
                .object([
                    .init(name: UploadCheckpoint.recordName, value: upload.json(target: subject))
                ])
            } else { nil }
        let name = fileName
        do {
            try await disk.run { () throws(LocalError) in
                guard let json else { return try directory.remove(name) }
                try directory.write(name, [UInt8]((json.text + "\n").utf8))
            }
        } catch {
            throw ItemFailure(error)
        }
    }

    private func note(_ bytes: Int64) async throws(ItemFailure) {
        unwritten += bytes
        if unwritten >= Self.writeInterval { try await flush() }
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
        guard checkpoint.source == subject, let known = checkpoint.download(key) else {
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
        guard download?.partialName == partialName else {
            // A late word of one version must not count for the next.
            throw .checkpointGone(key)
        }
        let before = ranges.updateValue(range, forKey: range.index)?.received ?? 0
        seal = nil
        try await note(range.received - before)
    }

    /// The file is complete and about to be renamed: a later process that finds this record, and
    /// the file at its path, need not download it again.
    func noteWhole(_ checksum: CRC64) async throws(ItemFailure) {
        guard download != nil else { return }
        whole = checksum
        try await flush()
    }

    /// The checksum, and the partial file's name, of a download of this version that was whole.
    func published(_ object: PinnedObject) -> (checksum: CRC64, partialName: String)? {
        guard let whole, let download, download.etag == object.etag, download.size == object.size
        else { return nil }
        return (whole, download.partialName)
    }

    package func dropDownload(_ key: ObjectKey) async throws(ItemFailure) {
        guard download != nil else { return }
        download = nil
        ranges = [:]
        (seal, whole) = (nil, nil)
        try await flush()
    }

    package func sealDownload(
        _ key: ObjectKey,
        _ partial: FileIdentity,
        partialName: String,
        bootID: String
    ) async {
        seal = Checkpoint.Seal(partial, bootID: bootID)
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
        guard let upload else { return nil }
        return UploadCheckpoint(
            key: upload.key,
            uploadID: upload.uploadID,
            partSize: upload.partSize,
            source: upload.source,
            token: upload.token,
            started: upload.started,
            parts: parts.values.sorted { $0.number < $1.number }
        )
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
        guard let known = self.upload, known.token == token else {
            throw .checkpointGone(key)
        }
        self.upload = UploadCheckpoint(
            key: known.key,
            uploadID: upload,
            partSize: known.partSize,
            source: known.source,
            token: known.token,
            started: known.started,
            parts: []
        )
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
