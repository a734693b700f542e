internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

extension BucketClient {
    /// True if something was beneath the prefix at a time.
    package func hadObjects(beneath prefix: String, at time: StoreTime) async throws(SyncError)
        -> Bool
    {
        let past = PastStore(store, at: time.timestamp)
        var request = ListRequest(prefix: ObjectKey(prefix))
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

    /// Nil if there is nothing beneath the prefix; false if its first 1,000 objects have no
    /// versions, as in a bucket that never kept any.
    package func keepsVersions(beneath prefix: String) async throws(SyncError) -> Bool? {
        var count = 0
        for try await version in versions(prefix: prefix) {
            if version.versionID != "null" { return true }
            count += 1
            if count == 1_000 { break }
        }
        return count == 0 ? nil : false
    }
}
