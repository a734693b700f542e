internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Markers of directories: those that are sent, and those whose slashes the store drops.
struct DirectoryMarkers: ItemWorker {
    let parts: ItemParts

    var permissions: Permissions { Permissions(parts) }

    /// Only stores of S3 are of so many makes.
    private var mayShortenMarkers: Bool { !context.store.dialect.computesChecksum }

    /// Asks once how the store keeps the name of a marker that was just sent.
    func noticeMarkerName(_ entry: JoinedEntry) async {
        guard mayShortenMarkers, await !isMarkerNameProven() else { return }
        let short = ObjectKey([UInt8](entry.key.bytes.dropLast()))
        do throws(ItemFailure) {
            // With content it is a separate object next to the marker, and shows nothing.
            guard ShortenedMarkers.isMarker(try await head(short)) else { return }
            await ShortenedMarkers.record(true, in: context.manifest)
        } catch {
            guard error.isVanished else { return }
            await ShortenedMarkers.record(false, in: context.manifest)
        }
    }

    private func isMarkerNameProven() async -> Bool {
        do throws(ManifestError) {
            return try await ShortenedMarkers.areProven(to: context.manifest)
        } catch {
            // The manifest's next call reports the error.
            return true
        }
    }

    /// True for a store at which every key keeps its slash: there it is an object as any.
    private func keepsSlashes() async -> Bool {
        do throws(ManifestError) {
            return try await ShortenedMarkers.areKnown(to: context.manifest) == false
        } catch {
            // The manifest's next call reports the error.
            return false
        }
    }

    /// Makes the directory that a new empty object stands for; false if it is an object as any.
    func makeDirectory(
        _ entry: JoinedEntry,
        _ metadata: ObjectMetadata?
    ) async throws(ItemFailure) -> Bool {
        guard mayShortenMarkers, entry.base == nil, entry.local == nil, let object = entry.remote,
            object.size == 0, let metadata, ShortenedMarkers.isMarker(metadata),
            await !keepsSlashes()
        else { return false }
        let path: RelativePath
        do {
            path = try RelativePath(key: MarkerReader.withSlash(entry.key))
            let (directory, name) = (context.directory, path)
            try await context.closed.writing([path]) { () throws(LocalError) in
                try directory.makeDirectory(name)
            }
        } catch {
            throw ItemFailure(any: error)
        }
        await recordMarker(entry, object)
        context.tracker.count { $0.transferred += 1 }
        context.doneItem(.download, path.key, size: 0)
        return true
    }

    /// True for a new empty object in a directory's place, at a store that may drop slashes.
    func mayBeMarker(_ entry: JoinedEntry) -> Bool {
        mayShortenMarkers && !context.options.isDryRun && entry.base == nil && entry.local == nil
            && entry.remote?.size == 0
    }

    /// The directory in the place of a new empty object may be what that object stands for: true if
    /// so, and both sides have it.
    func adoptMarker(_ entry: JoinedEntry) async -> Bool {
        guard mayBeMarker(entry), let object = entry.remote, await !keepsSlashes(),
            let metadata = try? await head(entry.key), ShortenedMarkers.isMarker(metadata)
        else { return false }
        await recordMarker(entry, object)
        context.tracker.count { $0.adopted += 1 }
        context.item(.adopt, .done, MarkerReader.withSlash(entry.key), size: 0)
        return true
    }

    private func recordMarker(_ entry: JoinedEntry, _ object: RemoteObject) async {
        let row = ManifestEntry(
            marker: MarkerReader.withSlash(entry.key),
            etag: object.etag,
            lastModified: object.lastModified,
            storageClass: object.storageClass
        )
        await record([.upsert(row), .finishDownload(entry.key)], .download, entry)
        await ShortenedMarkers.suspect(in: context.manifest)
    }
}

// MARK: - Uploads

extension DirectoryMarkers {
    /// A directory becomes a marker, an empty object whose key ends in "/", because it is empty or
    /// has permissions of its own; false if that failed, or if another writer's marker says less.
    @discardableResult
    func uploadMarker(_ entry: JoinedEntry) async -> Bool {
        if await waits(entry) { return true }
        if await isUnasked(entry) {
            context.tracker.finishedItem(bytes: 0)
            leave(.unchanged, entry)
            return true
        }
        let mode = permissions.recordedMode(entry)
        do {
            let shared = try await shared(mode, entry)
            let sent = try await putMarker(entry, context.markerRequest(entry, shared), mode)
            await finish(sent, entry)
            // One that another writer made meanwhile may open the directory: the next run carries.
            return mode == nil || !Permissions.opensMore(sent.mode, than: mode)
        } catch {
            context.tracker.finishedItem(bytes: 0)
            if waitsForDeletions(entry, error) {
                guard permissions.closesMore(entry) else { return true }
                parts.privateMarkers.postpone(entry)
                return false
            }
            fail(.upload, entry.key, size: 0, error)
            return false
        }
    }

    /// True for a directory that a run made for its owner alone, because a marker did not answer,
    /// and whose permissions no user chose.
    private func isUnasked(_ entry: JoinedEntry) async -> Bool {
        guard entry.local?.permissions == 0o700, let path = try? RelativePath(key: entry.key) else {
            return false
        }
        let found = try? await context.onDisk { directory throws(LocalError) in
            try directory.isUnasked(path)
        }
        return found == true
    }

    /// What a marker is that was sent, or was there.
    private typealias SentMarker = (etag: ETag, lastModified: Timestamp?, mode: UInt32?)

    private func finish(_ sent: SentMarker, _ entry: JoinedEntry) async {
        let row = ManifestEntry(
            marker: entry.key,
            etag: sent.etag,
            lastModified: sent.lastModified,
            mode: sent.mode ?? permissions.ordinaryMode(entry)
        )
        await record([.upsert(row)], .upload, entry)
        await noticeMarkerName(entry)
        context.tracker.count { $0.transferred += 1 }
        context.tracker.finishedItem(bytes: 0)
        context.doneItem(.upload, entry.key, size: 0)
    }

    /// What a new marker says of these permissions of the directory; nil for nothing.
    private func shared(
        _ mode: UInt32?,
        _ entry: JoinedEntry
    ) async throws(ItemFailure) -> UInt32? {
        guard let mode else { return nil }
        do {
            return try await permissions.shared(mode, entry.key)
        } catch {
            throw ItemFailure(any: error)
        }
    }

    /// What the marker is, which may be there already.
    ///
    /// Another writer created it then, or a request whose response was lost. One with content
    /// belongs to another writer.
    private func putMarker(
        _ entry: JoinedEntry,
        _ request: PutRequest,
        _ mode: UInt32?
    ) async throws(ItemFailure) -> SentMarker {
        do {
            let answer = try await context.store.put(
                request,
                body: .bytes([]),
                onProgress: { _ in }
            )
            return (answer.etag, answer.lastModified, mode)
        } catch {
            let failure = ItemFailure(error)
            guard failure.isAlreadyExists else { throw failure }
        }
        let found = try await head(entry.key)
        guard found.size == 0, let tag = found.etag else { throw .alreadyExists(nil) }
        return (tag, found.lastModified, FileMode.of(found, .directory))
    }

    /// Sends the markers that waited for the objects in their directories: the first one alone,
    /// which shows whether the store keeps it and what it says; after a failure the next one.
    func sendWaitingMarkers() async throws {
        var waiting = ledger.take(\.markers)[...]
        while ledger.stop == nil, let first = waiting.popFirst() {
            guard let areKept = await keepsModes(first) else { continue }
            if areKept {
                try await forEach(waiting, countsRest: true) { await uploadMarker($0) }
            }
            return
        }
        ledger.countUntried(waiting.count)
    }

    /// Nil if the marker failed, and showed nothing.
    private func keepsModes(_ entry: JoinedEntry) async -> Bool? {
        do throws(ItemFailure) {
            let mode = try await shared(permissions.recordedMode(entry), entry)
            let sent = try await putMarker(entry, context.markerRequest(entry, mode), mode)
            let found: ObjectMetadata?
            do throws(ItemFailure) {
                found = try await permissions.marker(entry.key)
            } catch {
                // A key that may not read: the store most likely keeps what it took.
                guard error.isRefusedOperation else { throw error }
                let recorded = permissions.recordedMode(entry)
                await finish((sent.etag, sent.lastModified, recorded), entry)
                return true
            }
            let isKept = found?.etag == sent.etag && FileMode.of(found, .directory) == mode
            await KeptModes.ofMarkers.record(isKept, in: context.manifest)
            if isKept {
                await uploadMarker(entry)
                return true
            }
        } catch {
            // What may pass is not an answer to the question.
            let status = error.answer?.status ?? 0
            guard !error.stops, [400, 405, 409, 501].contains(status) else {
                fail(.upload, entry.key, size: 0, error)
                return nil
            }
            await KeptModes.ofMarkers.record(false, in: context.manifest)
        }
        context.emit(
            .warning(
                message: "this store does not keep the permissions of directories beside the "
                    + "objects in them: they are not mirrored"
            )
        )
        return false
    }

    /// True for a marker that waits until the store has the objects in its directory, because it is
    /// not known to keep both.
    private func waits(_ entry: JoinedEntry) async -> Bool {
        guard case .directory(isEmpty: false)? = entry.local?.kind,
            !context.store.dialect.computesChecksum, await !knowsModes()
        else { return false }
        guard ledger.waiting(\.markers).isOpen else { return false }
        if !ledger.add(entry, to: \.markers) {
            skipWithoutDoubt(
                entry.key,
                size: 0,
                message: "too many directories have permissions of their own for the first run at "
                    + "this store; run again"
            )
        }
        return true
    }

    private func knowsModes() async -> Bool {
        do throws(ManifestError) {
            return try await KeptModes.ofMarkers.areKnown(to: context.manifest) != nil
        } catch {
            // The manifest's next call reports the error.
            return true
        }
    }
}

extension RunContext {
    /// Makes the marker of a directory, which says `mode` of it.
    func markerRequest(_ entry: JoinedEntry, _ mode: UInt32?) -> PutRequest {
        var request = PutRequest(
            key: objectKey(entry.key),
            contentType: ShortenedMarkers.contentType,
            userMetadata: mode.map { [(FileMode.metadataName, FileMode.text($0, .directory))] }
                ?? [],
            storageClass: nil,
            forbidsOverwrite: true,
            callback: nil
        )
        // It has no content that a class or headers would be for.
        request.encryption = options.properties.encryption
        request.accessControl = options.properties.accessControl
        return request
    }
}
