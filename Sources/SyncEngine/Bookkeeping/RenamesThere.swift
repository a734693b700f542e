internal import SyncModel
internal import SyncPlanner

/// Small files that were renamed in the bucket, as far as tags show it: they are fetched anew, and
/// the limit does not count their old names as deletions.
struct RenamesThere {
    /// Of contents; what is beyond counts as deleted.
    private static let limit = 100_000

    private struct Content: Hashable {
        let etag: ETag
        let size: Int64
    }

    private var new: [Content: Int] = [:]
    private var gone: [Content: Int] = [:]

    var isEmpty: Bool { new.isEmpty }

    /// How many of those that go have come under another name.
    var count: Int { gone.reduce(0) { $0 + min($1.value, new[$1.key] ?? 0) } }

    /// Notes an object that comes, if it is new here; larger ones are found by their contents, and
    /// their files are renamed.
    mutating func noteNew(_ entry: JoinedEntry, below smallest: Int64) {
        guard entry.base == nil, entry.local == nil, let object = entry.remote,
            object.size > 0, object.size < smallest, new.count < Self.limit
        else { return }
        new[Content(etag: object.etag, size: object.size), default: 0] += 1
    }

    /// Notes what goes because its object did.
    mutating func noteGone(_ row: ManifestEntry?) {
        guard let row, gone.count < Self.limit else { return }
        gone[Content(etag: row.etag, size: row.size), default: 0] += 1
    }
}
