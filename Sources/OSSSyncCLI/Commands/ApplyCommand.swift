internal import OSSSync

/// `osssync apply`: the run that a plan was saved for, with the plan.
struct ApplyCommand: Sendable {
    let plan: SavedPlan
    /// The run's arguments, and what was typed beside the file.
    let arguments: ParsedArguments

    /// Reads and verifies the plan.
    init(_ typed: ParsedArguments) throws {
        let path = typed.positionals.first ?? ""
        plan = try SavedPlan(reading: path)
        // A file must not set other options.
        guard let arguments = ParsedArguments(ofRun: plan.command, and: typed, where: \.isKept)
        else {
            throw UsageError.badArgument(
                String(terminalSafe: path),
                expected: "its command line is not one that --save-plan saves; save the plan again"
            )
        }
        self.arguments = arguments
    }
}

extension CommandContext {
    /// What the run has to do with a plan: that of `apply`, or one to save.
    func planUse(_ direction: SyncDirection, _ paths: [String]) throws -> PlanUse? {
        if let plan { return .apply(plan) }
        guard let file = arguments.values[.savePlan] else { return nil }
        // A plan has no lines for what waits.
        for option in [Option.rebind, .asOf, .restore] where arguments.has(option) {
            throw UsageError.contradiction("--save-plan", option.name)
        }
        let words = arguments.words(\.isKept)
        let remote = arguments.mirror.remote.map { [$0] } ?? []
        let place = [absolutePath(try directory())] + remote + paths
        return .save(
            path: absolutePath(file),
            command: [direction.rawValue] + words + ["--"] + place
        )
    }
}
