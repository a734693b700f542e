internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import Synchronization

/// Finds out what the link objects of a listing lead to.
///
/// A link is followed only to an object beneath the mirrored prefix that is no link itself. A user
/// who may write one prefix can create a link to any key of the bucket, and could otherwise read it
/// through a mirror with more rights. The target is requested by its own key, and the content is
/// fetched as that version only: a link that gets another target meanwhile is not followed.
struct LinkTargets: Sendable {
    /// Concurrent requests for one page.
    private static let atOnce = 8

    let store: any ObjectReader
    /// Empty, or ending in "/".
    let prefix: ObjectKey

    /// The targets of the links among `objects`, whose keys are whole, by index; a link that is not
    /// followed has none.
    ///
    /// Takes a request for each link, and one for each target of the page.
    func targets(of objects: [RemoteObject]) async throws -> [Int: ObjectMetadata] {
        // A key that is no UTF-8 cannot be asked for.
        let links = objects.indices.filter {
            objects[$0].kind == .symlink && isValidUTF8(objects[$0].key.bytes)
        }
        guard !links.isEmpty else { return [:] }
        let store = store
        let keys = try await answers(links) { index throws(StorageError) in
            try await store.symlinkTarget(objects[index].key)
        }
        let inside = keys.filter { isInside($0.value) }
        let found = try await answers(Array(Set(inside.values))) { key throws(StorageError) in
            let target = try await store.head(key, versionID: nil)
            // No listing has said yet that there is more.
            if target.size > 0 || target.sealed != nil { return target }
            return try await store.provingEmptiness(of: key, target)
        }
        return inside.compactMapValues { key in
            guard let target = found[key], target.kind != .symlink, target.etag != nil else {
                return nil
            }
            return target
        }
    }

    /// True for a key that could be mirrored itself.
    private func isInside(_ target: ObjectKey) -> Bool {
        guard target.hasPrefix(prefix), isValidUTF8(target.bytes) else { return false }
        let relative = ObjectKey([UInt8](target.bytes.dropFirst(prefix.bytes.count)))
        return (try? RelativePath(key: relative)) != nil
    }

    /// What the service answers for each; those that it has no usable answer for are left out.
    private func answers<Question: Hashable & Sendable, Reply: Sendable>(
        _ questions: [Question],
        _ ask: @escaping @Sendable (Question) async throws(StorageError) -> Reply
    ) async throws -> [Question: Reply] {
        var remaining = questions[...]
        let replies = Mutex<[Question: Reply]>([:])
        try await forEachBounded(
            limit: Self.atOnce,
            next: { remaining.popFirst() },
            body: { question in
                do throws(StorageError) {
                    let reply = try await ask(question)
                    replies.withLock { $0[question] = reply }
                } catch {
                    // A target that is missing, a link itself or not readable; an object that is no
                    // longer a link; a target that is not a key.
                    guard Self.concernsOneLink(error) else { throw error }
                }
            }
        )
        return replies.withLock { $0 }
    }

    private static func concernsOneLink(_ error: StorageError) -> Bool {
        switch error.kind {
        case .protocolViolation, .integrity(.sealed): return true
        default: break
        }
        return error.isNotFound || error.status == 400 || error.status == 403
    }
}
