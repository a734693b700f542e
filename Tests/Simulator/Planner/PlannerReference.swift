internal import SyncModel

/// What a run comes to for one key, by the table of `docs/semantics.md` alone.
///
/// Written down a second time, from contents and not from what tells them: no tags, times or
/// checksums, no streams, no other keys.
struct PlannerReference {
    /// What becomes of one key.
    enum Effect: Hashable {
        /// Nothing moves; at most the row is written anew.
        case still
        case download, upload, deleteLocal, deleteRemote, forget
        /// The user's change stays, and is reported.
        case keep
        case conflict
    }

    /// One side relative to the base.
    ///
    /// An object that was written again is changed, also with the same content.
    enum State: Hashable { case absent, same, changed }

    let direction: SyncDirection
    let deletes: Bool
    let deletesExtra: Bool
    let forces: Bool

    /// Never synced; the contents are numbers, nil for what is not there.
    func unrecorded(local: Int?, remote: Int?) -> Effect {
        switch (local, remote) {
        case (nil, nil): .still
        case (nil, .some):
            if direction != .push { .download } else { deletesExtra ? .deleteRemote : .still }
        case (.some, nil):
            if direction != .pull { .upload } else { deletesExtra ? .deleteLocal : .still }
        case (let local?, let remote?): local == remote ? .still : .conflict
        }
    }

    /// Synced before; `agree` if both sides have the same content now, which is never a conflict
    /// and never worth a transfer.
    func recorded(local: State, remote: State, agree: Bool) -> Effect {
        switch (local, remote) {
        case (.same, .same): .still
        case (.absent, .absent): .forget
        case (.changed, .changed): agree ? .still : .conflict
        case (.same, .changed):
            if agree { .still } else { direction == .push ? .conflict : .download }
        case (.changed, .same):
            if direction != .pull { .upload } else { forces ? .download : .keep }
        case (.absent, .same):
            if direction == .pull { .download } else { deletes ? .deleteRemote : .still }
        case (.absent, .changed): direction == .push ? .conflict : .download
        case (.same, .absent):
            if direction == .push { .upload } else { deletes ? .deleteLocal : .still }
        case (.changed, .absent):
            switch direction {
            case .push: .upload
            case .pull: deletes ? .conflict : .keep
            case .sync: .conflict
            }
        }
    }
}
