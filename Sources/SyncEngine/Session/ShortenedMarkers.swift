internal import ManifestStore
internal import ObjectStorage
internal import SyncModel
internal import Synchronization

/// Stores that drop the slash of a directory's marker: `rclone serve s3` keeps `photos/` as an
/// empty object `photos`, and says by its type that it was a directory.
///
/// Found out by meeting one: a request for every empty object of every store would cost too much.
/// What became of our own marker is proof; an object from another writer is only a hint, and one
/// key that ends in a slash proves the contrary.
enum ShortenedMarkers {
    private static let (keeps, drops, seems) = ("0", "1", "2")
    private static let setting = "remote.drops-slashes"
    static let contentType = "application/x-directory"
    /// What another store does is not known.
    static let forgotten: (name: String, value: String?) = (setting, nil)

    /// Nil if no marker has shown it yet.
    static func areKnown(to manifest: ManifestStore) async throws(ManifestError) -> Bool? {
        try await manifest.setting(setting).map { $0 != keeps }
    }

    /// True if our own marker, or a key with its slash, proved it.
    static func areProven(to manifest: ManifestStore) async throws(ManifestError) -> Bool {
        guard let value = try await manifest.setting(setting) else { return false }
        return value != seems
    }

    static func record(_ areShortened: Bool, in manifest: ManifestStore) async {
        // Without it the next run finds out again.
        try? await manifest.setSetting(setting, areShortened ? drops : keeps)
    }

    /// An object looks like a shortened marker.
    static func suspect(in manifest: ManifestStore) async {
        do throws(ManifestError) {
            guard try await areKnown(to: manifest) == nil else { return }
            try await manifest.setSetting(setting, seems)
        } catch {
            // The next run meets it again.
        }
    }

    /// A key was listed with its slash.
    static func contradict(in manifest: ManifestStore) async {
        guard let value = try? await manifest.setting(setting), value == seems else { return }
        await record(false, in: manifest)
    }

    /// True for an empty object that stands for a directory.
    static func isMarker(_ metadata: ObjectMetadata) -> Bool {
        metadata.size == 0 && metadata.contentType?.hasPrefix(contentType) == true
    }
}

/// What a store of S3 keeps of permissions; found out by the first object that could show it.
enum KeptModes: String, CaseIterable {
    /// Whether it keeps a marker, and what it says of the directory, beside the objects in it:
    /// where objects are files in directories, it may be refused, or kept without its metadata.
    ///
    /// Directories that such a store keeps for the sake of objects are no markers of ours.
    case ofMarkers = "remote.keeps-modes-of-directories"
    /// Whether a copy of an object has the metadata that it was asked to have.
    case ofCopies = "remote.keeps-modes-of-copies"

    static let forgotten: [(name: String, value: String?)] = allCases.map { ($0.rawValue, nil) }

    /// Nil if nothing has shown it yet.
    func areKnown(to manifest: ManifestStore) async throws(ManifestError) -> Bool? {
        try await manifest.setting(rawValue).map { $0 == "1" }
    }

    func record(_ areKept: Bool, in manifest: ManifestStore) async {
        // Without it the next run finds out again.
        try? await manifest.setSetting(rawValue, areKept ? "1" : "0")
    }
}

/// Gives the markers of a listing their slashes back.
struct MarkerReader: Sendable {
    let store: any ObjectReader
    let manifest: ManifestStore
    /// Before every key of the bucket.
    let prefix: ObjectKey
    /// Objects of which the plan may ask; workers find out about the others, side by side.
    var limit = 1_000
    private let asked = Counter()

    private final class Counter: Sendable {
        let count = Atomic(0)
        let hasMetSlash = Atomic(false)
    }

    /// Notices a key that the store lists with its slash.
    private func note(_ object: RemoteObject) async {
        guard object.key.isDirectoryMarker,
            !asked.hasMetSlash.exchange(true, ordering: .relaxed)
        else { return }
        await ShortenedMarkers.contradict(in: manifest)
    }

    /// True for an object whose key lacks the slash of its directory.
    ///
    /// The manifest has the directory, or the object says what it is. `object` has the relative
    /// key.
    func isMarker(_ object: RemoteObject) async throws -> Bool {
        await note(object)
        guard object.size == 0, object.kind == .normal, !object.key.isDirectoryMarker,
            isValidUTF8(object.key.bytes)
        else { return false }
        if try await manifest.entry(Self.withSlash(object.key)) != nil { return true }
        if try await manifest.entry(object.key) != nil { return false }
        guard asked.count.add(1, ordering: .relaxed).newValue <= limit else { return false }
        let key = ObjectKey(prefix.bytes + object.key.bytes)
        do throws(StorageError) {
            return ShortenedMarkers.isMarker(try await store.head(key, versionID: nil))
        } catch {
            // It is gone, or for others: an object as any.
            if case .integrity(.sealed) = error.kind { return false }
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
