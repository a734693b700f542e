internal import LocalStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Limits a run to a saved plan: of what the run has to do, only what the plan has, too, decided on
/// the same facts.
///
/// The run plans as any other, of everything that the plan was made of, and all guards apply. What
/// the plan has and the run does not is either done already or has changed, which is a failure of
/// that item alone: what else is deleted does not depend on it, unless it is the ignore file or
/// what had the file before it was renamed.
final class AppliedPlan {
    private let executor: ItemExecutor
    private var reader: PlanReader
    private var match = PlanMatch()
    /// Items to carry out.
    private var ready: [PlannedItem] = []

    init(_ plan: SavedPlan, _ executor: ItemExecutor) {
        self.executor = executor
        reader = PlanReader(plan, executor.context.disk)
    }

    private var context: RunContext { executor.context }

    /// True if the plan has nothing of this key, as far as it was read.
    func hasNoLine(of key: ObjectKey) -> Bool { match.hasNoLine(of: key) }

    /// True if nothing of the plan is lost where this key is passed over.
    func passes(_ key: ObjectKey) async throws -> Bool {
        try await read(to: key)
        return match.hasNoLine(of: key)
    }

    /// Takes the run's next item; those that are to be carried out now.
    func add(_ item: PlannedItem) async throws -> [PlannedItem] {
        try await read(to: item.entry.key)
        try await settle(match.add(item))
        return take()
    }

    /// Says that no item follows; those that are left to carry out.
    ///
    /// Without a complete listing nothing is known of what did not come.
    func finish(isComplete: Bool) async throws -> [PlannedItem] {
        while let line = try await reader.next() { try await settle(match.add(line)) }
        try await settle(match.add(nil))
        let rest = match.finish()
        if isComplete {
            try await settle(rest)
        } else {
            executor.ledger.countUntried(rest.count)
        }
        return take()
    }

    private func take() -> [PlannedItem] {
        defer { ready = [] }
        return ready
    }

    private func read(to key: ObjectKey) async throws {
        while match.needsLine(before: key) {
            try await settle(match.add(try await reader.next()))
        }
    }

    private func settle(_ steps: [PlanMatch.Step]) async throws {
        for step in steps {
            switch step {
            case .matched(let item, let line): compare(item, line)
            case .unplanned(let item): leave(item)
            case .missed(let line):
                if try await isGone(line) {
                    context.tracker.count { $0.unchanged += 1 }
                } else {
                    refuse(line)
                }
            }
        }
    }

    private func compare(_ item: PlannedItem, _ line: PlanLine) {
        if let decision = line.decision(on: item) {
            add(item, decision)
        } else if line.isDeletion {
            if case .forget = item.decision { return ready.append(item) }
            guard isDone(line, item.entry) else { return refuse(line, item.entry) }
            context.tracker.count { $0.unchanged += 1 }
            leave(item)
        } else if item.decision.canBe(\.isDone) {
            // Also a file that was written so lately that its content has to be compared once.
            add(item, item.decision.keeping(\.isDone, else: .skip(.notInPlan)))
        } else {
            refuse(line, item.entry)
        }
    }

    /// True if what was to be deleted is gone, whatever has its name now.
    private func isDone(_ line: PlanLine, _ entry: JoinedEntry) -> Bool {
        guard line.action == .deleteLocal else { return entry.remote == nil }
        return entry.local.map { $0.isDirectory != RelativePath.isDirectory(line.key) } ?? true
    }

    private func add(_ item: PlannedItem, _ decision: Decision) {
        ready.append(PlannedItem(entry: item.entry, place: item.place, decision: decision))
    }

    /// Reports what is no longer as it was when the plan was saved.
    private func refuse(_ line: PlanLine, _ entry: JoinedEntry? = nil) {
        if let entry { executor.noteUnsent(entry) }
        context.tracker.count { $0.failed += 1 }
        if line.key == IgnoreFile.key { executor.ledger.countSkipped() }
        context.keptItem(
            line.action,
            .failed,
            line.key,
            size: 0,
            message: "changed here or in the bucket since the plan was saved; nothing was done. "
                + "Save a new plan"
        )
    }

    /// Leaves what the run would do beside the plan, but for what only the manifest learns.
    ///
    /// A file that has to be compared is, if it can turn out that nothing is to be done.
    private func leave(_ item: PlannedItem) {
        let planned = item.decision.withoutTakenModes
        let decision = planned.keeping(\.isQuiet, else: .nothing(.notInPlan))
        let isOpen = planned.canBe(\.isQuiet)
        if !isOpen { executor.noteUnsent(item.entry) }
        add(item, isOpen ? decision : .nothing(.notInPlan))
        // By other rules, what is to be deleted may be excluded.
        if item.entry.key == IgnoreFile.key, !isOpen { executor.ledger.countSkipped() }
    }

    /// True if what was to be deleted is not there any more.
    ///
    /// The run did not come to the key: no side has it, or the filters leave it out.
    private func isGone(_ line: PlanLine) async throws -> Bool {
        guard line.isDeletion, let path = try? context.path(of: line.key) else { return false }
        let directory = context.directory
        if line.action == .deleteLocal {
            let found = try await context.disk.run { () throws(LocalError) in
                try directory.identity(of: path)
            }
            return switch found {
            case .absent: true
            // A directory can have come in the place of the file, or the reverse.
            case .directory: !path.isDirectory
            case .file: path.isDirectory
            case .other: false
            }
        }
        let filter = context.filter
        guard filter.excludes(line.key) || !filter.bounds.isEmpty || !filter.tags.isEmpty else {
            return true
        }
        do throws(ItemFailure) {
            _ = try await executor.head(line.key)
            return false
        } catch {
            return error.isVanished
        }
    }
}

extension Decision {
    /// True if nothing is done on either side, also where something is wrong with the key.
    fileprivate var isQuiet: Bool {
        switch self {
        case .nothing, .skip, .keepLocalChange, .carryMode(.neither), .refresh, .forget: true
        case .download, .upload, .compare, .adopt, .carryMode, .makeDirectory, .uploadMarker,
            .deleteLocal, .deleteRemote, .conflict, .downloadAfterDeletions:
            false
        }
    }

    /// Where a run would ask for the permissions of an object: those who saved the plan asked, and
    /// found them to be those of the file.
    fileprivate var withoutTakenModes: Decision {
        switch self {
        case .carryMode(.file): .nothing(.unchanged)
        case .compare(let comparison, .carryMode(.file), let different):
            .compare(comparison, same: .refresh(.unchanged), different: different)
        default: self
        }
    }

    /// True if it is so, or a comparison can end so.
    fileprivate func canBe(_ isSo: (Decision) -> Bool) -> Bool {
        if case .compare(_, let same, let different) = self {
            return same.canBe(isSo) || different.canBe(isSo)
        }
        return isSo(self)
    }
}

extension RunOptions {
    /// Refuses a plan of another remote, and one in a run that can have none.
    ///
    /// - Throws: `configuration`.
    func checkPlan(_ settings: MirrorSettings) throws(TransferError) {
        let reason: String
        switch plan {
        case nil: return
        case .save: if isDryRun { return } else { reason = "only a dry run saves a plan" }
        case .apply where isDryRun: reason = "a dry run carries out no plan"
        case .apply(let plan):
            guard
                plan.remote != settings.displayRemote
                    || plan.endpoint != settings.identity.endpoint
            else { return }
            reason =
                "'\(displayText(plan.path.utf8))' is a plan for "
                + "'\(displayText(plan.remote.utf8))' at \(displayText(plan.endpoint.utf8)), and "
                + "'\(displayText(settings.directory.utf8))' is linked with "
                + "'\(settings.displayRemote)' at \(settings.identity.endpoint)"
        }
        throw TransferError(
            code: .configuration,
            message: reason + "; nothing was done"
        )
    }
}
