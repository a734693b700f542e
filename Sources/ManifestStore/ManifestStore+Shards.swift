package import SyncModel

/// Moving rows between manifests, when a mirror is cut.
extension ManifestStore {
    /// Above every schema: an osssync that knows nothing of shards refuses such a manifest.
    private static let cutVersion: Int64 = 1_000_000
    /// Behind every key.
    private static let endOfKeys = [UInt8](repeating: 0xFF, count: 2_048)

    /// Tables with a row or more for a key, parents before what refers to them.
    private static let tablesWithKeys = [
        "entry", "comparison", "download", "download_range", "download_seal", "upload",
        "upload_part",
    ]

    /// Adds what another manifest, which is closed, has of the keys of a range; with
    /// `takesSettings`, also its settings, but for those that are here already.
    ///
    /// - Parameter directory: Of the other one.
    package func takeRows(
        of range: KeyRange,
        from directory: String,
        takesSettings: Bool
    ) throws(ManifestError) {
        let path = directory + "/" + ManifestFiles.databaseName
        let bounds = [
            SQLValue.blob(range.lower.bytes), .blob(range.upper?.bytes ?? Self.endOfKeys),
        ]
        try withConnection { connection throws(ManifestError) in
            try connection.attaching(path) { () throws(ManifestError) in
                try connection.transaction { () throws(ManifestError) in
                    for table in Self.tablesWithKeys {
                        try connection.execute(
                            "INSERT INTO \(table) SELECT * FROM source.\(table) "
                                + "WHERE key >= ? AND key < ?",
                            bounds
                        )
                    }
                    guard takesSettings else { return }
                    for table in ["setting", "run"] {
                        try connection.execute(
                            "INSERT OR IGNORE INTO \(table) SELECT * FROM source.\(table)"
                        )
                    }
                }
            }
        }
    }

    /// Makes this manifest one that an osssync refuses which knows nothing of shards.
    package func markCut() throws(ManifestError) {
        try transaction { connection throws(ManifestError) in
            _ = try connection.execute(Schema.writeVersion(Self.cutVersion))
        }
    }
}
