internal import ManifestStore
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
    /// The longest key of either service, in bytes.
    private static let longestKey = 1_023

    let context: RunContext

    var isNeeded: Bool { context.options.remoteTrash != .none }

    /// Makes sure that there is a copy of this version, if the run keeps any.
    ///
    /// - Throws: Why there is none; `alreadyExists` if the object is another version by now.
    func keep(_ key: ObjectKey, _ etag: ETag, size: Int64) async throws(ItemFailure) {
        let place = context.options.remoteTrash.place(
            of: context.remoteTrashName,
            prefix: context.prefix
        )
        guard let place else { return }
        let copy = ObjectKey(place.bytes + key.bytes)
        guard copy.bytes.count <= Self.longestKey else {
            throw ObjectCopy.failure(
                "the key of its copy would have \(copy.bytes.count) bytes, and no store takes more "
                    + "than \(Self.longestKey)"
            )
        }
        let copying = ObjectCopy(
            store: context.store,
            source: context.objectKey(key),
            etag: etag,
            size: size,
            encryption: context.options.properties.encryption
        )
        try await copying.makeProven(at: copy)
    }
}

extension ObjectCopy {
    /// Makes the object, and proves that it is of exactly this version of its source.
    ///
    /// - Throws: Why there is none; `alreadyExists` if the source is another version by now.
    func makeProven(at copy: ObjectKey) async throws(ItemFailure) {
        var answered: ETag?
        var cause = Self.failure("the store does not have the copy that it reported")
        do throws(StorageError) {
            answered = try await make(at: copy)
        } catch {
            cause = Self.explained(error)
            let isThere = error.isAlreadyExists || error.isPreconditionFailed
            // A lost answer, or a repeated request that met its own copy.
            guard isThere || error.mayHaveReachedServer, !error.isCancelled else { throw cause }
        }
        do {
            var found = try await store.head(copy, versionID: nil)
            if found.size == 0, size > 0 {
                found = try await store.provingEmptiness(of: copy, found)
            }
            guard found.size == size else { throw cause }
            if let answered, found.etag == answered { return }
            let original = try await store.head(source, versionID: nil)
            guard original.etag == etag else { throw ItemFailure.alreadyExists(nil) }
            let isSameSum = found.crc64 != nil && found.crc64 == original.crc64
            guard found.etag == etag || store.dialect.computesChecksum && isSameSum else {
                throw cause
            }
        } catch let error as StorageError {
            throw error.isNotFound ? cause : ItemFailure(error)
        } catch {
            throw ItemFailure(any: error)
        }
    }

    fileprivate static func failure(_ reason: String) -> ItemFailure {
        .storage(
            message: "no copy could be made in the bucket, so the object was kept: \(reason)",
            answer: nil,
            stops: nil
        )
    }

    private static func explained(_ error: StorageError) -> ItemFailure {
        if error.isPreconditionFailed { return .alreadyExists(error.answer) }
        let failure = ItemFailure(error)
        guard case .storage(let message, let answer, let stops, let cause) = failure else {
            return failure
        }
        return .storage(
            message: "no copy could be made in the bucket, so the object was kept: \(message)",
            answer: answer,
            stops: stops,
            cause: cause
        )
    }
}

/// A copy within the bucket of one version of an object, of any size, with its metadata.
struct ObjectCopy: Sendable {
    let store: LimitedStore
    let source: ObjectKey
    let etag: ETag
    let size: Int64
    /// Nil for the current version of the source.
    var version: VersionID?
    let encryption: ObjectProperties.Encryption?
    /// The version that the copy replaces; nil if there must be no object.
    var replaced: ETag?

    /// Makes the object, if the key has none, or the version that is to be replaced.
    func make(at copy: ObjectKey) async throws(StorageError) -> ETag {
        if size <= store.dialect.maximumCopySize {
            var request = CopyRequest(
                source: source,
                sourceETag: etag,
                destination: copy,
                forbidsOverwrite: replaced == nil
            )
            request.replaced = replaced
            request.properties.encryption = encryption
            request.sourceVersion = version
            return try await store.copy(request).etag
        }
        let original = try await store.head(source, versionID: version)
        var request = PutRequest(
            key: copy,
            contentType: original.contentType,
            userMetadata: original.userMetadata.sorted { $0.key < $1.key }
                .map { (name: $0.key, value: $0.value) },
            forbidsOverwrite: replaced == nil,
            replaced: replaced
        )
        request.encryption = encryption
        let upload = try await store.initiateMultipartUpload(request)
        do throws(StorageError) {
            var copies = PartCopies(store: store, source: source, etag: etag, size: size)
            copies.version = version
            copies.replaced = replaced
            return try await copies.make(copy, upload, accessControl: nil).etag
        } catch {
            let store = store
            await finishing {
                // What is not aborted now, `osssync uploads --abort` finds.
                try? await store.abortMultipartUpload(copy, upload)
            }
            throw error
        }
    }
}

/// An object made of ranges of another one, which is too large for one request.
struct PartCopies: Sendable {
    private static let preferredPartSize: Int64 = 256 << 20

    let store: LimitedStore
    let source: ObjectKey
    let etag: ETag
    let size: Int64
    /// Nil for the current version of the source.
    var version: VersionID?
    /// The version that is replaced; nil if there must be no object.
    var replaced: ETag?

    /// Nil if the object is larger than parts can be.
    var layout: PartLayout? {
        PartLayout(objectSize: size, preferredPartSize: Self.preferredPartSize)
    }

    /// Copies all parts and completes the upload, which the caller began and aborts after an error.
    func make(
        _ key: ObjectKey,
        _ upload: UploadID,
        accessControl: String?,
        replacing replaced: ETag? = nil
    ) async throws(StorageError) -> PutResult {
        guard let layout else {
            throw StorageError(
                kind: .invalidRequest("it is too large for a copy"),
                operation: "UploadPartCopy",
                key: source
            )
        }
        var parts: [UploadedPart] = []
        for index in 0..<layout.partCount {
            var request = PartCopyRequest(
                source: source,
                sourceETag: etag,
                sourceRange: layout.range(ofPartAt: index),
                destination: key,
                upload: upload,
                number: PartNumber(index: index)
            )
            request.sourceVersion = version
            parts.append(try await store.uploadPartCopy(request))
        }
        var request = CompleteRequest(
            key: key,
            upload: upload,
            parts: parts,
            forbidsOverwrite: replaced == nil,
            replaced: replaced
        )
        request.accessControl = accessControl
        return try await store.completeMultipartUpload(request)
    }
}
