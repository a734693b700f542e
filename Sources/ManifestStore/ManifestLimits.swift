internal import SyncModel

/// The largest values the manifest accepts, in bytes of UTF-8 unless said otherwise.
enum ManifestLimits {
    /// What both services allow for a key.
    static let key = 1_024
    /// A file that was never mirrored may have a path that no key can have.
    static let path = (RelativePath.maximumComponentLength + 1) * RelativePath.maximumDepth
    static let etag = ETag.maximumLength
    static let storageClass = 128
    static let uploadID = UploadID.maximumLength
    static let fileName = 255
    static let token = 256
    static let settingName = 128
    static let settingValue = 65_536
    static let remote = 8_192
    static let word = 64
    /// Longer messages are cut, because losing the end of one is not worth failing for.
    static let message = 4_096
    /// Ranges of one download, which is one more than the largest index.
    static let rangeCount = 1 << 20
    /// Runs that are kept; beginning one more drops the oldest.
    static let runs = 1_000
    /// Runs whose items are kept: with the 5,000 that a run records at most, 100,000 rows.
    static let runsWithItems = 20
    /// Batches of ``rowsPerTransaction`` older items that the beginning of a run drops at most.
    static let itemBatches = 16
    /// Rows changed by one transaction, so that a group never grows without bound.
    static let rowsPerTransaction = 4_096
}

extension String {
    /// At most `limit` bytes, cut between scalars.
    func cut(toBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var result = String.UnicodeScalarView()
        var count = 0
        for scalar in unicodeScalars {
            count += UTF8.width(scalar)
            // Leaves room for the ellipsis, of three bytes.
            guard count + 3 <= limit else { break }
            result.append(scalar)
        }
        result.append("…")
        return String(result)
    }
}
