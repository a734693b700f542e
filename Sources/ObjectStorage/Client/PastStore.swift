package import SyncModel
internal import Synchronization

/// A versioned bucket as it was, which can only be read.
///
/// Of each key, one version counts, or none. Reads name its ID, so that later writes and deletions
/// change nothing.
///
/// Not guaranteed: what the bucket's lifecycle or a user removed for good.
package final class PastStore: ObjectReader {
    /// Which version of a key counts.
    package enum Choice: Sendable {
        /// The latest then, which is the newest that is not younger; a key whose delete marker is
        /// that does not exist.
        case at(Timestamp)
        /// The newest without this tag, whether it was deleted since or not.
        case newest(except: ETag?)
        /// The newest that was deleted since; a key that has an object does not exist.
        case deleted
    }

    /// Versions whose IDs are remembered, so that a read need not ask for them.
    private static let mostRemembered = 20_000

    private let store: StorageClient
    private let choice: Choice
    private let remembered = Mutex<[ObjectKey: VersionID]>([:])

    package init(_ store: StorageClient, _ choice: Choice) {
        self.store = store
        self.choice = choice
    }

    package var dialect: StorageDialect { store.dialect }

    package func list(_ request: ListRequest) async throws(StorageError) -> ListPage {
        var chosen = ChosenVersions(choice)
        let start = request.token.map { ObjectKey($0.text) } ?? request.startAfter
        var marker = start.map { ListingMarker<VersionID>(key: $0, id: nil) }
        while true {
            let page = try await store.listVersions(
                ListVersionsRequest(prefix: request.prefix, marker: marker)
            )
            for version in page.entries { try chosen.add(version) }
            if page.next == nil { chosen.finish() }
            let found = chosen.found
            // The last key may have more versions on the next page.
            guard page.next == nil || !found.isEmpty else {
                marker = page.next
                continue
            }
            remember(found)
            let next = page.next == nil ? nil : chosen.passed
            return ListPage(
                objects: found.compactMap(\.object),
                commonPrefixes: [],
                next: next.map { ContinuationToken(String(decoding: $0.bytes, as: UTF8.self)) }
            )
        }
    }

    package func head(
        _ key: ObjectKey,
        versionID: VersionID?
    ) async throws(StorageError) -> ObjectMetadata {
        try await store.head(key, versionID: try await version(of: key))
    }

    package func partSize(
        _ key: ObjectKey,
        of etag: ETag,
        versionID: VersionID?
    ) async throws(StorageError) -> Int64? {
        try await store.partSize(key, of: etag, versionID: try await version(of: key))
    }

    package func get(
        _ request: GetRequest,
        into sink: FileSink
    ) async throws(StorageError) -> ObjectMetadata {
        var request = request
        request.versionID = try await version(of: request.key)
        return try await store.get(request, into: sink)
    }

    package func open(
        _ request: GetRequest,
        into makeSink: @escaping @Sendable (OpenedObject) async -> FileSink?
    ) async throws(StorageError) -> ObjectMetadata {
        var request = request
        request.versionID = try await version(of: request.key)
        return try await store.open(request, into: makeSink)
    }

    package func symlinkTarget(_ key: ObjectKey) async throws(StorageError) -> ObjectKey {
        try await store.symlinkTarget(key)
    }

    private func remember(_ versions: [ObjectVersion]) {
        remembered.withLock { known in
            if known.count + versions.count > Self.mostRemembered { known = [:] }
            for version in versions { known[version.key] = version.versionID }
        }
    }

    /// The ID of the version that a key had.
    ///
    /// - Throws: As for an object that does not exist.
    package func version(of key: ObjectKey) async throws(StorageError) -> VersionID {
        if let known = remembered.withLock({ $0[key] }) { return known }
        var chosen = ChosenVersions(choice)
        var marker: ListingMarker<VersionID>?
        repeat {
            let page = try await store.listVersions(
                ListVersionsRequest(prefix: key, marker: marker)
            )
            // A key comes before all others that begin so.
            for version in page.entries { try chosen.add(version) }
            marker = page.next
            if marker == nil { chosen.finish() }
        } while chosen.passed == nil && marker != nil
        guard let found = chosen.found.first, found.key == key else {
            throw StorageError(
                kind: .service(status: 404, code: "NoSuchKey"),
                operation: "HeadObject",
                key: key
            )
        }
        remember([found])
        return found.versionID
    }
}

/// Finds the version of each key that is meant, in a listing of all versions.
private struct ChosenVersions {
    let choice: PastStore.Choice
    /// Those that were no delete markers.
    private(set) var found: [ObjectVersion] = []
    /// The last key of which all versions have come.
    private(set) var passed: ObjectKey?
    private var key: ObjectKey?
    private var best: ObjectVersion?
    private var isSettled = false

    init(_ choice: PastStore.Choice) {
        self.choice = choice
    }

    mutating func add(_ version: ObjectVersion) throws(StorageError) {
        if version.key != key {
            if let key, version.key < key {
                throw StorageError(
                    kind: .protocolViolation(
                        "the key '\(version.key.display)' comes after '\(key.display)'"
                    ),
                    operation: "ListObjectVersions"
                )
            }
            finish()
            key = version.key
        }
        // The newest comes first. Times do not tell: that of an upload in parts is its beginning.
        guard !isSettled else { return }
        let object = version.object
        switch choice {
        case .at(let time):
            guard let modified = version.lastModified, modified <= time else { return }
            isSettled = true
        case .newest(let present):
            guard let object, object.etag != present else { return }
            isSettled = true
        case .deleted:
            guard object != nil else { return }
            isSettled = true
            guard !version.isLatest else { return }
        }
        best = version
    }

    mutating func finish() {
        guard let key else { return }
        if let best, best.object != nil { found.append(best) }
        (passed, best, self.key, isSettled) = (key, nil, nil, false)
    }
}
