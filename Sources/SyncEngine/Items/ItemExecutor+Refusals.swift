internal import SyncModel
internal import SyncPlanner

extension ItemExecutor {
    /// Why a run would skip what its plan transfers, found without changing anything; nil if
    /// nothing is known.
    ///
    /// It is what the run itself asks before it transfers, so that `status` and `explain` say what
    /// it does.
    func refusal(of item: PlannedItem) async -> String? {
        switch item.decision.following {
        case .carryMode(.neither) where item.entry.local?.isOthersDirectory == true:
            othersDirectory(item.entry)
        case .download where parts.privateMarkers.isRefused(above: item.entry.key):
            FileDownloads.refusedMessage
        case .download, .downloadAfterDeletions, .makeDirectory:
            await places.hindrance(item.entry)?.message
        case .upload: await refusalToSend(item.entry)
        default: nil
        }
    }

    /// Skips a directory that another user may have put in the place of a recorded one, and all
    /// that is to be downloaded into it.
    func refuseDirectory(_ entry: JoinedEntry) {
        skip(entry.key, size: 0, message: othersDirectory(entry))
    }

    private func othersDirectory(_ entry: JoinedEntry) -> String {
        parts.privateMarkers.refuse(entry.key)
        let mode = String(entry.base?.mode ?? 0o700, radix: 8)
        return "it belongs to another user, and more users may enter it than may enter the "
            + "recorded one; nothing is downloaded into it until it has permissions \(mode) again, "
            + "or is removed" + (FilterHint(entry.key, isFileOnly: false)?.text ?? "")
    }

    private func refusalToSend(_ entry: JoinedEntry) async -> String? {
        guard let file = entry.local?.identity else { return nil }
        do {
            let path = try context.path(of: entry)
            let like = try await damage.suspect(entry, file, path)
            return like.map { SkipReason.damagedCopy(of: $0).message }
        } catch let error as UnsafeKey {
            return error.message
        } catch {
            // A file that changes right now; the run says whether it still does.
            return nil
        }
    }
}

extension LocalEntry {
    /// True for a directory that another user may have put where it is.
    var isOthersDirectory: Bool { isDirectory && mayBeOthers }
}

extension ItemExecutor {
    /// What is done instead where the object is one that an earlier run sent and did not record, so
    /// that there is no conflict; nil for what was decided.
    ///
    /// A file that was written since, and has the recorded content again, is one that the user took
    /// back: the object does not replace it, as it would that of another writer.
    func settled(_ decision: Decision, _ entry: JoinedEntry) async -> Decision? {
        let policy = context.policy
        let isConflict: Bool
        switch decision {
        case .conflict(.bothNew, _), .conflict(.bothChanged, _): isConflict = true
        case .conflict(.remoteNewer, _) where isTakenBack(entry): isConflict = true
        case .download(.changed) where isTakenBack(entry): isConflict = false
        default: return nil
        }
        guard let isNewer = await uploads.isNewerThanEarlier(entry) else { return nil }
        guard isNewer else {
            return isConflict
                ? nil : .conflict(.bothChanged, resolution(of: .bothChanged, policy))
        }
        guard policy.direction == .pull else { return .upload(.changed) }
        return policy.replacesLocalChanges
            ? .download(.replacesLocalChange) : .keepLocalChange
    }

    /// Counts what a decision changes of the room that is free; what a limited run deletes stays on
    /// the disk, in the trash.
    func countGrowth(_ decision: Decision, _ entry: JoinedEntry) {
        let growth = decision.growth(of: entry)
        guard growth > 0 || growth < 0 && !context.paths.isLimited else { return }
        ledger.countGrowth(growth)
    }

    /// The same item, decided as a run decides it.
    func settling(_ item: PlannedItem) async -> PlannedItem {
        guard let settled = await settled(item.decision, item.entry) else { return item }
        return PlannedItem(entry: item.entry, place: item.place, decision: settled)
    }

    private func isTakenBack(_ entry: JoinedEntry) -> Bool {
        guard let base = entry.base else { return false }
        let judges = context.policy.judgesInodes
        return LocalChange(of: entry.local, since: base, judgesInodes: judges) == .touched
    }
}
