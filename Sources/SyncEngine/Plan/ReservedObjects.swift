internal import SyncModel
internal import SyncPlanner

/// The listed objects with a name of osssync's own files, which every run leaves out.
struct ReservedObjects: Sendable {
    private(set) var count = 0
    /// Those of them that are no mirror's trash.
    private(set) var kept = 0
    private var first: ObjectKey?

    mutating func note(_ item: PlannedItem) {
        guard item.entry.remote != nil else { return }
        switch item.decision {
        // Nothing else is forgotten while its object is there.
        case .nothing(.reservedName), .forget:
            count += 1
            if !RemoteTrash.holds(item.entry.key) { kept += 1 }
            first = first ?? item.entry.key
        default: break
        }
    }

    /// The message about them, once per run; nil if there are none.
    var message: String? {
        guard let first else { return nil }
        let what = count == 1 ? "1 object has a name" : "\(count) objects have names"
        return "\(what) reserved for osssync's own files ('\(first.display)'"
            + (count == 1 ? "" : " is the first")
            + "); such objects are always skipped"
    }
}
