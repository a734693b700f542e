internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

extension ItemExecutor {
    /// A directory becomes a marker, an empty object whose key ends in "/", because it is empty or
    /// has permissions of its own.
    func uploadMarker(_ entry: JoinedEntry) async {
        if await waits(entry) { return }
        let mode = recordedMode(entry)
        do {
            let sent = try await putMarker(entry, request(entry, mode), mode)
            let row = ManifestEntry(
                marker: entry.key,
                etag: sent.etag,
                lastModified: sent.lastModified,
                mode: sent.mode ?? ordinaryMode(entry)
            )
            await record([.upsert(row)], .upload, entry)
            await noticeMarkerName(entry)
            context.tracker.count { $0.transferred += 1 }
            context.tracker.finishedItem(bytes: 0)
            context.doneItem(.upload, entry.key, size: 0)
        } catch {
            context.tracker.finishedItem(bytes: 0)
            if waitsForDeletions(entry, error) { return }
            fail(.upload, entry.key, size: 0, error)
        }
    }

    private func request(_ entry: JoinedEntry, _ mode: UInt32?) -> PutRequest {
        var request = PutRequest(
            key: context.objectKey(entry.key),
            contentType: ShortenedMarkers.contentType,
            userMetadata: mode.map { [(FileMode.metadataName, FileMode.text($0, .directory))] }
                ?? [],
            storageClass: nil,
            forbidsOverwrite: true,
            callback: nil
        )
        // It has no content that a class or headers would be for.
        request.encryption = context.options.properties.encryption
        request.accessControl = context.options.properties.accessControl
        return request
    }

    /// What the marker is, which may be there already.
    ///
    /// Another writer created it then, or a request whose response was lost. One with content
    /// belongs to another writer.
    private func putMarker(
        _ entry: JoinedEntry,
        _ request: PutRequest,
        _ mode: UInt32?
    ) async throws(ItemFailure) -> (etag: ETag, lastModified: Timestamp?, mode: UInt32?) {
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
            let mode = recordedMode(entry)
            let sent = try await putMarker(entry, request(entry, mode), mode)
            let found = try await marker(entry)
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
}
