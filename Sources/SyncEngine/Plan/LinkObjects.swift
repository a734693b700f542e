internal import SyncModel
internal import SyncPlanner

/// The objects that stand for symbolic links and that a run fetches as files.
struct LinkObjects: Sendable {
    private let links: LinkPolicy
    private var count = 0

    init(_ links: LinkPolicy) {
        self.links = links
    }

    mutating func note(_ item: PlannedItem) {
        guard links != .store, item.entry.key.isOfLink, item.entry.local == nil,
            item.decision.createsLocal, let size = item.entry.remote?.size,
            (1...Int64(RelativePath.maximumLinkLength)).contains(size)
        else { return }
        count += 1
    }

    /// The message about them, once per run; nil if there are none.
    var message: String? {
        guard count > 0 else { return nil }
        let what =
            count == 1 ? "1 object is a symbolic link" : "\(count) objects are symbolic links"
        return "\(what) (NAME\(ObjectKey.linkSuffix)); --links store creates "
            + (count == 1 ? "it" : "them")
    }
}
