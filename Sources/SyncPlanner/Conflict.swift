internal import SyncModel

/// How the two sides came to disagree.
package enum ConflictKind: Sendable, Hashable, CaseIterable {
    /// Both have it, it was never synced, and the contents differ.
    case bothNew
    /// Both changed it, differently.
    case bothChanged
    /// Push: the remote has a newer version than the file, which is as recorded.
    case remoteNewer
    /// Push: the directory lost it and the remote changed it.
    case localGoneRemoteChanged
    /// The directory changed it and the remote lost it.
    case localChangedRemoteGone

    package var message: String {
        switch self {
        case .bothNew: "both sides have it, with different content, and it was never synced"
        case .bothChanged: "both sides changed it since the last run"
        case .remoteNewer: "changed in the bucket since the last run"
        case .localGoneRemoteChanged: "it was removed here and changed in the bucket"
        case .localChangedRemoteGone: "it was changed here and removed in the bucket"
        }
    }
}

/// What is done about a conflict.
package enum ConflictResolution: Sendable, Hashable, CaseIterable {
    /// The file is renamed to its conflict name, then the object is downloaded to its place.
    case downloadKeepingLocal
    /// The object is downloaded; the file goes to the trash.
    case download
    /// The file is uploaded over the listed version of the object, or as a new object.
    case upload
    /// The file goes to the trash, with the other deletions at the end of the run.
    case deleteLocal
    /// The listed version of the object is deleted, with the other deletions at the end.
    case deleteRemote
    /// Neither side is touched; the conflict is reported, now and in every later run.
    case leaveBoth
    /// Neither side is touched, and the run ends here.
    case stopRun

    /// What is done about a conflict of that kind, or else what can be; safe to print.
    package func message(_ kind: ConflictKind, _ policy: DecisionPolicy) -> String {
        switch self {
        case .downloadKeepingLocal: "the version here is kept beside the bucket's"
        case .download: "the bucket's version replaces the one here"
        case .upload: "the version here is sent"
        case .deleteLocal: "the version here goes to the trash"
        case .deleteRemote: "the bucket's version is deleted"
        case .leaveBoth: "neither side was changed; " + Self.advice(kind, policy)
        case .stopRun: "the run stops here because of --on-conflict fail"
        }
    }

    /// How a conflict that this run leaves alone can be settled: a direction never changes the side
    /// it reads from, so one of the two versions may need a run the other way.
    private static func advice(_ kind: ConflictKind, _ policy: DecisionPolicy) -> String {
        let way =
            switch (policy.direction, kind) {
            case (.pull, .localChangedRemoteGone): "a push brings it back to the bucket"
            case (.pull, _) where policy.conflict == .local:
                "a push with --on-conflict local sends the version here"
            case (.pull, _): "--on-conflict keep-both fetches the bucket's version"
            case (.push, .localGoneRemoteChanged), (.push, .remoteNewer): "a pull fetches it"
            case (.push, _): "--on-conflict local sends the version here"
            case (.sync, .localGoneRemoteChanged), (.sync, .localChangedRemoteGone):
                "--on-conflict keep-both keeps what exists"
            case (.sync, _): "--on-conflict keep-both keeps both"
            }
        return way + " ('osssync help conflicts')"
    }
}

/// Who gives way, by the kind of the conflict, the direction and the choice.
///
/// A direction never changes the side it reads from: what would need that is left alone and
/// reported. A deletion needs both the choice and `--delete`.
package func resolution(
    of kind: ConflictKind,
    _ policy: DecisionPolicy
) -> ConflictResolution {
    switch (policy.conflict, policy.direction) {
    case (.fail, _): return .stopRun
    case (.skip, _): return .leaveBoth
    case (.remote, .push), (.local, .pull): return .leaveBoth
    case (.keepBoth, .push): return .leaveBoth
    case (.local, .push), (.local, .sync):
        switch kind {
        case .bothNew, .bothChanged, .remoteNewer, .localChangedRemoteGone: return .upload
        case .localGoneRemoteChanged: return policy.deletes ? .deleteRemote : .leaveBoth
        }
    case (.remote, .pull), (.remote, .sync):
        switch kind {
        case .bothNew, .bothChanged, .remoteNewer, .localGoneRemoteChanged: return .download
        case .localChangedRemoteGone: return policy.deletes ? .deleteLocal : .leaveBoth
        }
    case (.keepBoth, .pull), (.keepBoth, .sync):
        switch kind {
        case .bothNew, .bothChanged: return .downloadKeepingLocal
        case .remoteNewer, .localGoneRemoteChanged: return .download
        // A removal is no version: what there is to keep is the changed file.
        case .localChangedRemoteGone: return policy.direction == .sync ? .upload : .leaveBoth
        }
    }
}
