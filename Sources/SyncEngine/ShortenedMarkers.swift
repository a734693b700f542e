internal import ManifestStore
internal import ObjectStorage
internal import SyncModel

/// Stores that drop the slash of a directory's marker: `rclone serve s3` keeps `photos/` as an
/// empty object `photos`, and says by its type that it was a directory.
///
/// Known from having met one: asking for every empty object of every store would cost too much.
enum ShortenedMarkers {
    private static let setting = "remote.drops-slashes"
    static let contentType = "application/x-directory"
    /// What another store does is not known.
    static let forgotten: (name: String, value: String?) = (setting, nil)

    /// Nil if no marker told yet.
    static func areKnown(to manifest: ManifestStore) async throws(ManifestError) -> Bool? {
        try await manifest.setting(setting).map { $0 == "1" }
    }

    static func record(_ areShortened: Bool, in manifest: ManifestStore) async {
        // Without it the next run finds out again.
        try? await manifest.setSetting(setting, areShortened ? "1" : "0")
    }

    /// True for an empty object that stands for a directory.
    static func isMarker(_ metadata: ObjectMetadata) -> Bool {
        metadata.size == 0 && metadata.contentType?.hasPrefix(contentType) == true
    }
}

/// Gives the markers of a listing their slashes back.
struct MarkerReader: Sendable {
    let store: any ObjectStore
    let manifest: ManifestStore
    /// Before every key of the bucket.
    let prefix: ObjectKey

    /// True for an object whose key lacks the slash: the manifest has the directory, or the object
    /// says what it is. `object` has the relative key.
    func isMarker(_ object: RemoteObject) async throws -> Bool {
        guard object.size == 0, object.kind == .normal, !object.key.isDirectoryMarker,
            isValidUTF8(object.key.bytes)
        else { return false }
        if try await manifest.entry(Self.withSlash(object.key)) != nil { return true }
        if try await manifest.entry(object.key) != nil { return false }
        let key = ObjectKey(prefix.bytes + object.key.bytes)
        do throws(StorageError) {
            return ShortenedMarkers.isMarker(try await store.head(key, versionID: nil))
        } catch {
            // It is gone, or for others: an object as any.
            guard error.isNotFound || error.status == 403 else { throw error }
            return false
        }
    }

    static func withSlash(_ key: ObjectKey) -> ObjectKey {
        ObjectKey(key.bytes + [UInt8(ascii: "/")])
    }
}

/// Keeps a listing in order whose keys became longer: `a-b` comes before `a/`.
///
/// What waits at one moment begins with one another, so it is never more than a key has bytes.
struct MarkerOrder {
    /// In key order.
    private var waiting: [RemoteObject] = []

    /// Takes the next object as it was listed, and whether it is a marker without its slash;
    /// returns what comes before any later one.
    mutating func add(_ object: RemoteObject, isMarker: Bool) -> [RemoteObject] {
        let count = waiting.prefix { $0.key < object.key }.count
        var ready = Array(waiting.prefix(count))
        waiting.removeFirst(count)
        guard isMarker else {
            // The store has it by its whole name, too.
            if waiting.first?.key == object.key { waiting.removeFirst() }
            ready.append(object)
            return ready
        }
        let marker = RemoteObject(
            key: MarkerReader.withSlash(object.key),
            size: 0,
            etag: object.etag,
            lastModified: object.lastModified,
            storageClass: object.storageClass
        )
        let place = waiting.firstIndex { marker.key < $0.key } ?? waiting.endIndex
        waiting.insert(marker, at: place)
        return ready
    }

    /// What is left at the end.
    mutating func finish() -> [RemoteObject] {
        defer { waiting = [] }
        return waiting
    }
}
