internal import ManifestStore
internal import SyncModel
internal import SyncPlanner

extension Decision {
    /// What follows from it if it is a conflict, as a decision like any other; nil where neither
    /// side is touched.
    var following: Decision? {
        guard case .conflict(_, let resolution) = self else { return self }
        return switch resolution {
        case .download, .downloadKeepingLocal: .download(.changed)
        case .upload: .upload(.changed)
        case .deleteLocal: .deleteLocal(.known)
        case .deleteRemote: .deleteRemote(.known)
        case .leaveBoth, .stopRun: nil
        }
    }

    /// What carrying it out deletes, as it was when the plan was made; nil if there is nothing.
    func plannedDeletion(of entry: JoinedEntry) -> PlannedDeletion? {
        if case .deleteRemote = self {
            guard let object = entry.remote else { return nil }
            return PlannedDeletion(
                key: entry.key,
                side: .remote,
                size: object.size,
                etag: object.etag,
                identity: nil
            )
        }
        let file = entry.local?.identity
        return PlannedDeletion(
            key: entry.key,
            side: .local,
            size: file?.size ?? 0,
            etag: nil,
            identity: file
        )
    }

    /// Bytes by which carrying it out makes the directory larger; below 0 for smaller.
    func growth(of entry: JoinedEntry) -> Int64 {
        let (old, new) = (entry.local?.identity?.size ?? 0, entry.remote?.size ?? 0)
        if case .conflict(_, .downloadKeepingLocal) = self { return new }
        return switch following {
        case .download, .downloadAfterDeletions: new - old
        case .deleteLocal: -old
        default: 0
        }
    }

    /// True if carrying it out is certain to move content, which the progress counts.
    var movesBytes: Bool {
        switch following {
        case .download, .upload, .uploadMarker: true
        default: false
        }
    }

    /// True if what is moved, if anything, is the file's content.
    var sendsFile: Bool {
        switch following {
        case .upload, .uploadMarker: true
        case .compare(_, let same, let different): same.sendsFile || different.sendsFile
        default: false
        }
    }

    /// True if something of either side goes.
    var isDeletion: Bool {
        switch following {
        case .deleteLocal, .deleteRemote: true
        default: false
        }
    }

    /// True if it puts something in the key's place in the directory, or follows from nothing being
    /// there: both are wrong where the walk could not look.
    var dependsOnWalk: Bool {
        if case .conflict(.localGoneRemoteChanged, _) = self { return true }
        return createsLocal
    }
}
