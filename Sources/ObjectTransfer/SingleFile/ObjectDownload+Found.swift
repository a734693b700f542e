internal import LocalStorage
internal import ObjectStorage
internal import SyncModel

extension ObjectDownload {
    /// The file of a process that was ended between giving it its name and forgetting its record;
    /// nil if there is no such file.
    ///
    /// The record has the tag of the version that the file was made of, and the checksum of all its
    /// bytes, which are read for this; the partial file is gone, which had become the file.
    func found(_ context: TransferContext) async throws(ItemFailure) -> Finished? {
        let head = try await context.head(settings.key)
        guard let (checksum, partialName) = await record.published(head.object) else { return nil }
        let verdict: DigestResult
        let directory = context.directory
        do {
            guard let file = try await published(partialName, head.object.size, context),
                try await context.reading({ interruption in
                    let whole = ByteRange(offset: 0, length: head.object.size)
                    return try file.checksum(of: whole, unless: interruption)
                }) == checksum
            else { return nil }
            verdict = try await proof(file, checksum, head, context)
            if case .contentMismatch = verdict { return nil }
            try await services.disk.run { () throws(LocalError) in try directory.disk.synchronize()
            }
        } catch {
            throw ItemFailure(ofTransfer: error)
        }
        let transfer = TransferCounter(.download, key: settings.key, size: head.object.size)
        transfer.setResumed(head.object.size)
        context.observer.began(transfer, true)
        try await dropRecord()
        return Finished(
            etag: head.object.etag,
            size: head.object.size,
            checksum: checksum,
            isVerified: verdict == .proven,
            metadata: head.metadata
        )
    }

    /// The file, if the partial file has become it; nil if it is not what it was.
    private func published(
        _ partialName: String,
        _ size: Int64,
        _ context: TransferContext
    ) async throws -> OpenFile? {
        let (directory, name) = (context.directory, settings.destination.name)
        return try await services.disk.run { () throws(LocalError) -> OpenFile? in
            guard try directory.partials.open(partialName, expectedSize: nil) == nil,
                case .file(let identity) = try directory.identity(of: name), identity.size == size
            else { return nil }
            return try directory.openForReading(name)
        }
    }

    private func proof(
        _ file: OpenFile,
        _ checksum: CRC64,
        _ head: (object: PinnedObject, metadata: ObjectMetadata),
        _ context: TransferContext
    ) async throws -> DigestResult {
        guard head.object.size > 0 else { return .proven }
        guard settings.store.dialect.computesChecksum else {
            return try await context.verify(file, checksum: checksum, head.metadata)
        }
        guard let stated = head.object.crc64 else { return .unknown }
        return stated == checksum ? .proven : .contentMismatch(isSure: true)
    }
}
