package import SyncModel

/// Moving rows between manifests, when a mirror is cut.
extension ManifestStore {
    /// Above every schema: an osssync that knows nothing of shards refuses such a manifest.
    private static let cutVersion: Int64 = 1_000_000

    /// Adds what another manifest, which is closed, has of the keys of a range; with
    /// `takesSettings`, also its settings, but for those that are here already.
    ///
    /// The other one is in `directory`.
    package func takeRows(
        of range: KeyRange,
        from directory: String,
        takesSettings: Bool
    ) throws(ManifestError) {
        let path = directory + "/" + ManifestFiles.databaseName
        let end = range.upper ?? .endOfKeys
        let bounds = [SQLValue.blob(range.lower.bytes), .blob(end.bytes)]
        try withConnection { connection throws(ManifestError) in
            try connection.attaching(path) { () throws(ManifestError) in
                try connection.transaction { () throws(ManifestError) in
                    for copy in RowCopy.ofKeys { try connection.execute(copy, bounds) }
                    guard takesSettings else { return }
                    for copy in RowCopy.ofMirror { try connection.execute(copy) }
                }
            }
        }
    }

    /// Gives back the memory that reading has filled: of many manifests that are open at once, each
    /// would keep some megabytes.
    package func releaseMemory() throws(ManifestError) {
        try withConnection { connection throws(ManifestError) in
            _ = try connection.execute(Schema.releaseMemory)
        }
    }

    /// Makes this manifest one that an osssync refuses which knows nothing of shards.
    package func markCut() throws(ManifestError) {
        try transaction { connection throws(ManifestError) in
            _ = try connection.execute(Schema.writeVersion(Self.cutVersion))
        }
    }
}
