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
        guard case .run(var arguments)? = try? ArgumentParser.parse(plan.command),
            Self.directions.contains(arguments.command),
            Self.isPlanned(arguments)
        else {
            throw UsageError.badArgument(
                String(terminalSafe: path),
                expected: "its command line is not one that --save-plan saves; save the plan again"
            )
        }
        arguments.values.merge(typed.values) { $1 }
        arguments.counts.merge(typed.counts) { $1 }
        self.arguments = arguments
    }

    private static let directions: [CommandName] = [.pull, .push, .sync]

    /// False if there is an option that a file must not set.
    private static func isPlanned(_ arguments: ParsedArguments) -> Bool {
        arguments.given.allSatisfy { $0.option.traits.contains(.kept) }
    }
}

extension CommandContext {
    /// What the run has to do with a plan: that of `apply`, or one to save.
    func planUse(_ direction: SyncDirection, _ paths: [String]) throws -> PlanUse? {
        if let plan { return .apply(plan) }
        guard let file = arguments.values[.savePlan] else { return nil }
        if arguments.has(.rebind) { throw UsageError.contradiction("--save-plan", "--rebind") }
        if arguments.values[.asOf] != nil {
            throw UsageError.contradiction("--save-plan", "--as-of")
        }
        // A plan has no lines for what waits.
        if arguments.values[.restore] != nil {
            throw UsageError.contradiction("--save-plan", "--restore")
        }
        let words = arguments.words { $0.traits.contains(.kept) }
        let remote = arguments.mirror.remote.map { [$0] } ?? []
        let place = [absolutePath(try directory())] + remote + paths
        return .save(
            path: absolutePath(file),
            command: [direction.rawValue] + words + ["--"] + place
        )
    }
}
