package import SyncModel

extension FetchedContent: Row {
    static var table: Table { .comparison }

    static func code(
        _ content: Self?,
        _ columns: inout RowCoder
    ) throws(ManifestError) -> Self {
        FetchedContent(
            key: try columns.key(content?.key, limit: ManifestLimits.key),
            size: try columns.count(content?.size, "its size"),
            etag: try columns.etag(content?.etag),
            crc64: CRC64(value: try columns.bits(content?.crc64.value, "its CRC-64"))
        )
    }
}

extension RowSelection<FetchedContent> {
    /// What was noted of the key's object.
    package static func fetchedContent(_ key: ObjectKey) -> Self {
        Self(.selectComparison, from: key, key: { $0.key })
    }
}

extension ManifestStore {
    /// Drops all notes: nothing is left to compare.
    package func dropFetchedContents() throws(ManifestError) {
        try transaction { connection throws(ManifestError) in
            try connection.run(.deleteAllComparisons)
        }
    }

    package func hasFetchedContents() throws(ManifestError) -> Bool {
        try withConnection { connection throws(ManifestError) in
            try connection.firstValue(.selectAnyComparison) != nil
        }
    }
}
