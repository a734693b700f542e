package import SyncModel

extension SentParts: Row {
    static var table: Table { .sentParts }

    static func code(_ parts: Self?, _ columns: inout RowCoder) throws(ManifestError) -> Self {
        let key = try columns.key(parts?.key, limit: ManifestLimits.key)
        let found = SentParts(
            key: key,
            etag: try columns.etag(parts?.etag),
            size: try columns.count(parts?.size, "its size"),
            partSize: try columns.count(parts?.partSize, "its part size"),
            contents: try columns.bytes(parts?.contents, "its parts")
        )
        guard let found else { throw columns.failure("it has other parts than its size says") }
        return found
    }
}

extension RowSelection<SentParts> {
    static func sentParts(_ key: ObjectKey) -> Self {
        Self(.selectSentParts, from: key, key: { $0.key })
    }
}

extension ManifestStore {
    /// What the parts of the key's object contain.
    ///
    /// Nil also for a row that is damaged: it only saves what is sent, and its next writing mends
    /// it.
    package func sentParts(of key: ObjectKey) throws(ManifestError) -> SentParts? {
        try withConnection { connection throws(ManifestError) in
            do throws(ManifestError) {
                return try RowSelection.sentParts(key).page(connection, limit: 1).first
            } catch {
                guard case .invalidRow = error else { throw error }
                return nil
            }
        }
    }
}
