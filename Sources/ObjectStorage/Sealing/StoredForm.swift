package import SyncModel

/// A bucket of which encrypted objects, too, are taken for files as they are stored.
package struct StoredForm: ObjectStore {
    private let store: any ObjectReader

    package init(_ store: any ObjectReader) {
        self.store = store
    }

    package var dialect: StorageDialect { store.dialect }
    package var refusesSealed: Bool { false }

    package func read<Answer>(
        _ call: StoreCall<any ObjectReader, Answer>
    ) async throws(StorageError) -> Answer {
        try await call.body(store)
    }

    package func write<Answer>(
        _ call: StoreCall<StorageClient, Answer>
    ) async throws(StorageError) -> Answer {
        try await store.writable(for: call).write(call)
    }
}

extension SealedFormat {
    /// ``magic`` as a number.
    private static let mark = UInt64(littleEndian: 0x0000_454E_4F4C_4352)

    /// True for an encrypted object: it says so, or it begins like one.
    ///
    /// What osssync sent as it was may be a file that another program encrypted.
    package static func isSealed(_ metadata: ObjectMetadata?, beginning: RawSpan) -> Bool {
        let known = metadata?.userMetadata
        if known?[StorageDialect.encryptionMetadataName] != nil { return true }
        guard beginning.byteCount >= magic.count,
            unsafe beginning.unsafeLoadUnaligned(as: UInt64.self) == mark
        else { return false }
        return known?[StorageDialect.tokenMetadataName] == nil
    }
}

extension ObjectReader {
    /// True if an encrypted object, which nothing here decrypts, is not taken for a file.
    package var refusesSealed: Bool { cipher == nil }

    /// True if an object that nothing is known of is encrypted, and nothing here decrypts it; the
    /// key is the whole one.
    ///
    /// Of an object that is not read, as an archived one, the metadata decide. False where nothing
    /// is said.
    package func isSealed(
        _ key: ObjectKey,
        _ etag: ETag,
        size: Int64
    ) async throws(StorageError) -> Bool {
        guard refusesSealed, SealedFormat.plainSize(of: size) != nil else { return false }
        let range = ByteRange(offset: 0, length: Int64(SealedFormat.magic.count))
        let sink = FileSink(holding: range.length) { _ in }
        let request = GetRequest(key: key, range: range, ifMatch: etag, totalSize: size)
        do throws(StorageError) {
            let metadata = try await get(request, into: sink)
            return sink.withHeldBytes { SealedFormat.isSealed(metadata, beginning: $0) }
        } catch {
            if error.isArchived || error.isAccessDenied {
                let metadata = try? await head(key, versionID: nil)
                return metadata?.userMetadata[StorageDialect.encryptionMetadataName] != nil
            }
            if error.isNotFound || error.isPreconditionFailed { return false }
            // Stores that ignore ranges or unpack, keys of the customer.
            if case .integrity = error.kind { return false }
            if case .service(status: 400, _) = error.kind { return false }
            throw error
        }
    }
}
