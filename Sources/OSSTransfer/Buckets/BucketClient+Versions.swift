internal import ObjectStorage
internal import SyncModel

/// A version of an object, or a mark that it was deleted.
public struct ListedVersion: Sendable, Hashable {
    /// The whole key, safe to print.
    public let key: String
    /// By which requests name it, safe to print; `null` if it was written without versioning.
    public let versionID: String
    /// True for the one that requests without a version get.
    public let isLatest: Bool
    /// Bytes; nil for a mark of deletion.
    public let size: Int64?
    /// When it was written, in UTC.
    public let lastModified: String?
    /// The ETag, safe to print; nil for a mark of deletion.
    public let etag: String?

    init(_ version: ObjectVersion) {
        key = version.key.display
        versionID = displayText(version.versionID.text)
        isLatest = version.isLatest
        size = version.object?.size
        lastModified = version.lastModified.map { time in
            CivilTime(time).extendedText(milliseconds: Int(time.nanoseconds / 1_000_000))
        }
        etag = version.object.map { displayText($0.etag.text) }
    }
}

extension BucketClient {
    /// Lists every version of the objects whose whole keys begin with `text`, by key and of one key
    /// the newest first.
    ///
    /// - Parameters:
    ///   - text: How the keys begin; not only up to a slash.
    ///   - onVersion: Called for each version during the listing; return false to end it.
    /// - Throws: `SyncError`; a listing that does not advance is an error, too.
    public func listVersions(
        beginningWith text: String,
        onVersion: (ListedVersion) -> Bool
    ) async throws(SyncError) {
        var marker: VersionMarker?
        do throws(StorageError) {
            while true {
                let page = try await store.listVersions(
                    ListVersionsRequest(
                        prefix: ObjectKey(text),
                        marker: marker,
                        maximumKeys: 1_000
                    )
                )
                for version in page.versions {
                    guard onVersion(ListedVersion(version)) else { return }
                }
                guard let next = page.next else { return }
                guard next != marker, !page.versions.isEmpty else {
                    throw StorageError(
                        kind: .protocolViolation("the listing does not advance"),
                        operation: "ListObjectVersions"
                    )
                }
                marker = next
            }
        } catch {
            throw SyncError(error)
        }
    }

    /// True if something was beneath the remote's prefix at a time, in seconds since 1970 UTC.
    package func hadObjects(at time: Int64) async throws(SyncError) -> Bool {
        let past = PastStore(store, at: Timestamp(seconds: time))
        var request = ListRequest(prefix: remote.prefixKey)
        do throws(StorageError) {
            repeat {
                let page = try await past.list(request)
                if !page.objects.isEmpty { return true }
                request.token = page.next
            } while request.token != nil
            return false
        } catch {
            throw SyncError(error)
        }
    }

    /// True if listings tell which archived objects were restored.
    package var listsRestoredObjects: Bool { store.dialect.listsRestoredObjects }

    /// Nil if there is nothing beneath the remote's prefix; false if its first 1,000 objects have
    /// no versions, as in a bucket that never kept any.
    package func keepsVersions() async throws(SyncError) -> Bool? {
        var isThere = false
        var isKept = false
        var rest = 1_000
        try await listVersions(beginningWith: remote.prefix) { version in
            isThere = true
            isKept = version.versionID != "null"
            rest -= 1
            return !isKept && rest > 0
        }
        return isThere ? isKept : nil
    }
}
