internal import CVirtualFiles
internal import ObjectTransfer
internal import SyncModel
internal import SyncTestSupport

/// One machine of a cluster.
struct ClusterNode {
    let name: String
    var wallOffset: Duration
    /// What is added to the world's time for its clock of leases.
    var uptime: Duration
    let speed: Int
    var boots = 1
    let bootIDPath: String
    /// The first of the nodes that share its kernel.
    let machine: Int
    let namespace: String
    var lastNumber: Int32 = 100
}

/// Several machines with processes, which go on in turns, one piece of work or a part of one after
/// the other, in an order made of a seed.
///
/// Unchecked, because of all fibers only one runs at a time.
final class Cluster: @unchecked Sendable {
    private struct Arrival {
        let due: Duration
        let ticket: UInt64
        let work: () -> Void
    }

    let world: World
    let setup: NodesSetup
    var nodes: [ClusterNode] = []
    /// Those that have not ended.
    private(set) var processes: [NodeProcess] = []
    /// The one whose work goes on.
    private(set) var current: NodeProcess?
    private var arrivals: [Arrival] = []
    private var nextTicket: UInt64 = 0
    private var generator = SeededGenerator(seed: 0)
    private var order = Scheduler.Order.random
    /// Pieces of work, and parts of them, of this round.
    private(set) var moves = 0
    var onMove: (() -> Void)?
    /// A process has ended by itself.
    var onEnd: ((NodeProcess) -> Void)?
    /// What a process did is to be looked at: at the end of its piece, or within it.
    var onStop: ((NodeProcess) -> Void)?

    private static let pieceDuration = Duration.microseconds(50)
    private static let stepsAfterDeath = 50_000

    init(_ world: World, _ setup: NodesSetup) {
        (self.world, self.setup) = (world, setup)
        for (index, node) in setup.nodes.enumerated() {
            let isContainer = node.isContainer == true
            nodes.append(
                ClusterNode(
                    name: "node\(index)",
                    wallOffset: .seconds(node.wallOffset),
                    uptime: .seconds(node.uptime),
                    speed: node.speed,
                    bootIDPath: VirtualDisk.bootIDPath + "-\(index)",
                    machine: isContainer ? 0 : index,
                    // Outside of containers it has the same number everywhere.
                    namespace: isContainer ? "402653\(2_000 + index)" : "4026531836"
                )
            )
            writeBootID(index)
        }
        let isLocal = setup.locks == .onOneNode
        virtual_files_set_network(true, isLocal)
    }

    func bootID(_ node: Int) -> String {
        "boot-\(nodes[node].boots)-of-machine\(nodes[node].machine)"
    }

    private func writeBootID(_ node: Int) {
        let text = bootID(node) + "\n"
        world.disk.unseen {
            let path = [UInt8](nodes[node].bootIDPath.utf8)
            _ = DiskEdits.write(path, [UInt8](text.utf8), truncates: true)
        }
    }

    // MARK: - Time

    var elapsed: Duration { world.scheduler.elapsed }

    func wallTime(_ node: Int) -> Timestamp {
        let (seconds, attoseconds) = nodes[node].wallOffset.components
        return Timestamp(
            nanosecondsSince1970: world.now.nanosecondsSince1970 + seconds * 1_000_000_000
                + attoseconds / 1_000_000_000
        )
    }

    /// The node's clock that goes on while it sleeps and never steps.
    func uptime(_ node: Int) -> Duration {
        nodes[node].uptime + elapsed * nodes[node].speed / 1_000
    }

    /// How long the world takes for what the node counts as so long.
    func worldTime(_ duration: Duration, on node: Int) -> Duration {
        // Rounded up, so that what waits by its own clock does not wait once more.
        duration * 1_000 / nodes[node].speed + .microseconds(1)
    }

    // MARK: - Chances

    func begin(seed: UInt64, order: Scheduler.Order) {
        generator = SeededGenerator(randomSeed: seed)
        self.order = order
        moves = 0
    }

    func choose(_ count: Int) -> Int {
        switch order {
        case .random: generator.below(count)
        case .oldestFirst: 0
        case .newestFirst: count - 1
        }
    }

    func oneIn(_ count: Int) -> Bool { generator.oneIn(count) }
    func below(_ count: Int) -> Int { generator.below(count) }
    func randomUnit() -> Double { Double(generator.next() >> 11) / Double(1 << 53) }

    // MARK: - Processes

    func start(_ role: NodeRole, on node: Int) -> NodeProcess {
        nodes[node].lastNumber += 1
        let number = nodes[node].lastNumber
        let process = NodeProcess(self, node: node, number: number, role: role)
        processes.append(process)
        world.trace("process \(number) of \(nodes[node].name) begins: \(role)")
        return process
    }

    func exists(_ number: Int32, on node: Int) -> Bool {
        processes.contains { $0.node == node && $0.number == number }
    }

    /// Work that is done after some time, whatever becomes of who sent it.
    func arrive(after duration: Duration, _ work: @escaping () -> Void) {
        nextTicket += 1
        arrivals.append(Arrival(due: elapsed + duration, ticket: nextTicket, work: work))
    }

    func enter(_ process: NodeProcess) {
        let time = wallTime(process.node)
        virtual_files_set_process(
            process.disk,
            UInt32(nodes[process.node].machine + 1),
            process.isDead,
            time.seconds,
            Int64(time.nanoseconds)
        )
        current = process
    }

    private func leave() {
        current = nil
        let time = world.now
        virtual_files_set_process(0, 0, false, time.seconds, Int64(time.nanoseconds))
    }

    /// Ends a process, with what its machine had not written yet or without.
    func kill(_ process: NodeProcess, losesMemory: Bool, seed: UInt64) {
        guard let index = processes.firstIndex(where: { $0 === process }) else { return }
        world.trace("process \(process.number) of \(nodes[process.node].name) is killed")
        processes.remove(at: index)
        virtual_files_end_process(process.disk, losesMemory, seed)
        process.die(limit: Self.stepsAfterDeath)
        leave()
        virtual_files_end_process(process.disk, false, 0)
    }

    /// A machine goes down and comes back, with all nodes that are on it.
    func reboot(_ node: Int, seed: UInt64) {
        let machine = nodes[node].machine
        for node in nodes.indices where nodes[node].machine == machine {
            world.trace("\(nodes[node].name) goes down")
            for process in processes where process.node == node {
                kill(process, losesMemory: true, seed: seed &+ UInt64(process.number))
            }
            nodes[node].boots += 1
            // Its clock begins anew.
            nodes[node].uptime = .zero - elapsed * nodes[node].speed / 1_000
            nodes[node].lastNumber = 100
            writeBootID(node)
        }
    }

    // MARK: - Going on

    enum End {
        case finished
        case stepsUsedUp
        case stuck
    }

    /// Lets all go on until `isOver`.
    func run(limit: Int, until isOver: () -> Bool) -> End {
        var left = limit
        while !isOver() {
            guard left > 0 else { return .stepsUsedUp }
            left -= 1
            onMove?()
            freezeThoseAtRest()
            wakeThoseDue()
            let able = processes.filter(\.canMove)
            guard !able.isEmpty else {
                // The last one may just have been killed.
                guard passTime() || isOver() else { return .stuck }
                continue
            }
            move(able[choose(able.count)])
        }
        return .finished
    }

    private func move(_ process: NodeProcess) {
        moves += 1
        world.scheduler.advance(by: Self.pieceDuration)
        world.service.now = world.now
        world.disk.setTime(world.now)
        world.scheduler.trace.note(UInt64(process.node) << 32 | UInt64(process.number))
        enter(process)
        process.move()
        leave()
        onStop?(process)
        guard process.place == .ended, let index = processes.firstIndex(where: { $0 === process })
        else { return }
        processes.remove(at: index)
        virtual_files_end_process(process.disk, false, 0)
        let end = process.failure.map { "\($0.code): \($0.message)" } ?? "itself"
        world.trace("process \(process.number) of \(nodes[process.node].name) ended by \(end)")
        onEnd?(process)
    }

    private func freezeThoseAtRest() {
        for process in processes
        where process.freezesFor != nil && !process.freezesInLease && process.isAtRest {
            freeze(process)
        }
    }

    func freeze(_ process: NodeProcess) {
        guard let duration = process.freezesFor else { return }
        process.freezesFor = nil
        process.freezesInLease = false
        process.frozenUntil = elapsed + duration
        let name = nodes[process.node].name
        world.trace("process \(process.number) of \(name) is frozen for \(duration)")
    }

    private func wakeThoseDue() {
        let due = arrivals.filter { $0.due <= elapsed }
        if !due.isEmpty {
            arrivals.removeAll { $0.due <= elapsed }
            for arrival in due.sorted(by: { ($0.due, $0.ticket) < ($1.due, $1.ticket) }) {
                arrival.work()
            }
        }
        for process in processes {
            if let until = process.frozenUntil, until <= elapsed {
                process.frozenUntil = nil
                world.trace("process \(process.number) of \(nodes[process.node].name) goes on")
            }
            process.fireTimers()
        }
    }

    /// False if nothing will ever happen.
    private func passTime() -> Bool {
        let times = arrivals.map(\.due) + processes.compactMap(\.nextTime)
        guard let next = times.min() else { return false }
        world.scheduler.advance(by: max(.zero, next - elapsed))
        return true
    }
}
