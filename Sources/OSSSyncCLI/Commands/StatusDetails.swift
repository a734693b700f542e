internal import OSSSync
internal import Synchronization

/// What `status` shows of single items, a line for each with a column for each direction: the first
/// of them after the counts, with `--verbose` all and why, with `--summary` a sum for each
/// directory.
///
/// In memory are a few hundred items that some direction may still be found to do something with,
/// or the sums of the directories that were met last.
final class StatusDetails: Sendable {
    private static let screenful = 20
    private static let most = 1_000

    private struct Sum {
        let directory: String
        var works: [SyncDirection: PlannedWork] = [:]
    }

    private struct State {
        var table = StatusTable()
        /// Those that are shown after the counts.
        var items: [StatusTable.Item] = []
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
        case .item(let step) where context.output.isJSON:
            if context.output.verbosity >= 1 { show(step) }
        case .item(let step):
            state.withLock { state in
                for item in state.table.add(step) { take(item, &state) }
            }
        }
    }

    func finish() {
        state.withLock { state in
            for sum in state.sums { show(sum) }
            state.sums = []
            for item in state.table.takeAll() { take(item, &state) }
        }
    }

    /// What is shown after the counts.
    var lines: [String] {
        state.withLock { state in
            guard !state.items.isEmpty else { return [] }
            let width = StatusTable.width(of: state.items)
            let rest = state.count - state.items.count
            let last = rest > 0 ? ["  and \(rest) more; -v shows all"] : []
            return [StatusTable.heading(width)] + state.items.map { $0.text(width) } + last
        }
    }

    private func take(_ item: StatusTable.Item, _ state: inout State) {
        state.count += 1
        guard context.output.verbosity >= 1 else {
            if state.items.count < Self.screenful { state.items.append(item) }
            return
        }
        if state.count == 1 { context.say(StatusTable.heading(StatusTable.widest)) }
        context.say(item.text(StatusTable.widest))
        for line in item.reasons { context.say("      " + line) }
    }

    private func show(_ step: PlannedStep) {
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
