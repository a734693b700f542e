internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

/// Copies objects within the bucket before they are deleted or replaced.
///
/// 1. The copy is made of exactly the version that is about to go.
/// 2. It is proven by what the store says of it afterwards; without proof, the item fails, and its
///    object stays.
///
/// Not guaranteed: tags and access rights, which a copy does not have. A kill leaves copies of
/// objects that are still there; the next run makes copies of its own.
struct ObjectKeeper: Sendable {
    let context: RunContext

    var isNeeded: Bool { context.options.trash == .remote }

    /// Makes sure that there is a copy of this version, if the run keeps any.
    ///
    /// - Throws: Why there is none; `alreadyExists` if the object is another version by now.
    func keep(_ key: ObjectKey, _ etag: ETag, size: Int64) async throws(ItemFailure) {
        guard isNeeded else { return }
        let place = RemoteTrash.place(of: context.remoteTrashName, prefix: context.prefix)
        let copy = ObjectKey(place.bytes + key.bytes)
        let longest = context.store.dialect.maximumKeyLength
        guard copy.bytes.count <= longest else {
            throw BucketCopy.failure(
                "the key of its copy would have \(copy.bytes.count) bytes, and this store takes at "
                    + "most \(longest)"
            )
        }
        var copying = BucketCopy(
            context: context.transfer,
            source: context.objectKey(key),
            etag: etag,
            size: size
        )
        copying.properties = context.options.properties.ofTrash
        try await copying.makeProven(at: copy)
    }
}

extension ItemWorker {
    /// Counts and reports what was not replaced or deleted because no copy of it could be made.
    ///
    /// An archived object says nothing of others.
    func failKept(_ action: ItemAction, _ key: ObjectKey, size: Int64, _ failure: ItemFailure) {
        guard case .needsRestore = failure, context.options.trash == .remote else {
            return fail(action, key, size: size, failure)
        }
        let message =
            "the object is archived, and cannot be copied to the trash in the bucket before it is "
            + "restored; a run without --trash remote replaces or deletes it"
        skip(key, size: size, message: message)
    }
}
