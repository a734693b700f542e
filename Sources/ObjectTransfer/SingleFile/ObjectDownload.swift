internal import LocalStorage
package import ObjectStorage
package import SyncModel

/// Downloads one object to one file, without a mirror around it; `ObjectUpload` is its counterpart.
///
/// 1. Look at the target and the record: a finished earlier attempt is recognized and returned.
/// 2. `Downloader` fetches what is missing; `PauseGate` lets the caller pause it.
/// 3. The file gets its name by `MirrorDirectory.publish`, and the record is removed unless the
///    caller keeps it.
///
/// Not guaranteed: continuing in another process, if the caller keeps neither a record nor the
/// checkpoint that a pause returns.
package struct ObjectDownload: Sendable {
    /// What does not change from one attempt to the next.
    package struct Settings: Sendable {
        package var store: any ObjectReader
        package var key: ObjectKey
        package var destination: FileDestination
        /// False: a file that is there is an error.
        package var replacesFile: Bool
        /// True: the caller drops the record once it has recorded the end itself.
        package var keepsRecord: Bool

        package init(
            store: any ObjectReader,
            key: ObjectKey,
            destination: FileDestination,
            replacesFile: Bool,
            keepsRecord: Bool
        ) {
            self.store = store
            self.key = key
            self.destination = destination
            self.replacesFile = replacesFile
            self.keepsRecord = keepsRecord
        }
    }

    /// An object that is in its file.
    package struct Finished: Sendable {
        package let etag: ETag
        package let size: Int64
        package let checksum: CRC64
        /// False if the store had nothing to hold the bytes against.
        package let isVerified: Bool
        package let metadata: ObjectMetadata
    }

    package let settings: Settings
    package let services: SingleTransfer

    package init(settings: Settings, services: SingleTransfer) {
        self.settings = settings
        self.services = services
    }

    var record: CheckpointFile { services.record }

    /// Fetches what is missing and puts the file into its place.
    ///
    /// - Throws: `cancelled` also after a pause; the record then has what the next attempt needs.
    package func run(gate: PauseGate) async throws(ItemFailure) -> Finished {
        do throws(ItemFailure) {
            let finished = try await attempt(gate)
            return finished
        } catch {
            // The record is written in any case; only the transfer's own failure is reported.
            do throws(ItemFailure) { try await record.flush() } catch { _ = error }
            throw error
        }
    }

    private func attempt(_ gate: PauseGate) async throws(ItemFailure) -> Finished {
        let (directory, isFree) = try await openDirectory()
        let context = services.context(settings.store, directory)
        // Without a record there is nothing that could have put the file there.
        if await record.isWhole, let finished = try await found(context) { return finished }
        guard isFree else {
            try await dropUselessRecord(directory)
            throw .fileExists
        }
        let finished = try await UnlistedDownload(key: settings.key, context: context, gate: gate)
            .run()
        // If this is not recorded and the process is killed, the file is transferred again.
        try? await record.noteWhole(finished.received)
        let fallback = finished.lastModified ?? services.environment.now()
        try await publish(
            Publication(
                partialName: finished.partialName,
                path: settings.destination.name,
                modified: finished.modified ?? fallback,
                expected: settings.replacesFile ? .anything : .absent,
                backup: .replace,
                permissions: finished.permissions
            ),
            in: directory
        )
        try await dropRecord()
        return Finished(
            etag: finished.object.etag,
            size: finished.object.size,
            checksum: finished.received,
            isVerified: finished.checksum != nil
                && (!settings.store.dialect.computesChecksum || finished.object.crc64 != nil
                    || finished.object.size == 0),
            metadata: finished.metadata
                ?? ObjectMetadata(size: finished.object.size, etag: finished.object.etag)
        )
    }

    /// The directory; false beside it if a file is there that is not to be replaced.
    private func openDirectory() async throws(ItemFailure) -> (MirrorDirectory, isFree: Bool) {
        let settings = settings
        do {
            let (directory, state) = try await services.disk.run {
                () throws(LocalError) -> (MirrorDirectory, LocalState) in
                let directory = try settings.destination.open(.standard)
                return (directory, try directory.identity(of: settings.destination.name))
            }
            switch state {
            case .directory: throw LocalError.targetIsDirectory(settings.destination.name)
            case .absent: return (directory, true)
            case .file, .other: return (directory, settings.replacesFile)
            }
        } catch {
            throw ItemFailure(ofTransfer: error)
        }
    }

    /// Forgets a partial file that is gone: a power cut can leave the record of a file that already
    /// has its name.
    private func dropUselessRecord(_ directory: MirrorDirectory) async throws(ItemFailure) {
        guard let name = try await record.download(settings.key)?.partialName else { return }
        do {
            let partial = try await services.disk.run { () throws(LocalError) in
                try directory.partials.open(name, expectedSize: nil)
            }
            guard partial == nil else { return }
        } catch {
            throw ItemFailure(error)
        }
        try await record.forgetDownload()
    }

    func dropRecord() async throws(ItemFailure) {
        guard !settings.keepsRecord else { return }
        try await record.forgetDownload()
    }

    private func publish(
        _ publication: Publication,
        in directory: MirrorDirectory
    ) async throws(ItemFailure) {
        let outcome: PublicationOutcome?
        do {
            outcome = try await services.disk.run { () throws(LocalError) in
                try directory.publish([publication], durability: .synchronizedEach).first
            }
        } catch {
            throw ItemFailure(error)
        }
        switch outcome {
        case .published, nil: return
        case .failed(.targetChanged), .failed(.nameTaken): throw .fileExists
        case .failed(let error): throw ItemFailure(error)
        }
    }

    /// Deletes the partial file and the record, for which no store is needed.
    package static func discard(
        _ key: ObjectKey,
        at destination: FileDestination,
        _ services: SingleTransfer
    ) async throws(ItemFailure) {
        let checkpoint = try await services.record.download(key)
        if let name = checkpoint?.partialName {
            do {
                try await services.disk.run { () throws(LocalError) in
                    try destination.open(.standard).partials.remove(name)
                }
            } catch {
                throw ItemFailure(error)
            }
        }
        try await services.record.forgetDownload()
    }
}
