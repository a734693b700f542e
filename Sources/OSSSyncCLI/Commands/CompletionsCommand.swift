internal import OSSSync

/// `osssync completions`.
struct CompletionsCommand: Sendable {
    let context: CommandContext

    func run() throws(UsageError) -> ExitCode {
        let name = context.positional(0) ?? ""
        guard let shell = ShellCompletions(rawValue: name) else {
            let known = ShellCompletions.allCases.map(\.rawValue).joined(separator: ", ")
            throw .badArgument(String(terminalSafe: name), expected: "expected one of \(known)")
        }
        return context.write(shell.script) ? .success : .incomplete
    }
}
