package import SyncModel

extension ManifestStore {
    /// Notes what an object contains, in place of what was noted of an earlier version.
    package func note(_ content: FetchedContent) throws(ManifestError) {
        try ComparisonRow.check(content)
        try transaction { connection throws(ManifestError) in
            try connection.run(.upsertComparison, ComparisonRow.values(of: content))
        }
    }

    /// What was noted of the key's object; nil if nothing was.
    package func fetchedContent(_ key: ObjectKey) throws(ManifestError) -> FetchedContent? {
        try withConnection { connection throws(ManifestError) in
            var found: FetchedContent?
            try connection.forEachRow(.selectComparison, [.blob(key.bytes)]) {
                statement throws(ManifestError) in
                found = try ComparisonRow.read(statement)
            }
            return found
        }
    }

    /// Drops all notes: nothing is left to compare.
    package func dropFetchedContents() throws(ManifestError) {
        try transaction { connection throws(ManifestError) in
            try connection.run(.deleteAllComparisons, [])
        }
    }

    package func hasFetchedContents() throws(ManifestError) -> Bool {
        try withConnection { connection throws(ManifestError) in
            try connection.firstValue(.selectAnyComparison, []) != nil
        }
    }
}
