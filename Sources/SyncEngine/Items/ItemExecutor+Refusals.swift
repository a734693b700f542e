internal import LocalStorage
internal import ObjectTransfer
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
        case .download, .downloadAfterDeletions, .makeDirectory:
            await places.hindrance(item.entry)?.message
        case .upload: await refusalToSend(item.entry)
        default: nil
        }
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
