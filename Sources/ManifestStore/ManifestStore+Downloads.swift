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
        _ range: RangeProgress,
        partialName: String
    ) async throws(ManifestError) {
        try DownloadRow.check(range)
        try await write([.saveRange(key, range, partialName: partialName)])
    }

    /// Records that the partial file of a download is at rest and is `seal`; the next change of the
    /// file makes the seal void by itself.
    ///
    /// - Throws: ``ManifestError/checkpointGone(_:)`` as ``saveRange(_:_:partialName:)``.
    package nonisolated func sealDownload(
        _ key: ObjectKey,
        _ seal: FileIdentity,
        partialName: String
    ) async throws(ManifestError) {
        try await write([.sealDownload(key, seal, partialName: partialName)])
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
                    try DownloadRow.read(
                        statement,
                        ranges: { key throws(ManifestError) in try connection.ranges(of: key) },
                        seal: { key throws(ManifestError) in try connection.seal(of: key) }
                    )
                )
            }
            return checkpoints
        }
    }
}

extension Connection {
    fileprivate func ranges(of key: ObjectKey) throws(ManifestError) -> [RangeProgress] {
        var ranges: [RangeProgress] = []
        try forEachRow(.selectRanges, [.blob(key.bytes)]) { statement throws(ManifestError) in
            ranges.append(try DownloadRow.readRange(statement))
        }
        return ranges
    }

    fileprivate func seal(of key: ObjectKey) throws(ManifestError) -> FileIdentity? {
        var seal: FileIdentity?
        try forEachRow(.selectSeal, [.blob(key.bytes)]) { statement throws(ManifestError) in
            seal = try DownloadRow.readSeal(statement)
        }
        return seal
    }

    func begin(_ checkpoint: DownloadCheckpoint) throws(ManifestError) {
        try run(.deleteDownload, [.blob(checkpoint.key.bytes)])
        try run(.insertDownload, DownloadRow.values(of: checkpoint))
        for range in checkpoint.ranges {
            try run(.upsertRange, DownloadRow.values(of: range, key: checkpoint.key))
        }
        if let seal = checkpoint.seal {
            try run(.upsertSeal, DownloadRow.values(of: seal, key: checkpoint.key))
        }
    }

    func save(
        _ range: RangeProgress,
        of key: ObjectKey,
        partialName: String
    ) throws(ManifestError) {
        let download = try download(key, partialName)
        guard range.range.end <= download.size else { throw .checkpointGone(key) }
        try run(.upsertRange, DownloadRow.values(of: range, key: key))
    }

    func seal(
        _ key: ObjectKey,
        _ seal: FileIdentity,
        partialName: String
    ) throws(ManifestError) {
        _ = try download(key, partialName)
        try run(.upsertSeal, DownloadRow.values(of: seal, key: key))
    }

    /// The key's download, if it is still the one with this partial file; without its ranges.
    private func download(
        _ key: ObjectKey,
        _ partialName: String
    ) throws(ManifestError) -> DownloadCheckpoint {
        var found: DownloadCheckpoint?
        try forEachRow(.selectDownload, [.blob(key.bytes)]) { statement throws(ManifestError) in
            found = try DownloadRow.read(statement, ranges: { _ in [] }, seal: { _ in nil })
        }
        guard let found, found.partialName == partialName else { throw .checkpointGone(key) }
        return found
    }
}
