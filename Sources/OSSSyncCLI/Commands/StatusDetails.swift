internal import OSSSync
internal import Synchronization

/// What `status` shows of single items: the first of them after the counts, with `--verbose` all as
/// they are found, with `--summary` a sum for each directory.
///
/// In memory are a screenful of items, or the sums of the directories that were met last.
final class StatusDetails: Sendable {
    private static let screenful = 20
    private static let most = 1_000

    private struct Sum {
        let directory: String
        var works: [SyncDirection: PlannedWork] = [:]
    }

    private struct State {
        var lines: [String] = []
        var count = 0
        /// In the order in which they were met, which is that of the keys.
        var sums: [Sum] = []
        var indices: [String: Int] = [:]
    }

    private let context: CommandContext
    private let isSummary: Bool
    /// What each directory of the sums lies in, with a "/" at its end; empty for DIR.
    private let base: String
    private let state = Mutex(State())

    init(_ context: CommandContext) {
        self.context = context
        isSummary = context.arguments.has(.summary)
        var path = Substring(context.paths.count == 1 ? context.paths[0] : "")
        while path.hasPrefix("./") { path = path.dropFirst(2) }
        while path.last == "/" { path = path.dropLast() }
        base = path.isEmpty || path == "." ? "" : String(path) + "/"
    }

    func add(_ detail: StatusDetail) {
        switch detail {
        case .excluded(let key, let shown, let rule):
            if context.output.isJSON {
                context.say(EventJSON.excluded(key, shown: shown, rule))
            } else {
                context.say(EventText.excluded(shown, rule))
            }
        case .item(let step) where isSummary: state.withLock { add(step, &$0) }
        case .item(let step) where context.output.verbosity >= 1: show(step)
        case .item(let step):
            state.withLock { state in
                state.count += 1
                if state.count <= Self.screenful { state.lines.append("  " + Self.text(step)) }
            }
        @unknown default: break
        }
    }

    func finish() {
        state.withLock { state in
            for sum in state.sums { show(sum) }
            state.sums = []
        }
    }

    /// What is shown after the counts.
    var lines: [String] {
        state.withLock { state in
            let rest = state.count - state.lines.count
            return rest > 0 ? state.lines + ["  and \(rest) more; -v shows all"] : state.lines
        }
    }

    static func text(_ step: PlannedStep) -> String {
        let size = step.size > 0 ? " (\(sizeText(step.size)))" : ""
        let verb = step.action == .adopt ? "compare" : step.action.verb
        return "\(step.direction.rawValue) would \(verb) \(step.displayKey)\(size): \(step.reason)"
    }

    private func show(_ step: PlannedStep) {
        guard context.output.isJSON else {
            context.say(Self.text(step))
            return
        }
        context.say([
            "event": "status_item",
            "direction": step.direction.rawValue,
            "action": step.action.rawValue,
            "key": JSONKey(step.key, step.displayKey),
            "size": step.size,
            "reason": step.reason,
        ])
    }

    private func add(_ step: PlannedStep, _ state: inout State) {
        let rest =
            step.key.hasPrefix(base)
            ? step.key.dropFirst(base.count) : step.key[...]
        let end = rest.firstIndex(of: "/")
        let name = end.map { String(rest[...$0]) } ?? (base.isEmpty ? "./" : "")
        let directory = base + name
        if let index = state.indices[directory] {
            state.sums[index].works[step.direction, default: PlannedWork()] += step.work
            return
        }
        if state.sums.count == Self.most {
            for sum in state.sums.prefix(Self.most / 2) { show(sum) }
            state.sums.removeFirst(Self.most / 2)
            state.indices = [:]
            for (index, sum) in state.sums.enumerated() { state.indices[sum.directory] = index }
        }
        state.indices[directory] = state.sums.count
        state.sums.append(Sum(directory: directory, works: [step.direction: step.work]))
    }

    private func show(_ sum: Sum) {
        if context.output.isJSON {
            context.say([
                "event": "status_directory",
                "directory": sum.directory,
                "pull": StatusCommand.json(sum.works[.pull] ?? PlannedWork()),
                "push": StatusCommand.json(sum.works[.push] ?? PlannedWork()),
                "sync": StatusCommand.json(sum.works[.sync] ?? PlannedWork()),
            ])
            return
        }
        context.say(String(terminalSafe: sum.directory))
        let verbs: [SyncDirection: String] = [
            .pull: "download", .push: "upload", .sync: "transfer",
        ]
        for direction in SyncDirection.allCases {
            guard let work = sum.works[direction], let verb = verbs[direction] else { continue }
            context.say("  \(direction.rawValue) would: " + StatusCommand.text(work, verb: verb))
        }
    }
}
