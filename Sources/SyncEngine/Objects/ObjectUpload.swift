internal import LocalStorage
internal import ManifestStore
package import ObjectStorage
package import SyncModel

/// One file on its way to one object, without a mirror around it.
package struct ObjectUpload: Sendable {
    /// What does not change from one attempt to the next.
    package struct Settings: Sendable {
        package var store: any ObjectStore
        package var key: ObjectKey
        /// May lead over symbolic links, being the user's own word.
        package var path: String
        /// True: an object that is there is an error.
        package var forbidsOverwrite: Bool
        /// Nil: by the key's suffix.
        package var contentType: String?
        package var userMetadata: [(name: String, value: String)]
        package var storageClass: StorageClass?
        package var keepsModificationTime: Bool
        package var callback: UploadCallback?
        /// False: what an earlier attempt left and is of no use is an error.
        package var startsOver: Bool
        /// True: whoever runs it drops the record once it has noted the end itself.
        package var keepsRecord: Bool

        package init(
            store: any ObjectStore,
            key: ObjectKey,
            path: String,
            forbidsOverwrite: Bool,
            contentType: String?,
            userMetadata: [(name: String, value: String)],
            storageClass: StorageClass?,
            keepsModificationTime: Bool,
            callback: UploadCallback?,
            startsOver: Bool,
            keepsRecord: Bool
        ) {
            self.store = store
            self.key = key
            self.path = path
            self.forbidsOverwrite = forbidsOverwrite
            self.contentType = contentType
            self.userMetadata = userMetadata
            self.storageClass = storageClass
            self.keepsModificationTime = keepsModificationTime
            self.callback = callback
            self.startsOver = startsOver
            self.keepsRecord = keepsRecord
        }
    }

    /// An object that holds what the file held.
    package struct Finished: Sendable {
        package let etag: ETag
        package let size: Int64
        package let checksum: CRC64?
        package let versionID: VersionID?
        package let callback: CallbackEnding?
    }

    package let settings: Settings
    package let services: TransferServices

    package init(settings: Settings, services: TransferServices) {
        self.settings = settings
        self.services = services
    }

    private var record: TransferRecord { services.record }

    /// Sends what is missing and makes the object.
    ///
    /// - Throws: `cancelled` also after a pause; the record then has what the next attempt needs.
    package func run() async throws(ItemFailure) -> Finished {
        do throws(ItemFailure) {
            let finished = try await attempt()
            return finished
        } catch {
            // What the record knows is written whatever happened; the transfer's own failure is
            // the one to report.
            do throws(ItemFailure) {
                try await record.flush()
                if error == .alreadyExists || error.isRefusal, try await !hasBegun {
                    try await record.dropUpload(settings.key)
                }
            } catch { _ = error }
            throw error
        }
    }

    /// True if the store knows of an upload with which a later attempt could go on.
    private var hasBegun: Bool {
        get async throws(ItemFailure) { try await record.upload(settings.key)?.uploadID != nil }
    }

    /// Asks before a large file is sent whose object is not to be replaced, where the store itself
    /// would refuse it only at the end.
    private func check(_ size: Int64, _ means: TransferMeans) async throws(ItemFailure) {
        let dialect = settings.store.dialect
        guard settings.forbidsOverwrite, !dialect.refusesAtOnce,
            size > max(services.partSize, dialect.minimumPartSize), try await !hasBegun
        else { return }
        do throws(ItemFailure) {
            _ = try await means.head(settings.key)
        } catch {
            if error == .vanished { return }
            // Whoever may write but not read is told at the end, by the store's own condition.
            if case .storage(_, _, _, .permission) = error { return }
            throw error
        }
        throw .alreadyExists
    }

    private func attempt() async throws(ItemFailure) -> Finished {
        let (place, directory, size) = try await open()
        let tracker = ProgressTracker(direction: .push)
        let transfer = tracker.begin(.upload, key: settings.key, size: size)
        var means = services.means(settings.store, directory)
        services.watch(transfer, &means)
        try await check(size, means)
        let uploader = Uploader(
            means: means,
            key: settings.key,
            path: place.name,
            transfer: transfer,
            isNew: settings.forbidsOverwrite,
            replaced: nil,
            details: UploadDetails(
                contentType: settings.contentType,
                userMetadata: settings.userMetadata,
                storageClass: settings.storageClass,
                keepsModificationTime: settings.keepsModificationTime,
                callback: settings.callback,
                isUnseen: true,
                startsOver: settings.startsOver
            )
        )
        let finished = try await uploader.run()
        if !settings.keepsRecord { try await record.dropUpload(settings.key) }
        return Finished(
            etag: finished.etag,
            size: finished.source.size,
            checksum: finished.checksum,
            versionID: finished.versionID,
            callback: finished.callback
        )
    }

    private func open() async throws(ItemFailure) -> (FilePlace, MirrorDirectory, Int64) {
        let path = settings.path
        do {
            return try await services.disk.run {
                let place = try FilePlace(MirrorDirectory.resolved(path))
                let directory = try place.open(.standard)
                let size = try directory.openForReading(place.name).identity().size
                return (place, directory, size)
            }
        } catch {
            throw ItemFailure(any: error)
        }
    }

    /// Aborts the unfinished upload, which deletes its parts, and removes the record.
    package func discard() async throws(ItemFailure) {
        guard let checkpoint = try await record.upload(settings.key) else { return }
        do {
            let directory = try await services.disk.run { () throws(LocalError) in
                // The file itself is not needed, and may be gone.
                try MirrorDirectory(ofSingleFiles: "/", calls: .standard)
            }
            try await UploadCleaner(means: services.means(settings.store, directory)).abort(
                checkpoint
            )
        } catch {
            throw ItemFailure(any: error)
        }
        try await record.dropUpload(settings.key)
    }
}
