internal import SyncModel
internal import Synchronization

/// What shows that a body arrived as it was sent.
extension StorageClient {
    private var partChecksumHeader: String { dialect.header("checksum-crc32c") }

    /// True if the body's MD5 will be compared with the ETag.
    func needsMD5(of request: StorageRequest) -> Bool {
        guard lacksChecksums.load(ordering: .relaxed) else { return false }
        return request.partChecksum == nil || !partChecksums.areProof
    }

    /// The service's checksum of what it received decides.
    ///
    /// Where it sends none, the ETag decides if it is an MD5. Later bodies have their MD5 computed
    /// while they are sent; only this body is read again for it.
    func verify(
        _ sent: SentDigests,
        _ head: ResponseHead,
        _ wire: StorageRequest
    ) async throws(StorageError) {
        if dialect.computesChecksum, let received = dialect.checksum(head) {
            guard received == sent.checksum else {
                throw wire.failure(
                    .integrity(.wrongChecksum(sent: sent.checksum, received: received)),
                    head: head
                )
            }
            return
        }
        if let checksum = wire.partChecksum, try isVerified(checksum, head, wire) { return }
        lacksChecksums.store(true, ordering: .relaxed)
        guard let received = head["etag"].flatMap({ ETag(wire: $0).md5Digest }),
            !dialect.isEncrypted(head)
        else { return }
        var computed = sent.md5
        if computed == nil { computed = try await self.digest(of: wire) }
        let digest = hexadecimalText(computed ?? [])
        guard received == digest else {
            throw wire.failure(
                .integrity(.wrongDigest(sent: digest, received: received)),
                head: head
            )
        }
    }

    /// True if the answer's CRC-32C proves that the part arrived; throws if it is another one.
    private func isVerified(
        _ checksum: UInt32,
        _ head: ResponseHead,
        _ wire: StorageRequest
    ) throws(StorageError) -> Bool {
        guard let received = head[partChecksumHeader] else {
            partChecksums.distrust()
            return false
        }
        let text = checksumText(checksum)
        guard received == text else {
            throw wire.failure(
                .integrity(.wrongPartChecksum(sent: text, received: received)),
                head: head
            )
        }
        return partChecksums.areProof
    }

    /// Sends the CRC-32C of a part with it, if its upload has these.
    func addChecksum(to part: inout StorageRequest, of upload: UploadID) async throws(StorageError)
    {
        guard partChecksums.contains(upload) else { return }
        let checksum: UInt32
        do throws(TransportError) {
            checksum = try await part.body.crc32c()
        } catch {
            throw part.failure(kind(of: error))
        }
        if partChecksums.beginTrial() { await tryWrongChecksum(in: part) }
        part.partChecksum = checksum
        part.headers.append((partChecksumHeader, checksumText(checksum)))
    }

    /// Sends a byte with a wrong CRC-32C in place of the part that is sent next.
    ///
    /// A store that compares refuses it; one that does not gets the part itself right afterwards,
    /// under the same number.
    func tryWrongChecksum(in part: StorageRequest) async {
        var wire = part
        wire.body = .bytes([0])
        wire.headers.append((partChecksumHeader, checksumText(0)))
        var context = AttemptContext()
        do throws(StorageError) {
            _ = try await send(wire, &context)
            partChecksums.endTrial(isProof: false)
        } catch {
            // Whatever else it is, MD5 remains the proof.
            partChecksums.endTrial(isProof: error.isWrongChecksum)
        }
    }
}
