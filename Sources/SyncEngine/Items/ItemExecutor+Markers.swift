internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Markers of directories at stores that drop their slashes.
extension ItemExecutor {
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
