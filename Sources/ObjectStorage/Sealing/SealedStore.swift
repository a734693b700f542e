package import SyncModel
internal import Synchronization

/// A bucket whose contents are encrypted, as it is without that: listings and headers have the
/// sizes of the files, and reads give their bytes.
///
/// What is written is not changed on its way: who writes content makes a ``SealedBody``, because
/// the nonce belongs to the upload. Directory markers and links of the store are stored as they
/// are. The store's checksums are of what it has, so none is told of the content; that what was
/// read is what was written follows from each block's own proof.
///
/// Not guaranteed: that the end is there. Whoever may write the bucket can cut an object where a
/// block ends.
package struct SealedStore: ObjectStore {
    fileprivate let reader: SealedReader

    package init(_ store: any ObjectReader, _ cipher: ContentCipher) {
        reader = SealedReader(store: store, key: cipher)
    }

    package var dialect: StorageDialect { reader.dialect }
    package var cipher: ContentCipher? { reader.key }

    package func read<Answer>(
        _ call: StoreCall<any ObjectReader, Answer>
    ) async throws(StorageError) -> Answer {
        try await call.body(reader)
    }

    package func write<Answer>(
        _ call: StoreCall<StorageClient, Answer>
    ) async throws(StorageError) -> Answer {
        try await reader.store.writable(for: call).write(call)
    }
}

extension ObjectStore {
    /// The nonce of an encrypted object, for which its first 32 bytes are read.
    ///
    /// Nil in a store whose contents are stored as they are. The key is the whole one.
    package func nonce(
        of key: ObjectKey,
        _ etag: ETag,
        size: Int64
    ) async throws(StorageError) -> SealedNonce? {
        let request = GetRequest(key: key, ifMatch: etag)
        return try await read(
            StoreCall("GetObject", key) { (store) throws(StorageError) in
                guard let store = store as? SealedStore else { return nil }
                return try await store.reader.nonce(
                    of: request,
                    storedSize: SealedFormat.storedSize(of: size)
                )
            }
        )
    }
}

extension ObjectReader {
    /// Reads the beginning of an encrypted object, which shows whether it can be read.
    ///
    /// Does nothing in a store whose contents are stored as they are. The key is the whole one.
    ///
    /// - Throws: Of kind `integrity` if it is not encrypted, or not with this password.
    package func requireReadable(
        _ key: ObjectKey,
        _ etag: ETag,
        size: Int64
    ) async throws(StorageError) {
        guard cipher != nil else { return }
        guard size > 0 else {
            _ = try await head(key, versionID: nil)
            return
        }
        let request = GetRequest(
            key: key,
            range: ByteRange(offset: 0, length: 1),
            ifMatch: etag,
            totalSize: size
        )
        _ = try await get(request, into: FileSink(holding: 1) { _ in })
    }
}

private struct SealedReader: ObjectReader {
    let store: any ObjectReader
    let key: ContentCipher
    private let nonces = KnownNonces()

    var dialect: StorageDialect { store.dialect }

    func list(_ request: ListRequest) async throws(StorageError) -> ListPage {
        var page = try await store.list(request)
        page.objects = page.objects.map(opened(_:))
        return page
    }

    private func opened(_ object: RemoteObject) -> RemoteObject {
        guard object.kind != .symlink, !isMarker(object.key, object.size) else { return object }
        let size = SealedFormat.plainSize(of: object.size)
        return RemoteObject(
            key: object.key,
            size: size ?? object.size,
            etag: object.etag,
            lastModified: object.lastModified,
            storageClass: object.storageClass,
            kind: size == nil ? .notEncrypted : object.kind,
            restoreState: object.restoreState,
            isThroughLink: object.isThroughLink
        )
    }

    /// True for an object that stands for a directory.
    private func isMarker(_ key: ObjectKey, _ size: Int64) -> Bool {
        size == 0 && key.isDirectoryMarker
    }

    func head(
        _ key: ObjectKey,
        versionID: VersionID?
    ) async throws(StorageError) -> ObjectMetadata {
        let found = try await store.head(key, versionID: versionID)
        guard !isMarker(key, found.size) else { return found }
        guard let size = SealedFormat.plainSize(of: found.size) else {
            // What a link leads to may be outside of the mirror, and is none of its objects.
            if found.kind == .symlink { return found }
            throw failure(.notEncrypted, key, "HeadObject")
        }
        // No read of the content shows whose it is.
        if size == 0 {
            _ = try await nonce(
                of: GetRequest(key: key, ifMatch: found.etag, versionID: versionID),
                storedSize: found.size
            )
        }
        return described(found, size)
    }

    private func described(_ found: ObjectMetadata, _ size: Int64) -> ObjectMetadata {
        var metadata = found
        metadata.sealed = SealedContent(found)
        metadata.size = size
        (metadata.crc64, metadata.partSize) = (nil, nil)
        (metadata.checksums, metadata.partChecksums) = ([:], [:])
        metadata.userMetadata["md5chksum"] = nil
        metadata.isEncrypted = true
        return metadata
    }

    func partSize(
        _ key: ObjectKey,
        of etag: ETag,
        versionID: VersionID?
    ) async throws(StorageError) -> Int64? {
        nil
    }

    func get(
        _ request: GetRequest,
        into sink: FileSink
    ) async throws(StorageError) -> ObjectMetadata {
        let whole = ByteRange(offset: 0, length: sink.expectedLength)
        let plain = request.range ?? whole
        guard let size = request.range == nil ? sink.expectedLength : request.totalSize,
            size > 0, plain.length == sink.expectedLength, !plain.isEmpty, plain.end <= size
        else {
            throw StorageError(
                kind: .invalidRequest("a range of an encrypted object is within its known size"),
                operation: "GetObject",
                key: request.key
            )
        }
        let storedSize = SealedFormat.storedSize(of: size)
        let first = plain.offset / SealedFormat.blockSize
        let last = (plain.end - 1) / SealedFormat.blockSize
        let start = first == 0 ? 0 : SealedFormat.offset(ofBlock: first)
        let end = min(SealedFormat.offset(ofBlock: last + 1), storedSize)
        let opener = BlockOpener(
            into: sink,
            plain,
            storedSize: storedSize,
            cipher: key,
            nonce: first == 0 ? nil : try await nonce(of: request, storedSize: storedSize)
        )
        var wire = request
        if request.range != nil { wire.range = ByteRange(offset: start, length: end - start) }
        wire.totalSize = storedSize
        let stored = FileSink(opening: opener, expectedLength: end - start)
        do throws(StorageError) {
            let found = try await store.get(wire, into: stored)
            if let nonce = opener.foundNonce { nonces.remember(nonce, request) }
            return described(found, size)
        } catch {
            guard let failure = opener.failure else { throw error }
            // Its header may be what is wrong.
            nonces.forget(request)
            throw self.failure(failure, request.key, "GetObject")
        }
    }

    /// What an object begins with, of which only a later part is read, or nothing else.
    func nonce(
        of request: GetRequest,
        storedSize: Int64
    ) async throws(StorageError) -> SealedNonce {
        if let known = nonces.nonce(of: request) { return known }
        var header = request
        header.range = ByteRange(offset: 0, length: SealedFormat.headerLength)
        header.totalSize = storedSize
        let sink = FileSink(holding: SealedFormat.headerLength) { _ in }
        _ = try await store.get(header, into: sink)
        let nonce = sink.withHeldBytes { bytes in
            unsafe bytes.withUnsafeBytes { unsafe SealedNonce(header: $0) }
        }
        guard let nonce else { throw failure(.notEncrypted, request.key, "GetObject") }
        nonces.remember(nonce, request)
        return nonce
    }

    private func failure(
        _ failure: SealedFailure,
        _ key: ObjectKey,
        _ operation: String
    ) -> StorageError {
        StorageError(kind: .integrity(.sealed(failure)), operation: operation, key: key)
    }

    func open(
        _ request: GetRequest,
        into makeSink: @escaping @Sendable (OpenedObject) async -> FileSink?
    ) async throws(StorageError) -> ObjectMetadata {
        var (wire, limit) = (request, Int64.max)
        if let form = request.form {
            guard case .bounded(let range) = form, range.offset == 0, !range.isEmpty else {
                throw StorageError(
                    kind: .invalidRequest("an encrypted object is opened at its beginning"),
                    operation: "GetObject",
                    key: request.key
                )
            }
            limit = range.end
            let end = SealedFormat.offset(ofBlock: (limit - 1) / SealedFormat.blockSize + 1)
            wire.form = .bounded(ByteRange(offset: 0, length: end))
        }
        let made = MadeOpener()
        let found: ObjectMetadata
        do throws(StorageError) {
            found = try await store.open(wire) { [self, limit] opened in
                guard let size = SealedFormat.plainSize(of: opened.metadata.size), size > 0
                else { return nil }
                let length = opened.ignoresRanges ? size : min(limit, size)
                let range = ByteRange(offset: 0, length: length)
                let plain = OpenedObject(
                    metadata: described(opened.metadata, size),
                    range: range,
                    ignoresRanges: opened.ignoresRanges
                )
                guard let sink = await makeSink(plain) else { return nil }
                let opener = BlockOpener(
                    into: sink,
                    range,
                    storedSize: opened.metadata.size,
                    cipher: key,
                    nonce: nil
                )
                made.opener.withLock { $0 = opener }
                return FileSink(opening: opener, expectedLength: opened.range.length)
            }
        } catch {
            guard let failure = made.opener.withLock({ $0?.failure }) else { throw error }
            throw self.failure(failure, request.key, "GetObject")
        }
        guard let size = SealedFormat.plainSize(of: found.size) else {
            throw failure(.notEncrypted, request.key, "GetObject")
        }
        // As of an object without a byte; whose it is, its headers' reader finds out.
        guard size > 0 else {
            throw StorageError(
                kind: .service(status: 416, code: "InvalidRange"),
                operation: "GetObject",
                key: request.key
            )
        }
        return described(found, size)
    }

    func symlinkTarget(_ key: ObjectKey) async throws(StorageError) -> ObjectKey {
        try await store.symlinkTarget(key)
    }
}

/// What opens an object once the head of its answer has come.
private final class MadeOpener: Sendable {
    let opener = Mutex<BlockOpener?>(nil)
}

/// The nonces of objects that are read in several ranges.
private final class KnownNonces: Sendable {
    private struct Version: Hashable {
        let key: ObjectKey
        let etag: ETag
        let id: VersionID?
    }

    /// More large objects than this are never read at once.
    private static let limit = 256
    private let known = Mutex<[Version: SealedNonce]>([:])

    /// Nil for what may be another version the next time.
    private func version(_ request: GetRequest) -> Version? {
        guard let etag = request.ifMatch else { return nil }
        return Version(key: request.key, etag: etag, id: request.versionID)
    }

    func nonce(of request: GetRequest) -> SealedNonce? {
        guard let version = version(request) else { return nil }
        return known.withLock { $0[version] }
    }

    func forget(_ request: GetRequest) {
        guard let version = version(request) else { return }
        known.withLock { $0[version] = nil }
    }

    func remember(_ nonce: SealedNonce, _ request: GetRequest) {
        guard let version = version(request), request.range != nil else { return }
        known.withLock { known in
            if known.count >= Self.limit { known = [:] }
            known[version] = nonce
        }
    }
}
