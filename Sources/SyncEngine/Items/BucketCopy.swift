internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

/// A copy within the bucket of one version of an object, of any size.
///
/// 1. One request, or for what is too large for one a multipart upload of ranges, which is recorded
///    while it is open: the next run aborts what a killed one left.
/// 2. Each request names the version, so no other one is copied.
/// 3. What a store says of the parts must not contradict the source, and where ``needsProof``, it
///    must prove them: see ``PartProof``.
/// 4. After an answer that was lost, ``isProven(by:_:)`` says whether the object is that copy.
///
/// Not guaranteed: tags and access rights, which a copy does not have; it gets the rights of
/// ``properties``.
struct BucketCopy: Sendable {
    /// What the copy has instead of its source's metadata.
    struct Metadata: Sendable {
        var userMetadata: [(name: String, value: String)]
        var contentType: String?
    }

    /// The parts that the store copied are not known to have the content of the source.
    struct Unproven: Error {}

    private static let preferredPartSize: Int64 = 256 << 20

    let context: TransferContext
    let source: ObjectKey
    let etag: ETag
    let size: Int64
    /// Nil for the current version of the source.
    var version: VersionID?
    /// The version that the copy replaces; nil if there must be no object.
    var replaced: ETag?
    /// Nil for that of the source.
    var metadata: Metadata?
    /// What is known of the source: the copy keeps its class and, beside `metadata`, what other
    /// tools put on it.
    var kept: ObjectMetadata?
    /// Without `metadata`, only ``SyncModel/ObjectProperties/ofCopy`` counts.
    var properties = ObjectProperties.none
    /// The copy stands for a file, which can be sent instead.
    var needsProof = false
    /// Of what is stored, if that is known without the store.
    var checksum: CRC64?

    private var store: LimitedStore { context.store }

    /// Makes the object, if the key has none, or the version that is to be replaced.
    func make(at copy: ObjectKey) async throws -> PutResult {
        guard store.storedSize(of: size) > store.dialect.maximumCopySize else {
            return try await copyWhole(to: copy)
        }
        return try await copyParts(to: copy)
    }

    private func copyWhole(to copy: ObjectKey) async throws(StorageError) -> PutResult {
        var request = CopyRequest(
            source: source,
            sourceETag: etag,
            destination: copy,
            userMetadata: metadata?.userMetadata,
            contentType: metadata?.contentType,
            // In its own place, the source's version is condition enough.
            forbidsOverwrite: copy != source && replaced == nil
        )
        request.sourceVersion = version
        if copy != source { request.replaced = replaced }
        request.kept = kept
        request.properties = properties
        return try await store.copy(request)
    }

    private func copyParts(to copy: ObjectKey) async throws -> PutResult {
        var original: ObjectMetadata
        if metadata != nil, let kept {
            original = kept
        } else {
            original = try await store.head(source, versionID: version)
        }
        original.partSize = try? await store.partSize(source, of: etag, versionID: version)
        let proof = PartProof(
            of: original,
            size: store.storedSize(of: size),
            own: context.partSize,
            preferred: Self.preferredPartSize,
            store.dialect
        )
        guard let proof else {
            throw StorageError(
                kind: .invalidRequest("it is too large for a copy"),
                operation: "UploadPartCopy",
                key: source
            )
        }
        var request = PutRequest(
            key: copy,
            contentType: metadata?.contentType,
            forbidsOverwrite: replaced == nil,
            replaced: replaced
        )
        if let metadata {
            request.userMetadata = metadata.userMetadata
            request.source = kept
            request.set(properties)
        } else {
            // Of the bucket's own class, as a copy by one request.
            original.storageClass = StorageClass(name: "")
            request.contentType = original.contentType
            request.userMetadata = original.userMetadata.sorted { $0.key < $1.key }
                .map { (name: $0.key, value: $0.value) }
            request.source = original
            request.set(properties.ofCopy)
        }
        let uploads = MultipartUploads(context: context)
        return try await uploads.uploading(request, size: size, proof.layout.partSize) { upload in
            try await copyParts(proof, request, upload)
        }
    }

    private func copyParts(
        _ proof: PartProof,
        _ request: PutRequest,
        _ upload: UploadID
    ) async throws -> PutResult {
        let layout = proof.layout
        var parts: [UploadedPart] = []
        for index in 0..<layout.partCount {
            var part = PartCopyRequest(
                source: source,
                sourceETag: etag,
                sourceRange: layout.range(ofPartAt: index),
                destination: request.key,
                upload: upload,
                number: PartNumber(index: index)
            )
            part.sourceVersion = version
            parts.append(try await store.uploadPartCopy(part))
        }
        let isProven = await proof.holds(
            for: parts,
            of: upload,
            request.key,
            in: store,
            known: checksum
        )
        switch isProven {
        case true?: break
        case false?:
            throw StorageError(
                kind: .unsupported("the store copied other content than that of the object"),
                operation: "UploadPartCopy",
                key: source
            )
        case nil: if needsProof { throw Unproven() }
        }
        var completing = CompleteRequest(
            key: request.key,
            upload: upload,
            parts: parts,
            forbidsOverwrite: request.forbidsOverwrite,
            replaced: request.replaced
        )
        completing.accessControl = request.accessControl
        return try await store.completeMultipartUpload(completing)
    }

    /// True if an object that is at the copy's key has this version's content: it has its ETag, or
    /// a checksum that the store itself computed of both, `checksum` being that of the source as it
    /// is stored.
    ///
    /// What a writer claims in the metadata proves nothing: a copy that another writer changed
    /// keeps it.
    func isProven(by found: ObjectMetadata, _ checksum: CRC64?) -> Bool {
        guard found.size == size else { return false }
        if found.etag == etag { return true }
        guard store.dialect.computesChecksum, let checksum else { return false }
        return found.stored.crc64 == checksum
    }
}

extension BucketCopy {
    /// Makes the object, and proves that it is of exactly this version of its source.
    ///
    /// - Throws: Why there is none; `alreadyExists` if the source is another version by now.
    func makeProven(at copy: ObjectKey) async throws(ItemFailure) {
        var answered: ETag?
        var cause = Self.failure("the store does not have the copy that it reported")
        do {
            do {
                answered = try await make(at: copy).etag
            } catch let error as StorageError {
                cause = Self.explained(error)
                guard error.mayHaveMadeObject else { throw cause }
            }
            let found = try await store.head(copy, knownSize: size)
            if let answered, found.size == size, found.etag == answered { return }
            let original = try await store.head(source, versionID: version)
            guard original.etag == etag else { throw ItemFailure.alreadyExists(nil) }
            guard isProven(by: found, original.stored.crc64) else { throw cause }
        } catch let error as StorageError {
            throw error.isNotFound ? cause : ItemFailure(error)
        } catch {
            throw ItemFailure(any: error)
        }
    }

    static func failure(_ reason: String) -> ItemFailure {
        .storage(
            message: "no copy could be made in the bucket, so the object was kept: \(reason)"
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
