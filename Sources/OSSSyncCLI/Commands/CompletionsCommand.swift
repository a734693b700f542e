internal import OSSBucket
internal import OSSSync
internal import Synchronization

/// `osssync completions`.
struct CompletionsCommand: Sendable {
    let context: CommandContext

    private static let paths = "paths"
    private static let mostNames = 200
    /// Commands whose paths are completed, and not the files of the current directory.
    static let pathCommands: [CommandName] = [.pull, .restore, .free, .verify]

    func run() async throws(UsageError) -> ExitCode {
        let name = context.positional(0) ?? ""
        let words = [String](context.arguments.positionals.dropFirst())
        if name == Self.paths {
            for path in await candidates(words) where String(terminalSafe: path) == path {
                guard context.say(path) else { break }
            }
            return .success
        }
        if let surplus = words.first {
            throw .surplusArgument(String(terminalSafe: surplus), command: .completions)
        }
        guard let shell = ShellCompletions(rawValue: name) else {
            let known = ShellCompletions.allCases.map(\.rawValue).joined(separator: ", ")
            throw .badArgument(String(terminalSafe: name), expected: "expected one of \(known)")
        }
        return context.write(shell.script) ? .success : .incomplete
    }

    /// The paths that complete the last word of a command line, one level of them; none if
    /// anything is wrong, because the line is not complete.
    private func candidates(_ words: [String]) async -> [String] {
        guard words.count > 1, let typed = words.last,
            let command = CommandName(rawValue: words[0]), Self.pathCommands.contains(command)
        else { return [] }
        let home = context.sources.homeDirectory ?? "~"
        let before = words.dropLast().map { $0.hasPrefix("~/") ? home + $0.dropFirst() : $0 }
        // A user waits at the prompt.
        let quick = ["--timeout", "5", "--retries", "0"]
        guard case .run(let line)? = try? ArgumentParser.parse(quick + before + ["."]),
            let context = try? CommandContext(line, environment: context.sources.environment),
            let place = context.place
        else { return [] }
        let last = place.paths.last ?? "."
        let base = last == "." ? "" : last + "/"
        let names =
            command == .pull
            ? await remote(context, base + typed)
            : await recorded(context, base + typed, withTrash: command == .restore)
        return names.map { String($0.dropFirst(base.count)) }
    }

    /// What the bucket has.
    private func remote(_ context: CommandContext, _ start: String) async -> [String] {
        guard let mirror = try? context.mirror(), let client = try? mirror.bucketClient() else {
            return []
        }
        let prefix = mirror.remote.prefix
        var names: [String] = []
        do {
            for try await entry in client.level(prefix: prefix + start) {
                guard names.count < Self.mostNames else { break }
                names.append(String(entry.key.dropFirst(prefix.count)))
            }
        } catch {
            return names
        }
        // No run takes what osssync itself keeps there.
        return names.filter { !$0.isEmpty && !$0.hasPrefix(".osssync") }
    }

    /// What the manifest has, and the local trash.
    private func recorded(
        _ context: CommandContext,
        _ start: String,
        withTrash: Bool
    ) async -> [String] {
        guard let mirror = try? context.localMirror() else { return [] }
        let known = try? await mirror.recordedNames(prefix: start, limit: Self.mostNames)
        guard withTrash else { return known ?? [] }
        let found = Mutex(Set(known ?? []))
        _ = try? await mirror.trash.list(age: .zero) { file in
            guard file.key.hasPrefix(start) else { return true }
            let rest = file.key.dropFirst(start.count)
            let end = rest.firstIndex(of: "/").map { file.key.index(after: $0) }
            let name = String(file.key[..<(end ?? file.key.endIndex)])
            return found.withLock { found in
                found.insert(name)
                return found.count < Self.mostNames
            }
        }
        return found.withLock { $0.sorted() }
    }
}
