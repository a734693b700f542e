internal import SyncTestSupport

/// Makes the history of several machines that a seed stands for.
struct NodeHistory {
    private var generator: SeededGenerator
    private let seed: UInt64
    private var names: [Name] = []
    private var ending = ToolRun.Direction.pull

    private init(seed: UInt64) {
        self.seed = seed
        generator = SeededGenerator(seed: seed &+ 0x6E6F_6465)
    }

    static func history(seed: UInt64) -> History {
        var maker = NodeHistory(seed: seed)
        return maker.make()
    }

    private mutating func make() -> History {
        var setup = makeSetup()
        let nodes = makeNodes()
        setup.nodes = nodes
        names = makeNames()
        ending = generator.oneIn(3) ? .push : .pull
        var operations: [Operation] = []
        for _ in 0..<(4 + generator.below(20)) {
            operations.append(
                .world(
                    ending == .push
                        ? .local(.write(name(), size: size()))
                        : .remote(.put(name(), size: size()))
                )
            )
        }
        for number in 0..<(1 + generator.below(4)) {
            if number > 0, generator.oneIn(8) {
                let shards = 1 + generator.below(6)
                operations.append(.nodes(.cut(shards: max(2, shards), node: number)))
            }
            let seed = generator.next() >> 12
            if generator.oneIn(10) {
                operations.append(.nodes(.plain(node: number, direction: ending, seed: seed)))
            } else {
                operations.append(.nodes(.round(makeRound(seed, isFirst: number == 0))))
            }
            for _ in 0..<generator.below(9) { operations.append(.world(makeChange())) }
        }
        return History(seed: seed, setup: setup, operations: operations, ending: ending)
    }

    private mutating func makeSetup() -> Setup {
        var setup = Setup()
        setup.dialect = generator.oneIn(3) ? .s3 : .oss
        setup.pageSize = 1 + generator.below(8)
        setup.reusesInodes = generator.oneIn(2)
        setup.directoryOrder = generator.oneIn(2) ? 0 : generator.next() >> 12
        setup.usesOpenat2 = !generator.oneIn(5)
        setup.attempts = 1 + generator.below(4)
        setup.uncheckpointed = 256 << Int64(generator.below(5))
        setup.batch = 1 + generator.below(9)
        setup.publicationGroup = 1 + generator.below(6)
        return setup
    }

    private mutating func makeNodes() -> NodesSetup {
        let year: Int64 = 366 * 86_400
        let nodes = (0..<(2 + generator.below(3))).map { _ in
            NodesSetup.Node(
                wallOffset: generator.oneIn(3)
                    ? 0 : Int64(generator.below(Int(2 * year))) - year,
                uptime: Int64(generator.below(Int(year))),
                speed: generator.oneIn(2) ? 1_000 : 980 + generator.below(41)
            )
        }
        var setup = NodesSetup(nodes: nodes)
        if generator.oneIn(3) {
            for index in nodes.indices.dropFirst() where !generator.oneIn(3) {
                setup.nodes[index].isContainer = true
            }
        }
        setup.locks = generator.pick(NodesSetup.Locks.allCases)
        setup.shards = 2 + generator.below(5)
        setup.callsBetween = generator.pick([0, 3, 8, 8, 30])
        setup.attributeSeconds = generator.oneIn(3) ? 1 + generator.below(60) : nil
        return setup
    }

    private mutating func makeNames() -> [Name] {
        let folders = ["", "a/", "a!b/", "b/", "b/c/", "b/c-d/", "z/1/2/"]
        return (0..<(6 + generator.below(14))).map { _ in
            Name(generator.pick(folders) + "f\(generator.below(12))")
        }
    }

    private mutating func name() -> Name { generator.pick(names) }

    private mutating func size() -> Int {
        switch generator.below(6) {
        case 0: 0
        case 1, 2: 8 + generator.below(400)
        case 3, 4: 512 << generator.below(4)
        default: 2_000 + generator.below(14_000)
        }
    }

    // MARK: - Changes

    private mutating func makeChange() -> WorldChange {
        let isRemote = ending == .pull ? !generator.oneIn(5) : generator.oneIn(5)
        return isRemote ? .remote(makeRemoteChange()) : .local(makeLocalChange())
    }

    private mutating func makeRemoteChange() -> RemoteChange {
        switch generator.below(20) {
        case 0..<5: .put(name(), size: size())
        case 5, 6: .putOpaquely(name(), size: size())
        case 7..<10: .alter(name())
        case 10: .append(name(), size: 1 + generator.below(600))
        case 11..<16: .delete(name())
        case 16: .copy(from: name(), to: name())
        case 17: .rename(from: name(), to: name())
        case 18: .retag(name())
        default: generator.oneIn(3) ? .flip(name(), size: size()) : .delete(name())
        }
    }

    private mutating func makeLocalChange() -> LocalChange {
        switch generator.below(20) {
        case 0..<6: .write(name(), size: size())
        case 6..<9: .replace(name(), size: size())
        case 9..<11: .alter(name())
        case 11: .append(name(), size: 1 + generator.below(600))
        case 12..<17: .delete(name())
        case 17: .rename(from: name(), to: name())
        case 18: .touch(name())
        default: generator.oneIn(3) ? .flip(name(), size: size()) : .delete(name())
        }
    }

    // MARK: - Rounds

    private mutating func makeRound(_ seed: UInt64, isFirst: Bool) -> NodeRound {
        var round = NodeRound(seed: seed)
        round.direction = ending
        round.deletes = !generator.oneIn(6)
        round.tasks = 1 + generator.below(4)
        round.order = generator.oneIn(4) ? generator.pick(Scheduler.Order.allCases) : .random
        round.failures = generator.oneIn(3) ? 2 + generator.below(20) : 0
        round.connections = 1 + generator.below(4)
        round.latency = generator.pick([30, 30, 500, 4_000, 15_000])
        round.isFinished = !generator.oneIn(6)
        if round.tasks > 1, generator.oneIn(5) { round.leftOut = generator.below(round.tasks) }
        if !isFirst, generator.oneIn(5) { round.late = [generator.below(4)] }
        var after = 0
        for _ in 0..<(generator.oneIn(4) ? 0 : generator.below(8)) {
            after += generator.below(generator.oneIn(3) ? 60 : 700)
            round.events.append(NodeRound.Event(after: after, kind: makeEvent()))
        }
        return round
    }

    private mutating func makeEvent() -> NodeRound.Kind {
        switch generator.below(16) {
        case 0, 1: .freeze(process: generator.below(8), seconds: makeFreeze())
        case 2, 3: .freezeInLease(process: generator.below(8), seconds: makeFreeze())
        case 4, 5: .kill(process: generator.below(8))
        case 6, 7: .reboot(node: generator.below(4), seed: generator.next() >> 12)
        case 8:
            .setClock(
                node: generator.below(4),
                by: Int64(generator.below(63_000_000)) - 31_500_000
            )
        case 9..<12: .duplicate(task: generator.below(4), node: generator.below(4))
        case 12, 13: .finish(node: generator.below(4))
        default: .world(makeChange())
        }
    }

    /// Around the times of leases, most of them.
    private mutating func makeFreeze() -> Int {
        switch generator.below(4) {
        case 0: 1 + generator.below(35)
        case 1, 2: 60 + generator.below(60)
        default: 100 + generator.below(400)
        }
    }
}
