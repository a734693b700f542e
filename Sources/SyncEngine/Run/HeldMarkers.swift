internal import SyncModel
internal import SyncPlanner

/// Markers of directories that are not here, where a plan is only shown: what a run makes of them
/// follows from what lies beneath.
///
/// The directory is made if something is fetched into it, and a marker with permissions that
/// `mkdir` does not give stays as long as the bucket has something beneath it.
struct HeldMarkers {
    enum Outcome {
        /// The directory is made with the permissions of the marker, which stays.
        case made(PlannedItem)
        /// Nothing more is beneath the marker; with `stays`, it is not deleted.
        case passed(PlannedItem, stays: Bool)

        /// What the run makes of the marker.
        var item: PlannedItem {
            switch self {
            case .made(let item): item.replacing(.makeDirectory)
            case .passed(let item, stays: true) where item.decision.isDeletion:
                item.replacing(.nothing(.impliedDirectory))
            case .passed(let item, _): item
            }
        }
    }

    /// The permissions that `mkdir` gives.
    private let ordinary: UInt32?
    /// Each beneath the one before.
    private var held: [(item: PlannedItem, hasObjects: Bool)] = []

    init(ordinary: UInt32?) { self.ordinary = ordinary }

    /// Takes the next item; true if it is held itself, or waits for what comes behind it.
    mutating func take(_ item: PlannedItem, _ outcomes: inout [Outcome]) -> Bool {
        release(into: &outcomes) { !item.entry.key.hasPrefix($0) }
        if item.isMarkerWithoutDirectory {
            held.append((item, false))
            return true
        }
        if item.needsDirectories {
            outcomes += held.map { .made($0.item) }
            held = []
        } else if item.keepsObject {
            for index in held.indices { held[index].hasObjects = true }
        }
        return false
    }

    /// To be called after the last item.
    mutating func finish(_ outcomes: inout [Outcome]) { release(into: &outcomes) { _ in true } }

    /// True for a marker that is deleted only once nothing is beneath it.
    func hasMode(_ entry: JoinedEntry) -> Bool {
        entry.base?.mode.map { $0 != ordinary } ?? false
    }

    private mutating func release(
        into outcomes: inout [Outcome],
        where isOver: (ObjectKey) -> Bool
    ) {
        while let (item, hasObjects) = held.last, isOver(item.entry.key) {
            held.removeLast()
            let isDeleted: Bool
            if case .deleteRemote = item.decision {
                isDeleted = !hasObjects || !hasMode(item.entry)
            } else {
                isDeleted = false
            }
            if !isDeleted {
                for index in held.indices { held[index].hasObjects = true }
            }
            outcomes.append(.passed(item, stays: !isDeleted))
        }
    }
}

extension PlannedItem {
    /// True if the bucket has something of the key after the run.
    fileprivate var keepsObject: Bool {
        switch decision.following {
        case .deleteRemote: false
        case .upload, .uploadMarker: true
        default: entry.remote != nil
        }
    }
}
