internal import CVirtualFiles
internal import LocalStorage
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncEngine
internal import SyncModel

/// Several machines that share a directory whose mirror was cut into shards, and one bucket: tasks
/// that are frozen, killed and started twice, and what must hold all the same.
///
/// Unchecked, because of all fibers only one runs at a time.
final class NodeSimulation: @unchecked Sendable {
    let world: World
    let setup: NodesSetup
    let cluster: Cluster
    /// The round that goes on.
    var round: RoundState?
    var roundCount = 0
    /// The tree as it was last looked at.
    var known: [ObjectKey: DiskEntry] = [:]
    /// When each node first saw that a name was not there.
    var absentNames: [Int: [String: Duration]] = [:]
    /// A process that goes on may have changed the tree.
    var isTreeTouched = false
    /// How often the mirror was cut with each seed.
    private var cuts: [UInt64: UInt64] = [:]
    /// Where the shards begin, in key order.
    private(set) var firstKeys: [ObjectKey] = []

    /// Why the end of a round did not come.
    var lastFailure: TransferError?

    static let stepLimit = 300_000

    init(_ world: World, _ setup: NodesSetup) {
        (self.world, self.setup) = (world, setup)
        cluster = Cluster(world, setup)
    }

    func play() {
        world.disk.onCall = { [weak self] call in self?.judge(call) ?? 0 }
        cluster.onMove = { [weak self] in self?.goOn() }
        cluster.onEnd = { [weak self] process in self?.ended(process) }
        cluster.onStop = { [weak self] process in self?.look(process) }
        for (index, operation) in world.history.operations.enumerated() {
            world.statistics.operations += 1
            world.trace("operation \(index)")
            switch operation {
            case .world(let change): apply(change)
            case .run: break
            case .nodes(let operation): perform(operation)
            }
            guard world.violations.isEmpty else { return endAll() }
        }
        finish()
        endAll()
    }

    /// Changes of the world between two pieces of work.
    func apply(_ change: WorldChange) {
        lookAround()
        world.apply(change)
        lookAround()
        // Some uses of the world have a time of their own.
        world.disk.setTime(world.now)
    }

    private func perform(_ operation: NodeOperation) {
        lookAround()
        world.model.beginRun()
        switch operation {
        case .round(let round):
            guard ensureCut(on: 0, seed: round.seed) else { return }
            play(round)
        case .cut(let shards, let node):
            _ = cut(into: shards, on: node % setup.nodes.count, seed: UInt64(shards))
        case .plain(let node, let direction, let seed):
            guard ensureCut(on: 0, seed: seed) else { return }
            cluster.begin(seed: seed, order: .random)
            var options = quietOptions(direction, seed: seed)
            options.deletionPercent = 50
            _ = plain(options, on: node % setup.nodes.count)
        }
    }

    func ensureCut(on node: Int, seed: UInt64) -> Bool {
        let file = [UInt8]((VirtualDisk.ownState + "/cuts").utf8)
        if world.disk.unseen({ DiskEdits.read(file) }) != nil { return true }
        return cut(into: setup.shards, on: node, seed: seed)
    }

    /// False if that was not possible.
    func cut(into shards: Int, on node: Int, seed: UInt64) -> Bool {
        // No two cuts have one name: from the same chances each would make it.
        let earlier = cuts[seed, default: 0]
        cuts[seed] = earlier + 1
        cluster.begin(seed: seed &+ earlier << 32, order: .random)
        let process = cluster.start(.cut, on: node)
        let engine = MirrorEngine(settings: settings(process, failures: 0))
        var options = CutOptions()
        options.count = shards
        let chosen = options
        process.begin {
            let shards = try await engine.cut(chosen) { _ in }
            self.firstKeys = shards.map { ObjectKey($0.firstKey) }
        }
        runUntilAllEnded()
        if let failure = process.failure {
            world.report(.convergence, "the mirror could not be cut: \(failure.message)")
            return false
        }
        return true
    }

    /// Nil, and a violation, if it does not end well.
    func plain(_ options: ToolRun, on node: Int) -> RunSummary? {
        let process = cluster.start(.plain, on: node)
        let engine = MirrorEngine(settings: settings(process, failures: 0))
        let (direction, engineOptions) = (
            options.engineDirection, options.engineOptions(world.setup)
        )
        process.begin { [process] in
            process.summary = try await engine.run(direction, options: engineOptions) { event in
                self.heard(event, process)
            }
        }
        runUntilAllEnded()
        if let failure = process.failure, failure.code != .refused {
            world.report(.convergence, "a run of all shards failed: \(failure.message)")
        }
        return process.summary
    }

    func runUntilAllEnded() {
        switch cluster.run(limit: Self.stepLimit, until: { cluster.processes.isEmpty }) {
        case .finished: return
        case .stuck:
            world.report(.termination, "nothing is left to do, and a process is not at its end")
        case .stepsUsedUp: world.report(.termination, "a process does not end")
        }
        endAll()
    }

    /// Lets nothing of this simulation be left.
    private func endAll() {
        for process in cluster.processes { cluster.kill(process, losesMemory: false, seed: 0) }
        world.disk.onCall = nil
        let open = virtual_files_open_descriptors()
        if open > 0, world.violations.isEmpty {
            world.report(.boundedResources, "\(open) descriptors are open at the end")
        }
        virtual_files_set_network(false, false)
    }

    // MARK: - The engine

    func heard(_ event: SyncEvent, _ process: NodeProcess) {
        switch event {
        case .warning(let message):
            world.scheduler.trace.say("    \(process.number) warning: \(message)")
        case .item(let item):
            let words = "\(item.action) \(item.state) \(item.displayKey)"
            world.scheduler.trace.say("    \(process.number) \(words) \(item.message ?? "")")
        default: break
        }
    }

    func settings(_ process: NodeProcess, failures: Int) -> MirrorSettings {
        let (cluster, node) = (cluster, process.node)
        let transport = NodeTransport(
            process,
            self,
            failures: failures,
            longestWay: round?.round.latency ?? NodeRound(seed: 0).latency
        )
        let observer = process.storeObserver
        let client = world.client(
            transport,
            observer,
            in: StorageEnvironment(
                now: { cluster.wallTime(node) },
                sleep: { try await process.sleep($0) },
                randomUnit: { cluster.randomUnit() },
                observe: { observer.observe($0) }
            )
        )
        let run = RunState(
            ToolRun(direction: .pull, seed: 0, faults: .none),
            number: 0,
            isStatus: false
        )
        var settings = world.settings(client, run)
        settings.storeObserver = observer
        settings.environment = EngineEnvironment(
            now: { cluster.wallTime(node) },
            monotonic: { cluster.uptime(node) },
            sleep: { try await process.sleep($0) },
            randomUnit: { cluster.randomUnit() },
            hostName: cluster.nodes[node].name
        )
        settings.environment.threads = process.threads
        settings.systemCalls.bootIDPath = cluster.nodes[node].bootIDPath
        settings.systemCalls.leaseHost = leaseHost(process)
        return settings
    }

    private func leaseHost(_ process: NodeProcess) -> LeaseHost {
        let (cluster, node) = (cluster, process.node)
        return LeaseHost(
            clock: LeaseClock(
                now: { cluster.uptime(node) + process.timeAfterDeath },
                wait: { process.wait($0) }
            ),
            processes: LeaseHost.Processes(
                hostName: cluster.nodes[node].name,
                namespace: cluster.nodes[node].namespace,
                number: process.number,
                start: { cluster.exists($0, on: node) ? "\($0)" : nil }
            ),
            keep: { interval, giveSign in process.keep(interval, giveSign) }
        )
    }
}
