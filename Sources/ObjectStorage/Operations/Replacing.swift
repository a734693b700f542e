internal import SyncModel
internal import Synchronization

/// A version that a write replaces, and what is looked at right before it.
struct ReplacedVersion: Sendable {
    var etag: ETag
    /// True as long as the write has not taken over what other tools put on the object.
    var keepsMetadata: Bool
    /// True if the type of the object stays, too.
    var keepsType: Bool
}

extension StorageClient {
    /// Requests the headers of the object that `wire` replaces, right before `wire` is sent.
    ///
    /// OSS has no condition for it, and only this request returns the metadata that other tools set
    /// on the object.
    ///
    /// - Throws: As a failed condition, if there is another version or none; also if that cannot be
    ///   found out.
    func inspect(
        _ wire: inout StorageRequest,
        _ context: inout AttemptContext
    ) async throws(StorageError) {
        guard let replaced = wire.replaced, let key = wire.key else { return }
        let isGuarded = wire.headers.contains { $0.0 == "if-match" }
        guard !isGuarded || replaced.keepsMetadata else { return }
        context.isLooking = true
        let found: ETag?
        if let metadata = try await inspect(at: key, wire, &context) {
            found = metadata.etag
            if replaced.keepsMetadata, found == replaced.etag {
                if !dialect.keep(
                    metadata,
                    in: &wire.headers,
                    keepsType: replaced.keepsType
                ) {
                    warnOfMetadata(key)
                }
                wire.replaced?.keepsMetadata = false
            }
        } else {
            // Without permission to read the object, the store's own condition or the listing is
            // used.
            guard !isGuarded else {
                context.isLooking = false
                return
            }
            let page = try await list(ListRequest(prefix: key, maximumKeys: 1))
            found = page.objects.first { $0.key == key }?.etag
        }
        guard found == replaced.etag || (isGuarded && found == nil) else {
            throw wire.replacesAnother
        }
        context.isLooking = false
    }

    /// The headers of the object; nil if they cannot be read.
    private func inspect(
        at key: ObjectKey,
        _ wire: StorageRequest,
        _ context: inout AttemptContext
    ) async throws(StorageError) -> ObjectMetadata? {
        do throws(StorageError) {
            let request = StorageRequest("HeadObject", .head, key)
            let head = try await sendHead(request, of: key, &context)
            return ObjectMetadata(head, size: head.contentLength ?? -1, dialect: dialect)
        } catch {
            if error.isNotFound { throw wire.replacesAnother }
            // The write itself, or the listing, reports why.
            if let status = error.status, [400, 401, 403, 405].contains(status) { return nil }
            throw error
        }
    }

    private func warnOfMetadata(_ key: ObjectKey) {
        guard !hasLeftOutMetadata.exchange(true, ordering: .relaxed) else { return }
        environment.observe(.metadataLeftOut(key))
    }
}

extension StorageRequest {
    /// The error of a write whose condition does not hold.
    var replacesAnother: StorageError {
        failure(.service(status: 409, code: "ObjectAlreadyExists"))
    }
}
