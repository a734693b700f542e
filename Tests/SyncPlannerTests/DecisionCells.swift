import SyncModel
import SyncPlanner
import Testing

/// One side of a cell, relative to the recorded version.
enum SideState {
    case absent, same
    /// Same size, other mtime.
    case touched
    /// Other size.
    case changed
    /// Present, with the recorded size; for keys without a row.
    case present

    var local: LocalEntry? {
        switch self {
        case .absent: nil
        case .same, .present: file()
        case .touched: file(modified: Timestamp(seconds: 1_700_000_999))
        case .changed: file(size: 111)
        }
    }

    var remote: RemoteObject? {
        switch self {
        case .absent: nil
        case .same, .present: object()
        case .touched: object(etag: rewritten)
        case .changed: object(size: 222, etag: ETag(wire: "other"))
        }
    }
}

/// The tag of an object whose content may still be the recorded one.
private let rewritten = ETag(wire: "\"AB12-3\"")

struct FileCell: CustomTestStringConvertible {
    var isKnown: Bool
    var local: SideState
    var remote: SideState
    var pull: Decision
    var push: Decision
    var sync: Decision

    var testDescription: String { "known: \(isKnown), local \(local), remote \(remote)" }

    init(
        _ base: BaseState,
        _ local: SideState,
        _ remote: SideState,
        pull: Decision,
        push: Decision,
        sync: Decision
    ) {
        isKnown = base == .known
        self.local = local
        self.remote = remote
        self.pull = pull
        self.push = push
        self.sync = sync
    }

    enum BaseState { case none, known }

    var entry: JoinedEntry {
        SyncPlannerTests.entry(
            base: isKnown ? row() : nil,
            local: local.local,
            remote: remote.remote
        )
    }

    func expected(_ direction: SyncDirection) -> Decision {
        switch direction {
        case .pull: pull
        case .push: push
        case .sync: sync
        }
    }
}

private func sameFile(_ same: Decision, _ different: Decision) -> Decision {
    .compare(.fileWithRow(Recorded.crc64), same: same, different: different)
}

private func sameObject(_ different: Decision) -> Decision {
    .compare(.objectWithRow(Recorded.crc64), same: .adopt, different: different)
}

private func sameOnBothSides(_ etag: ETag, _ different: Decision) -> Decision {
    .compare(.fileWithObject(etag), same: .adopt, different: different)
}

private let newer = Decision.conflict(.remoteNewer, .leaveBoth)
private let gone = Decision.conflict(.localGoneRemoteChanged, .leaveBoth)

private func bothChanged(_ resolution: ConflictResolution) -> Decision {
    .conflict(.bothChanged, resolution)
}

let fileCells: [FileCell] = [
    FileCell(
        .none,
        .absent,
        .present,
        pull: .download(.new),
        push: .nothing(.onlyRemote),
        sync: .download(.new)
    ),
    FileCell(
        .none,
        .present,
        .absent,
        pull: .nothing(.onlyLocal),
        push: .upload(.new),
        sync: .upload(.new)
    ),
    FileCell(
        .none,
        .present,
        .present,
        pull: sameOnBothSides(Recorded.etag, .conflict(.bothNew, .downloadKeepingLocal)),
        push: sameOnBothSides(Recorded.etag, .conflict(.bothNew, .leaveBoth)),
        sync: sameOnBothSides(Recorded.etag, .conflict(.bothNew, .downloadKeepingLocal))
    ),
    FileCell(
        .none,
        .present,
        .changed,
        pull: .conflict(.bothNew, .downloadKeepingLocal),
        push: .conflict(.bothNew, .leaveBoth),
        sync: .conflict(.bothNew, .downloadKeepingLocal)
    ),
    FileCell(
        .known,
        .same,
        .same,
        pull: .nothing(.unchanged),
        push: .nothing(.unchanged),
        sync: .nothing(.unchanged)
    ),
    FileCell(
        .known,
        .same,
        .changed,
        pull: .download(.changed),
        push: newer,
        sync: .download(.changed)
    ),
    FileCell(
        .known,
        .same,
        .touched,
        pull: sameObject(.download(.changed)),
        push: sameObject(newer),
        sync: sameObject(.download(.changed))
    ),
    FileCell(
        .known,
        .changed,
        .same,
        pull: .keepLocalChange,
        push: .upload(.changed),
        sync: .upload(.changed)
    ),
    FileCell(
        .known,
        .changed,
        .changed,
        pull: bothChanged(.downloadKeepingLocal),
        push: bothChanged(.leaveBoth),
        sync: bothChanged(.downloadKeepingLocal)
    ),
    FileCell(
        .known,
        .absent,
        .same,
        pull: .download(.missing),
        push: .nothing(.deletedLocally),
        sync: .nothing(.deletedLocally)
    ),
    FileCell(
        .known,
        .absent,
        .changed,
        pull: .download(.missing),
        push: gone,
        sync: .download(.changed)
    ),
    FileCell(
        .known,
        .same,
        .absent,
        pull: .nothing(.deletedRemotely),
        push: .upload(.missing),
        sync: .nothing(.deletedRemotely)
    ),
    FileCell(
        .known,
        .changed,
        .absent,
        pull: .keepLocalChange,
        push: .upload(.changed),
        sync: .conflict(.localChangedRemoteGone, .upload)
    ),
    FileCell(.known, .absent, .absent, pull: .forget, push: .forget, sync: .forget),
    FileCell(
        .known,
        .touched,
        .same,
        pull: sameFile(.refresh(.unchanged), .keepLocalChange),
        push: sameFile(.refresh(.unchanged), .upload(.changed)),
        sync: sameFile(.refresh(.unchanged), .upload(.changed))
    ),
    FileCell(
        .known,
        .touched,
        .changed,
        pull: sameFile(.download(.changed), bothChanged(.downloadKeepingLocal)),
        push: sameFile(newer, bothChanged(.leaveBoth)),
        sync: sameFile(.download(.changed), bothChanged(.downloadKeepingLocal))
    ),
    FileCell(
        .known,
        .touched,
        .touched,
        pull: sameFile(
            sameObject(.download(.changed)),
            sameOnBothSides(rewritten, bothChanged(.downloadKeepingLocal))
        ),
        push: sameFile(
            sameObject(newer),
            sameOnBothSides(rewritten, bothChanged(.leaveBoth))
        ),
        sync: sameFile(
            sameObject(.download(.changed)),
            sameOnBothSides(rewritten, bothChanged(.downloadKeepingLocal))
        )
    ),
    FileCell(
        .known,
        .touched,
        .absent,
        pull: sameFile(.refresh(.deletedRemotely), .keepLocalChange),
        push: .upload(.changed),
        sync: sameFile(.refresh(.deletedRemotely), .conflict(.localChangedRemoteGone, .upload))
    ),
]

/// The cells that `--delete` changes.
let deletingFileCells: [FileCell] = [
    FileCell(
        .known,
        .absent,
        .same,
        pull: .download(.missing),
        push: .deleteRemote(.known),
        sync: .deleteRemote(.known)
    ),
    FileCell(
        .known,
        .same,
        .absent,
        pull: .deleteLocal(.known),
        push: .upload(.missing),
        sync: .deleteLocal(.known)
    ),
    FileCell(
        .known,
        .changed,
        .absent,
        pull: .conflict(.localChangedRemoteGone, .leaveBoth),
        push: .upload(.changed),
        sync: .conflict(.localChangedRemoteGone, .upload)
    ),
    FileCell(
        .known,
        .touched,
        .absent,
        pull: sameFile(
            .deleteLocal(.known),
            .conflict(.localChangedRemoteGone, .leaveBoth)
        ),
        push: .upload(.changed),
        sync: sameFile(.deleteLocal(.known), .conflict(.localChangedRemoteGone, .upload))
    ),
]

/// The cells that `--delete=extra` changes, beyond those of `--delete`.
let extraFileCells: [FileCell] = [
    FileCell(
        .none,
        .absent,
        .present,
        pull: .download(.new),
        push: .deleteRemote(.extra),
        sync: .download(.new)
    ),
    FileCell(
        .none,
        .present,
        .absent,
        pull: .deleteLocal(.extra),
        push: .upload(.new),
        sync: .upload(.new)
    ),
]

/// The cells that `--force` changes.
let forcedFileCells: [FileCell] = [
    FileCell(
        .known,
        .changed,
        .same,
        pull: .download(.replacesLocalChange),
        push: .upload(.changed),
        sync: .upload(.changed)
    ),
    FileCell(
        .known,
        .touched,
        .same,
        pull: sameFile(.refresh(.unchanged), .download(.replacesLocalChange)),
        push: sameFile(.refresh(.unchanged), .upload(.changed)),
        sync: sameFile(.refresh(.unchanged), .upload(.changed))
    ),
]

/// The cells that `--checksum` changes.
let contentFileCells: [FileCell] = [
    FileCell(
        .known,
        .same,
        .same,
        pull: sameFile(.nothing(.unchanged), .skip(.damaged(isObjectThere: true))),
        push: sameFile(.nothing(.unchanged), .skip(.damaged(isObjectThere: true))),
        sync: sameFile(.nothing(.unchanged), .skip(.damaged(isObjectThere: true)))
    ),
    FileCell(
        .known,
        .same,
        .changed,
        pull: sameFile(.download(.changed), bothChanged(.downloadKeepingLocal)),
        push: sameFile(newer, bothChanged(.leaveBoth)),
        sync: sameFile(.download(.changed), bothChanged(.downloadKeepingLocal))
    ),
    FileCell(
        .known,
        .same,
        .touched,
        pull: sameFile(
            sameObject(.download(.changed)),
            sameOnBothSides(rewritten, bothChanged(.downloadKeepingLocal))
        ),
        push: sameFile(sameObject(newer), sameOnBothSides(rewritten, bothChanged(.leaveBoth))),
        sync: sameFile(
            sameObject(.download(.changed)),
            sameOnBothSides(rewritten, bothChanged(.downloadKeepingLocal))
        )
    ),
    FileCell(
        .known,
        .same,
        .absent,
        pull: sameFile(.nothing(.deletedRemotely), .skip(.damaged(isObjectThere: false))),
        push: sameFile(.upload(.missing), .skip(.damaged(isObjectThere: false))),
        sync: sameFile(.nothing(.deletedRemotely), .skip(.damaged(isObjectThere: false)))
    ),
]

/// `fileCells` with those of `changes` in place of their like.
func table(_ changes: [FileCell]) -> [FileCell] {
    fileCells.map { cell in
        changes.first { $0.testDescription == cell.testDescription } ?? cell
    }
}
