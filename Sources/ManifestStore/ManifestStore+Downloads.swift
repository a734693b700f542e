package import SyncModel

extension ManifestStore {
    package func downloadCheckpoint(
        _ key: ObjectKey
    ) throws(ManifestError) -> DownloadCheckpoint? {
        try downloads(.selectDownload, [.blob(key.bytes)]).first
    }

    /// Up to `limit` checkpoints in key order, after `after`.
    package func downloadCheckpoints(
        after: ObjectKey?,
        limit: Int
    ) throws(ManifestError) -> [DownloadCheckpoint] {
        try downloads(.selectDownloads, [.blob(after?.bytes ?? []), .integer(Int64(limit))])
    }

    /// Records a download with its ranges, in place of an earlier one of the same key.
    package nonisolated func beginDownload(
        _ checkpoint: DownloadCheckpoint
    ) async throws(ManifestError) {
        try await beginDownloads([checkpoint])
    }

    /// The same for several, all or none of them.
    package nonisolated func beginDownloads(
        _ checkpoints: [DownloadCheckpoint]
    ) async throws(ManifestError) {
        for checkpoint in checkpoints { try DownloadRow.check(checkpoint) }
        try await write(checkpoints.map { .beginDownload($0) })
    }

    /// Records how far one range is.
    ///
    /// - Throws: ``ManifestError/checkpointGone(_:)`` if the key's download is not, or no longer,
    ///   the one with the partial file `partialName`: a late range of one version must not count
    ///   for the next.
    package nonisolated func saveRange(
        _ key: ObjectKey,
        _ range: RangeCheckpoint,
        partialName: String
    ) async throws(ManifestError) {
        try DownloadRow.check(range)
        try await write([.saveRange(key, range, partialName: partialName)])
    }

    /// Drops the checkpoint and its ranges; nothing happens if there is none.
    package nonisolated func dropDownload(_ key: ObjectKey) async throws(ManifestError) {
        try await write([.change(.finishDownload(key))])
    }

    private func downloads(
        _ query: Query,
        _ values: [SQLValue]
    ) throws(ManifestError) -> [DownloadCheckpoint] {
        try withConnection { connection throws(ManifestError) in
            var checkpoints: [DownloadCheckpoint] = []
            try connection.forEachRow(query, values) { statement throws(ManifestError) in
                checkpoints.append(
                    try DownloadRow.read(statement) { key throws(ManifestError) in
                        try connection.ranges(of: key)
                    }
                )
            }
            return checkpoints
        }
    }
}

extension Connection {
    fileprivate func ranges(of key: ObjectKey) throws(ManifestError) -> [RangeCheckpoint] {
        var ranges: [RangeCheckpoint] = []
        try forEachRow(.selectRanges, [.blob(key.bytes)]) { statement throws(ManifestError) in
            ranges.append(try DownloadRow.readRange(statement))
        }
        return ranges
    }

    func begin(_ checkpoint: DownloadCheckpoint) throws(ManifestError) {
        try run(.deleteDownload, [.blob(checkpoint.key.bytes)])
        try run(.insertDownload, DownloadRow.values(of: checkpoint))
        for range in checkpoint.ranges {
            try run(.upsertRange, DownloadRow.values(of: range, key: checkpoint.key))
        }
    }

    func save(
        _ range: RangeCheckpoint,
        of key: ObjectKey,
        partialName: String
    ) throws(ManifestError) {
        var isSameDownload = false
        try forEachRow(.selectDownload, [.blob(key.bytes)]) { statement throws(ManifestError) in
            let checkpoint = try DownloadRow.read(statement) { _ in [] }
            isSameDownload =
                checkpoint.partialName == partialName
                && range.offset + range.length <= checkpoint.size
        }
        guard isSameDownload else { throw .checkpointGone(key) }
        try run(.upsertRange, DownloadRow.values(of: range, key: key))
    }
}
