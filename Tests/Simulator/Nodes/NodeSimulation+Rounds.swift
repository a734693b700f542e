internal import ObjectTransfer
internal import SyncEngine

/// A round while it goes on.
final class RoundState {
    let round: NodeRound
    let name: String
    /// Of each task, how often it was started.
    var starts: [Int]
    /// Tasks that a scheduler would not start again.
    var ended: Set<Int> = []
    /// Starts that are to come.
    var waiting = 0
    var nextEvent = 0
    /// Faults have ended.
    var isQuiet = false

    init(_ round: NodeRound, name: String) {
        (self.round, self.name) = (round, name)
        starts = Array(repeating: 0, count: round.tasks)
    }
}

/// What a scheduler of a cluster does, and what happens to its nodes.
extension NodeSimulation {
    private static let startsAtMost = 8
    /// Of `finish` while something lives that will end, or that will be seen to be dead.
    private static let triesOfFinish = 6

    func play(_ round: NodeRound) {
        roundCount += 1
        let state = RoundState(round, name: "round-\(roundCount)")
        self.round = state
        world.trace("round \(state.name) \(round.direction)")
        cluster.begin(seed: round.seed, order: round.order)
        for task in 0..<round.tasks where task != round.leftOut {
            start(task, after: cluster.below(3), on: nil)
        }
        for task in round.late where roundCount > 1 {
            startLate(task, on: cluster.below(setup.nodes.count))
        }
        let end = cluster.run(limit: Self.stepLimit) {
            cluster.processes.isEmpty && state.waiting == 0 || !world.violations.isEmpty
        }
        if case .stuck = end { world.report(.termination, "a task waits for nothing") }
        if case .stepsUsedUp = end { world.report(.termination, "a task does not end") }
        state.isQuiet = true
        if round.isFinished, world.violations.isEmpty { _ = finish(state) }
        self.round = nil
    }

    /// Ends a round; nil if that was not possible.
    func finish(_ state: RoundState) -> RunSummary? {
        for attempt in 0..<Self.triesOfFinish {
            let node = cluster.below(setup.nodes.count)
            let process = startFinish(state, on: node)
            runUntilAllEnded()
            guard world.violations.isEmpty else { return nil }
            lastFailure = process.failure
            if process.failure?.code != .locked { return process.summary }
            world.trace("finish is to be tried again, after \(attempt + 1) times")
            world.scheduler.advance(by: .seconds(60))
        }
        world.report(.termination, "the round cannot be ended, although no task lives")
        return nil
    }

    // MARK: - Starting

    private func start(_ task: Int, after seconds: Int, on node: Int?) {
        guard let state = round else { return }
        state.waiting += 1
        cluster.arrive(after: .seconds(seconds)) { [self] in
            state.waiting -= 1
            guard round === state else { return }
            state.starts[task] += 1
            let node = node ?? cluster.below(setup.nodes.count)
            startTask(task, state.name, state.round, on: node)
        }
    }

    private func startLate(_ task: Int, on node: Int) {
        guard let state = round else { return }
        startTask(task % state.round.tasks, "round-\(roundCount - 1)", state.round, on: node)
    }

    private func options(of round: NodeRound) -> ToolRun {
        var options = quietOptions(round.direction, seed: round.seed)
        options.deletesKnown = round.deletes
        options.connections = round.connections
        options.partSize = 1_024
        return options
    }

    private func startTask(_ task: Int, _ name: String, _ round: NodeRound, on node: Int) {
        world.statistics.runs += 1
        let process = cluster.start(.task(task, round: name), on: node)
        let isQuiet = self.round?.isQuiet ?? true
        let failures = isQuiet ? 0 : round.failures
        let engine = MirrorEngine(settings: settings(process, failures: failures))
        let tool = options(of: round)
        var own = tool.engineOptions(world.setup)
        own.shard = ShardSelection(task: task, of: round.tasks, round: name)
        let (direction, engineOptions) = (tool.engineDirection, own)
        process.begin { [process] in
            process.summary = try await engine.run(direction, options: engineOptions) { event in
                self.heard(event, process)
            }
        }
    }

    private func startFinish(_ state: RoundState, on node: Int) -> NodeProcess {
        world.statistics.runs += 1
        let process = cluster.start(.finish(round: state.name), on: node)
        let failures = state.isQuiet ? 0 : state.round.failures
        let engine = MirrorEngine(settings: settings(process, failures: failures))
        let options = options(of: state.round)
        let (direction, engineOptions) = (
            options.engineDirection, options.engineOptions(world.setup)
        )
        let name = state.name
        process.begin { [process] in
            process.summary = try await engine.finish(
                round: name,
                direction,
                options: engineOptions
            ) { event in
                self.heard(event, process)
            }
        }
        return process
    }

    // MARK: - Events

    /// Before each piece of work.
    func goOn() {
        guard let state = round, !state.isQuiet else { return }
        while state.nextEvent < state.round.events.count {
            let event = state.round.events[state.nextEvent]
            guard event.after <= cluster.moves else { return }
            state.nextEvent += 1
            carryOut(event.kind, state)
        }
    }

    private func carryOut(_ kind: NodeRound.Kind, _ state: RoundState) {
        world.scheduler.trace.say("event \(kind)")
        func process(_ index: Int) -> NodeProcess? {
            let all = cluster.processes
            return all.isEmpty ? nil : all[index % all.count]
        }
        switch kind {
        case .freeze(let index, let seconds):
            guard let process = process(index) else { return }
            process.freezesFor = .seconds(seconds)
            takeForDead(process, seconds, state)
        case .freezeInLease(let index, let seconds):
            guard let process = process(index) else { return }
            process.freezesFor = .seconds(seconds)
            process.freezesInLease = true
            takeForDead(process, seconds, state)
        case .kill(let index):
            guard let process = process(index) else { return }
            world.statistics.crash("of a node", isPowerCut: false)
            cluster.kill(process, losesMemory: false, seed: 0)
            died(process)
        case .reboot(let node, let seed):
            let node = node % setup.nodes.count
            world.statistics.crash("of a node", isPowerCut: true)
            let machine = cluster.nodes[node].machine
            let dead = cluster.processes.filter { cluster.nodes[$0.node].machine == machine }
            cluster.reboot(node, seed: seed)
            for node in cluster.nodes.indices where cluster.nodes[node].machine == machine {
                absentNames[node] = nil
            }
            for process in dead { died(process) }
        case .setClock(let node, let seconds):
            cluster.nodes[node % setup.nodes.count].wallOffset += .seconds(seconds)
        case .duplicate(let task, let node):
            let task = task % state.round.tasks
            guard task != state.round.leftOut, !state.ended.contains(task) else { return }
            start(task, after: 0, on: node % setup.nodes.count)
        case .finish(let node): _ = startFinish(state, on: node % setup.nodes.count)
        case .world(let change): apply(change)
        }
    }

    /// A scheduler may start a task elsewhere whose node does not answer.
    private func takeForDead(_ process: NodeProcess, _ seconds: Int, _ state: RoundState) {
        guard seconds >= 60, cluster.oneIn(2), case .task(let task, let name) = process.role,
            name == state.name
        else { return }
        start(task, after: cluster.below(40), on: nil)
    }

    private func died(_ process: NodeProcess) {
        look(process)
        guard let state = round, case .task(let task, let name) = process.role,
            name == state.name
        else { return }
        startAgain(task, state)
    }

    private func startAgain(_ task: Int, _ state: RoundState) {
        guard !state.isQuiet, !state.ended.contains(task), state.starts[task] < Self.startsAtMost
        else { return }
        start(task, after: cluster.below(60), on: nil)
    }

    /// A process has come to its end by itself.
    func ended(_ process: NodeProcess) {
        judgeEnd(of: process)
        if let summary = process.summary { world.scheduler.trace.say("    \(summary)") }
        guard let state = round, case .task(let task, let name) = process.role,
            name == state.name
        else { return }
        if process.failure == nil {
            state.ended.insert(task)
        } else {
            startAgain(task, state)
        }
    }
}
