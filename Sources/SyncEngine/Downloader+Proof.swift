internal import LocalStorage
internal import ObjectStorage
internal import SyncModel

/// Downloads of objects without a CRC-64 of the store's: the whole file is held against what it
/// does say.
extension Downloader {
    /// True if the partial file is what the headers say, or nothing more can be known of it.
    func isTaken(
        _ file: OpenFile,
        _ object: PinnedObject,
        _ checksum: CRC64,
        _ shell: inout Shell
    ) async throws(ItemFailure) -> Bool {
        // Only the answer to a HEAD has every checksum that the store knows.
        if shell.metadata.map(isUnproven(_:)) ?? true, let found = try await head(),
            found.object.etag == object.etag
        {
            shell.metadata = found.metadata
        }
        shell.isProven = false
        guard let metadata = shell.metadata else { return true }
        let verdict: ContentVerdict
        do {
            verdict = try await means.judge(file, checksum: checksum, metadata)
        } catch {
            throw ItemFailure(any: error)
        }
        shell.isProven = verdict == .proven
        guard case .disproved(let isSure) = verdict else { return true }
        // The same content twice came as the store has it: then its tag is no MD5.
        let isTwice = shell.disproved == checksum
        shell.disproved = checksum
        guard isTwice, !isSure else { return false }
        means.emit(
            .warning(
                message: "'\(key.display)': the ETag looks like an MD5 but is not that of the "
                    + "content, which came twice the same and was taken as it is"
            )
        )
        return true
    }

    private func isUnproven(_ metadata: ObjectMetadata) -> Bool {
        metadata.crc64 == nil && metadata.etag?.md5Digest == nil
    }
}
