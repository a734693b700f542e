internal import LocalStorage
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
        package var properties: ObjectProperties
        package var keepsFileMetadata: Bool
        package var callback: UploadCallback?
        /// False: what an earlier attempt left and is of no use is an error.
        package var startsOver: Bool
        /// True: the caller drops the record once it has recorded the end itself.
        package var keepsRecord: Bool

        package init(
            store: any ObjectStore,
            key: ObjectKey,
            path: String,
            forbidsOverwrite: Bool,
            properties: ObjectProperties,
            keepsFileMetadata: Bool,
            callback: UploadCallback?,
            startsOver: Bool,
            keepsRecord: Bool
        ) {
            self.store = store
            self.key = key
            self.path = path
            self.forbidsOverwrite = forbidsOverwrite
            self.properties = properties
            self.keepsFileMetadata = keepsFileMetadata
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
    package let services: SingleTransfer

    package init(settings: Settings, services: SingleTransfer) {
        self.settings = settings
        self.services = services
    }

    private var record: CheckpointFile { services.record }

    /// Sends what is missing and makes the object.
    ///
    /// - Throws: `cancelled` also after a pause; the record then has what the next attempt needs.
    package func run() async throws(ItemFailure) -> Finished {
        do throws(ItemFailure) {
            let finished = try await attempt()
            return finished
        } catch {
            // The record is written in any case; only the transfer's own failure is reported.
            do throws(ItemFailure) {
                try await record.flush()
                if error.isAlreadyExists || error.isRefusal, try await !hasBegun {
                    try await record.dropUpload(settings.key)
                }
            } catch { _ = error }
            throw error
        }
    }

    /// True if the store has an upload that a later attempt could resume.
    private var hasBegun: Bool {
        get async throws(ItemFailure) { try await record.upload(settings.key)?.uploadID != nil }
    }

    /// Asks before a large file is sent whose object is not to be replaced, where the store itself
    /// may not refuse it, or only at its end.
    ///
    /// The one request of a small file is asked about by the client, right before it.
    private func check(_ size: Int64, _ context: TransferContext) async throws(ItemFailure) {
        let dialect = settings.store.dialect
        let isLarge = size > max(services.partSize, dialect.minimumPartSize)
        guard settings.forbidsOverwrite, isLarge,
            dialect.versionsIgnoreConditions || !dialect.refusesAtOnce,
            try await !hasBegun
        else { return }
        try await Self.checkAbsent(settings.key, context)
    }

    /// - Throws: `alreadyExists` if there is an object of that key.
    static func checkAbsent(
        _ key: ObjectKey,
        _ context: TransferContext
    ) async throws(ItemFailure) {
        do throws(ItemFailure) {
            _ = try await context.head(key)
        } catch {
            if error.isVanished { return }
            // A user who may write but not read gets the error at the end, from the store's own
            // condition.
            if case .storage(_, _, _, let cause) = error, cause.isRefusal { return }
            throw error
        }
        throw .alreadyExists(nil)
    }

    private func attempt() async throws(ItemFailure) -> Finished {
        let (location, directory, size) = try await open()
        let transfer = TransferCounter(.upload, key: settings.key, size: size)
        let context = services.context(settings.store, directory)
        try await check(size, context)
        let uploader = Uploader(
            context: context,
            key: settings.key,
            path: location.name,
            transfer: transfer,
            isNew: settings.forbidsOverwrite,
            replaced: nil,
            details: UploadDetails(
                properties: settings.properties,
                keepsFileMetadata: settings.keepsFileMetadata,
                callback: settings.callback,
                existenceIsUnknown: true,
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

    private func open() async throws(ItemFailure) -> (FileDestination, MirrorDirectory, Int64) {
        let path = settings.path
        do {
            return try await services.disk.run {
                let location = try FileDestination(GivenPath.resolved(path))
                let directory = try location.open(.standard)
                let size = try directory.openForReading(location.name).identity().size
                return (location, directory, size)
            }
        } catch LocalError.targetIsDirectory {
            throw .local(message: "it is a directory; an upload sends one file")
        } catch LocalError.targetIsSpecial(_, let kind) {
            throw .local(message: "it is \(kind.description), not a file")
        } catch {
            throw ItemFailure(ofTransfer: error)
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
            try await MultipartUploads(context: services.context(settings.store, directory)).abort(
                checkpoint
            )
        } catch {
            throw ItemFailure(ofTransfer: error)
        }
        try await record.dropUpload(settings.key)
    }
}
