import LeaseExploration
import Testing

/// All orders in which two processes can do what a lease needs; `make soak` explores three.
@Suite("Exploration of the lease")
struct LeaseExplorationTests {
    private static let timing = LeaseExploration.timing(
        beat: 0,
        trust: 1,
        observation: 3,
        settling: 2
    )

    private static func two(_ machines: LeaseExploration.Machines = .apart) -> LeaseExploration {
        var exploration = LeaseExploration(timing: timing)
        exploration.machines = machines
        exploration.takings = 2
        exploration.restarts = false
        return exploration
    }

    @Test func `two processes never hold a lease at once, in any order of their calls`() {
        let result = Self.two().explore()
        #expect(result.violation == nil)
        #expect(result.isComplete)
        #expect(result.states == 130_691)
        // One takes it first, and the other one after that.
        #expect(result.acting.allSatisfy { $0 > 500 })
        // An observation and settling, with a unit more of each.
        #expect(result.longestWait == 7)
    }

    /// The first lease, which is given back or lost with its process, in all orders.
    @Test func `two processes of a machine that end and start again hold a lease in turn`() {
        var exploration = Self.two(.together)
        exploration.restarts = true
        exploration.takings = 1
        let result = exploration.explore()
        #expect(result.violation == nil)
        #expect(result.isComplete)
        #expect(result.states == 91_814)
    }

    @Test(arguments: [
        (PlantedLeaseError.lateBeatCounts, LeaseExploration.Violation.Kind.twoHolders),
        (.holderIsNotCompared, .twoHolders), (.noSecondLook, .twoHolders),
        (.wallClock, .robbed), (.goneInAnotherNamespace, .twoHolders),
        (.goneSinceAnotherBoot, .twoHolders),
    ])
    func `errors of the machine are found`(
        planted: PlantedLeaseError,
        kind: LeaseExploration.Violation.Kind
    ) throws {
        var exploration = Self.two(planted == .goneInAnotherNamespace ? .contained : .apart)
        exploration.planted = planted
        exploration.looksAhead = false
        let violation = try #require(exploration.explore().violation)
        #expect(violation.kind == kind)
        #expect(violation.steps.count > 10)
    }

    /// Two takings of a lease that is trusted for 2.
    private static func twoTakings(observation: Int, settling: Int) -> LeaseExploration {
        var exploration = LeaseExploration(
            timing: LeaseExploration.timing(
                beat: 0,
                trust: 2,
                observation: observation,
                settling: settling
            )
        )
        exploration.takings = 2
        exploration.restarts = false
        exploration.looksAhead = false
        return exploration
    }

    @Test func `a holder on time is robbed after an observation that is shorter than the trust`()
        throws
    {
        let exploration = Self.twoTakings(observation: 1, settling: 3)
        let violation = try #require(exploration.explore().violation)
        #expect(violation.kind == .robbed)
    }

    @Test func `two act at once if settling is shorter than the trust`() throws {
        let exploration = Self.twoTakings(observation: 3, settling: 1)
        let violation = try #require(exploration.explore().violation)
        #expect(violation.kind == .twoHolders)
    }
}
