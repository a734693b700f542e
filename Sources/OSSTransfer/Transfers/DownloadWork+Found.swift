internal import LocalStorage
internal import ObjectTransfer
internal import SyncModel

extension DownloadWork {
    /// The file of a process that was ended between giving it its name and forgetting its record;
    /// nil if there is no such file.
    ///
    /// The record has the tag of the version that the file was made of, and the checksum of all its
    /// bytes, which are read for this; the partial file is gone, which had become the file.
    func found(_ context: TransferContext) async throws(ItemFailure) -> DownloadedFile? {
        let (object, metadata) = try await context.head(source.key)
        guard let (checksum, partialName) = await attempts.record.published(object) else {
            return nil
        }
        let verdict: DigestResult
        let directory = context.directory
        do {
            guard let file = try await published(partialName, object.size, context),
                try await context.reading({ interruption in
                    let whole = ByteRange(offset: 0, length: object.size)
                    return try file.checksum(of: whole, unless: interruption)
                }) == checksum
            else { return nil }
            verdict = try await context.proof(file, checksum: checksum, of: object, metadata)
            if case .contentMismatch = verdict { return nil }
            try await attempts.disk.run { () throws(LocalError) in
                try directory.disk.synchronize()
            }
        } catch {
            throw ItemFailure(ofTransfer: error)
        }
        let transfer = TransferCounter(.download, key: source.key, size: object.size)
        transfer.setResumed(object.size)
        context.observer.began(transfer, true)
        try await attempts.record.end()
        return file(metadata, checksum, isVerified: verdict == .proven)
    }

    /// The file, if the partial file has become it; nil if it is not what it was.
    private func published(
        _ partialName: String,
        _ size: Int64,
        _ context: TransferContext
    ) async throws -> OpenFile? {
        let (directory, name) = (context.directory, destination.name)
        return try await attempts.disk.run { () throws(LocalError) -> OpenFile? in
            guard try directory.partials.open(partialName, expectedSize: nil) == nil,
                case .file(let identity) = try directory.identity(of: name), identity.size == size
            else { return nil }
            return try directory.openForReading(name)
        }
    }
}
