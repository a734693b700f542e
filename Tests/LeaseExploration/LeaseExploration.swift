package import LocalStorage

/// All states that some processes with a lease's machine can come to, whatever the order of their
/// calls, however long each takes, and wherever a process stops, is killed or started again.
///
/// Time goes by in units, which are the same for all clocks unless ``clocksLag`` is set. A file
/// system's call begins, has its effect in one step or in several, and returns; in between others
/// act and time goes by. Of two states that differ only in names, or in times that are too long ago
/// to matter, one is explored.
package struct LeaseExploration {
    /// What was found.
    package struct Result: Sendable {
        package var states = 0
        package var transitions = 0
        package var depth = 0
        /// States in which each slot's process may change the mirror.
        package var acting: [Int]
        /// In the longest of all cases, the time that the only process left takes until it has the
        /// lease.
        package var longestWait = 0
        /// What went wrong, after the fewest steps.
        package var violation: Violation?
        /// True if every state was explored.
        package var isComplete = true
    }

    package struct Violation: Sendable, CustomStringConvertible {
        package enum Kind: String, Sendable {
            case twoHolders = "two processes may change the mirror"
            case robbed = "a lease that is trusted is taken"
            case lost = "a process that is alone and on time loses its lease"
            case stuck = "a dead holder is not followed"
        }

        package let kind: Kind
        package var steps: [String] = []
        package var description: String { ([kind.rawValue] + steps).joined(separator: "\n") }
    }

    package enum Machines: String, Sendable, CaseIterable {
        /// One process on each machine.
        case apart
        /// Two processes on one machine, or all of two.
        case together
        /// All on one machine, each in a container of its own.
        case contained
    }

    package var processes = 2
    package var machines = Machines.apart
    package var timing: LeaseTiming
    /// Of so many units a clock may miss one; 0: none.
    package var clocksLag = 0
    /// How often the lease is claimed at most.
    package var takings = 3
    /// Whether processes end, are killed, and are followed by others on the same machine.
    package var restarts = true
    package var planted: PlantedLeaseError?
    /// So many states at most.
    package var limit = Int.max
    /// Asks in each state what would become of each process alone.
    package var looksAhead = true

    package init(processes: Int = 2, timing: LeaseTiming) {
        (self.processes, self.timing) = (processes, timing)
    }

    /// Times of so many units each.
    package static func timing(
        beat: Int,
        trust: Int,
        observation: Int,
        settling: Int
    ) -> LeaseTiming {
        LeaseTiming(
            beat: ExploredProcess.units(beat),
            trust: ExploredProcess.units(trust),
            observation: ExploredProcess.units(observation),
            settling: ExploredProcess.units(settling)
        )
    }

    package func explore() -> Result {
        let result = LeaseExplorer(self).explore()
        guard result.violation != nil else { return result }
        // Only now the way there is of interest.
        let explorer = LeaseExplorer(self)
        explorer.keepsSteps = true
        return explorer.explore()
    }
}
