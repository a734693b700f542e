internal import SyncTestSupport

/// The runs of a history.
extension HistoryGenerator {
    /// One run; after one that is cut short often another, that finds what it left.
    mutating func makeRuns(_ ending: ToolRun.Direction) -> [ToolRun] {
        let first = makeRun(ending)
        guard first.interruption != nil, generator.oneIn(2) else { return [first] }
        var next = makeRun(ending)
        next.direction = first.direction
        next.tool = nil
        next.isDryRun = false
        next.interruption = nil
        next.allowsRebinding = true
        if generator.oneIn(2) { next.faults = .none }
        return [first, next]
    }

    /// Powers of two, down to single bytes where they cost few requests.
    mutating func makePartSize() -> Int64 {
        generator.oneIn(64) ? 1 << Int64(generator.below(6)) : 64 << Int64(generator.below(11))
    }

    private mutating func makeRun(_ ending: ToolRun.Direction) -> ToolRun {
        let direction: ToolRun.Direction =
            generator.oneIn(4) ? generator.pick([.pull, .push, .sync]) : ending
        var run = ToolRun(
            direction: direction,
            seed: generator.next() >> 12,
            faults: makeFaults()
        )
        run.deletesKnown = generator.oneIn(2)
        run.deletesExtra = generator.oneIn(12)
        run.allowsEmpty = generator.oneIn(4)
        run.allowsRebinding = generator.oneIn(2)
        run.replacesLocalChanges = generator.oneIn(8)
        run.conflicts =
            generator.oneIn(2)
            ? .keepBoth
            : generator.pick(
                ToolRun.Conflicts.allCases
            )
        run.comparesContent = generator.oneIn(8)
        run.connections = 1 + generator.below(8)
        run.partSize = generator.oneIn(2) ? makePartSize() : partSize
        run.trashDays = generator.pick([0, 1, 7, 7])
        run.deletionPercent = generator.pick([50, 50, 100])
        if generator.oneIn(6) { run.deletionLimit = generator.below(4) }
        run.isDryRun = generator.oneIn(16)
        run.order = generator.pick([.random, .random, .random, .oldestFirst, .newestFirst])
        if mayInterrupt, generator.below(5) < 2 { run.interruption = makeInterruption() }
        if generator.oneIn(4) { run.meanwhile = makeCompany() }
        if generator.oneIn(12) {
            let other = generator.pick([.pull, .push, .sync] as [ToolRun.Direction])
            run.rival = ToolRun.Rival(request: 1 + generator.below(8), direction: other)
        }
        if generator.oneIn(10) { run.excluded = [generator.pick(Self.excludable)] }
        if generator.oneIn(20) { run.tool = generator.pick([.status, .cancel, .cancel]) }
        return run
    }

    private static let excludable = ["a", "A", "b", "c.txt", "d", "con", "a-b"]

    /// What others do while a run goes on: somewhere, or where the run is just at work.
    private mutating func makeCompany() -> [ToolRun.Meanwhile] {
        (0..<(1 + generator.below(3))).map { _ in
            let change: WorldChange =
                switch generator.below(6) {
                case 0: .remote(.alterAsked)
                case 1: .remote(.putAsked(size: size()))
                case 2: .local(.alterAsked)
                case 3: .local(makeLocalChange())
                default: .remote(makeRemoteChange())
                }
            return ToolRun.Meanwhile(
                request: 1 + generator.below(20),
                isAfter: generator.oneIn(2),
                change: change
            )
        }
    }

    private mutating func makeFaults() -> FaultPlan {
        guard !kinds.isEmpty, !generator.oneIn(3) else { return .none }
        var rates: [String: Int] = [:]
        for kind in kinds where generator.oneIn(2) {
            // A call on the disk comes a hundred times where a request comes once, and of some
            // requests there are a few in a run.
            let levels =
                kind.isOfDisk
                ? [2, 10, 60, -1]
                : kind.isRare ? [1_000, 3_000, 10_000, -2] : [10, 100, 1_000, -1]
            rates[kind.rawValue] = generator.pick(levels)
        }
        return FaultPlan(seed: generator.next() >> 12, rates: rates)
    }

    private mutating func makeInterruption() -> ToolRun.Interruption {
        let kind: ToolRun.Interruption.Kind
        switch generator.below(5) {
        case 0: kind = .cancel
        case 1, 2, 3: kind = mayCutPower ? .powerCut : .kill
        default: kind = .kill
        }
        let place = generator.pick(
            [.call, .change, .change, .name, .name, .write, .request, .answer, .step]
                as [ToolRun.Interruption.Place]
        )
        let most =
            switch place {
            case .call: 700
            case .change: 250
            case .name, .write: 60
            case .request, .answer: 25
            case .step: 900
            }
        // Early moments as often as late ones.
        let number = 1 + generator.below(1 + generator.below(most))
        return ToolRun.Interruption(
            kind: kind,
            place: place,
            number: number,
            seed: generator.next() >> 12,
            mode: generator.pick([0, 0, 1, 2])
        )
    }
}
