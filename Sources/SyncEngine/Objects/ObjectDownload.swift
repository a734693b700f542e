package import LocalStorage
internal import ManifestStore
package import ObjectStorage
package import SyncModel

/// One object on its way to one file, without a mirror around it.
package struct ObjectDownload: Sendable {
    /// What does not change from one attempt to the next.
    package struct Settings: Sendable {
        package var store: any ObjectStore
        package var key: ObjectKey
        package var place: FilePlace
        /// False: a file that is there is an error.
        package var replacesFile: Bool
        package var durability: PublicationDurability
        /// True: whoever runs it drops the record once it has noted the end itself.
        package var keepsRecord: Bool

        package init(
            store: any ObjectStore,
            key: ObjectKey,
            place: FilePlace,
            replacesFile: Bool,
            durability: PublicationDurability,
            keepsRecord: Bool
        ) {
            self.store = store
            self.key = key
            self.place = place
            self.replacesFile = replacesFile
            self.durability = durability
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
    package let services: TransferServices

    package init(settings: Settings, services: TransferServices) {
        self.settings = settings
        self.services = services
    }

    var record: TransferRecord { services.record }

    /// Fetches what is missing and puts the file into its place.
    ///
    /// - Throws: `cancelled` also after a pause; the record then has what the next attempt needs.
    package func run(gate: PauseGate) async throws(ItemFailure) -> Finished {
        do throws(ItemFailure) {
            let finished = try await attempt(gate)
            return finished
        } catch {
            // What the record knows is written whatever happened; the transfer's own failure is
            // the one to report.
            do throws(ItemFailure) { try await record.flush() } catch { _ = error }
            throw error
        }
    }

    private func attempt(_ gate: PauseGate) async throws(ItemFailure) -> Finished {
        let (directory, isFree) = try await openDirectory()
        // Without a record there is nothing that could have put the file there.
        let isKnown = try await record.download(settings.key) != nil
        guard isFree || isKnown else { throw .fileExists }
        var means = services.means(settings.store, directory)
        let head = try await means.head(settings.key)
        if let finished = try await found(head, means) { return finished }
        guard isFree else { throw .fileExists }
        let remote = RemoteObject(
            key: settings.key,
            size: head.metadata.size,
            etag: head.object.etag,
            lastModified: head.metadata.lastModified
        )
        let tracker = ProgressTracker(direction: .pull)
        let transfer = tracker.begin(.download, key: settings.key, size: remote.size)
        services.watch(transfer, &means)
        let downloader = Downloader(
            means: means,
            key: settings.key,
            transfer: transfer,
            gate: gate
        )
        let finished = try await downloader.run(remote)
        // What is not written down costs whoever is killed here a second transfer.
        try? await record.noteWhole(finished.received)
        let fallback = finished.lastModified ?? services.environment.now()
        try await publish(
            Publication(
                partialName: finished.partialName,
                path: settings.place.name,
                modified: finished.modified ?? fallback,
                expected: settings.replacesFile ? .anything : .absent,
                displaced: .replace
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
            metadata: finished.metadata ?? head.metadata
        )
    }

    /// The directory; false beside it if a file is there that is not to be replaced.
    private func openDirectory() async throws(ItemFailure) -> (MirrorDirectory, isFree: Bool) {
        let settings = settings
        do {
            let (directory, state) = try await services.disk.run {
                () throws(LocalError) -> (MirrorDirectory, LocalState) in
                let directory = try settings.place.open(.standard)
                return (directory, try directory.identity(of: settings.place.name))
            }
            switch state {
            case .directory: throw LocalError.targetIsDirectory(settings.place.name)
            case .absent: return (directory, true)
            case .file, .other: return (directory, settings.replacesFile)
            }
        } catch {
            throw ItemFailure(any: error)
        }
    }

    func dropRecord() async throws(ItemFailure) {
        guard !settings.keepsRecord else { return }
        try await record.dropDownload(settings.key)
    }

    private func publish(
        _ publication: Publication,
        in directory: MirrorDirectory
    ) async throws(ItemFailure) {
        let durability = settings.durability
        let outcome: PublicationOutcome?
        do {
            outcome = try await services.disk.run { () throws(LocalError) in
                try directory.publish([publication], durability: durability).first
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
        at place: FilePlace,
        _ services: TransferServices
    ) async throws(ItemFailure) {
        let checkpoint = try await services.record.download(key)
        if let name = checkpoint?.partialName {
            do {
                try await services.disk.run { () throws(LocalError) in
                    try place.open(.standard).removePartial(name)
                }
            } catch {
                throw ItemFailure(error)
            }
        }
        try await services.record.dropDownload(key)
    }
}
