internal import ObjectStorage
internal import SyncModel
internal import SyncPlanner

/// Markers of directories that are not here.
extension Preview {
    /// To be called after the last item.
    mutating func finish(_ coverage: PlanCoverage) async throws {
        if let error = coverage.listingFailure { throw error }
        var outcomes: [HeldMarkers.Outcome] = []
        markers.finish(&outcomes)
        for outcome in outcomes { try await showMarker(outcome) }
        for marker in markersOfModes where try await hasOthers(beneath: marker) { keep(marker) }
        countSmallRenames()
    }

    /// A marker of which something was shown already if it was to be deleted.
    mutating func showMarker(_ outcome: HeldMarkers.Outcome) async throws {
        switch outcome {
        case .made(let item):
            keep(item.entry.key)
            try await show(.makeDirectory, item.entry)
        case .passed(let item, let stays):
            guard case .deleteRemote = item.decision else {
                return try await show(item.decision, item.entry)
            }
            if stays { return keep(item.entry.key) }
            if markers.hasMode(item.entry), markersOfModes.count < Self.limit {
                markersOfModes.append(item.entry.key)
            }
        }
    }

    /// Takes back that an object is deleted.
    private mutating func keep(_ key: ObjectKey) {
        guard deleted.remove(key) != nil else { return }
        deletions.removeAll { $0.key == key }
        context.tracker.count { $0.deleted -= 1 }
    }

    /// True if the bucket has an object beneath a marker that no run of this plan deletes: one that
    /// filters left out, or of another shard.
    private func hasOthers(beneath marker: ObjectKey) async throws -> Bool {
        let prefix = context.objectKey(marker)
        let count = prefix.bytes.count - marker.bytes.count
        var last = prefix
        while true {
            let request = ListRequest(
                prefix: prefix,
                startAfter: last,
                delimiter: nil,
                maximumKeys: 1_000
            )
            let page = try await context.store.list(request)
            var validator = ListingValidator()
            try validator.accept(page, request: request)
            for object in page.objects
            where !deleted.contains(ObjectKey(object.key.bytes.dropFirst(count))) {
                return true
            }
            guard page.next != nil, let end = page.objects.last?.key else { return false }
            last = end
        }
    }
}
