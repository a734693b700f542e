package import LocalStorage
package import ObjectStorage
package import SyncModel

extension TransferContext {
    private static let largestRead: Int64 = 8 << 20

    /// The CRC-64 of the content of this version of an object, which is fetched for it and kept
    /// nowhere.
    package func fetchedChecksum(
        _ key: ObjectKey,
        _ etag: ETag,
        _ size: Int64
    ) async throws(StorageError) -> CRC64 {
        var (checksum, offset) = (CRC64(), Int64(0))
        while offset < size {
            let length = min(Self.largestRead, size - offset)
            let range = ByteRange(offset: offset, length: length)
            let sink = FileSink(holding: length) { _ in }
            let request = GetRequest(
                key: objectKey(key),
                range: range,
                ifMatch: etag,
                totalSize: size
            )
            _ = try await store.get(request, into: sink)
            checksum = checksum.combined(with: sink.checksum, length: length)
            offset = range.end
        }
        return checksum
    }

    /// Compares a file with an encrypted object of which no more than the nonce is fetched: what
    /// the file becomes with it is what the store must have.
    package func compareSealed(
        _ file: OpenFile,
        with metadata: ObjectMetadata,
        of key: ObjectKey
    ) async throws -> DigestResult {
        guard let cipher = store.cipher, let etag = metadata.etag, metadata.size > 0,
            let nonce = try await store.nonce(of: objectKey(key), etag, size: metadata.size)
        else { return .unknown }
        let (size, source, stored) = (metadata.size, try file.identity(), metadata.stored)
        let digests = ContentDigest.computed(of: stored, partSize: partSize)
        let crc64 = store.dialect.computesChecksum ? stored.crc64 : nil
        return try await reading { interruption in
            let content: SealedBody.Source =
                if let text = file.linkText {
                    .bytes(text)
                } else {
                    .file(
                        FileRegion(
                            descriptor: file.descriptor,
                            range: ByteRange(offset: 0, length: size),
                            isUnchanged: nil
                        ),
                        isSame: { !interruption.isRaised && (try? file.identity()) == source }
                    )
                }
            let body: (ByteRange) -> SealedBody = { range in
                SealedBody(
                    content,
                    plainSize: size,
                    range: range,
                    cipher: cipher,
                    nonce: nonce,
                    isSent: false
                )
            }
            do throws(TransportError) {
                if let crc64 {
                    let whole = ByteRange(offset: 0, length: stored.size)
                    let isSame = try body(whole).checksum() == crc64
                    return isSame ? .proven : .contentMismatch(isSure: true)
                }
                for digest in digests where try digest.matches(size: stored.size, sealed: body) {
                    return .proven
                }
            } catch {
                if interruption.isRaised { throw CancellationError() }
                throw ItemFailure.sourceKeepsChanging
            }
            return Self.difference(digests, stored)
        }
    }
}
