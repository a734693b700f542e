package import SyncModel

/// Which shards of a cut mirror a run does, and in which round.
package struct ShardSelection: Sendable, Hashable {
    /// Which of the tasks this is, from 0.
    package let task: Int
    /// How many tasks there are; this one does every such shard from `task` on.
    package let taskCount: Int
    /// The name of the pass over all shards that the run is part of.
    package let round: String
    /// What the round is recorded with, for whoever ends it.
    package let command: [String]

    /// - Parameters:
    ///   - task: From 0, less than `taskCount`.
    ///   - taskCount: How many tasks there are.
    ///   - round: 1 to 64 of `A-Z`, `a-z`, `0-9`, `.`, `_` and `-`.
    ///   - command: Recorded with the round if this run begins it, and otherwise unused.
    package init(task: Int, of taskCount: Int, round: String, command: [String] = []) {
        self.task = task
        self.taskCount = taskCount
        self.round = round
        self.command = command
    }

    func numbers(among count: Int) -> [Int] {
        [Int](stride(from: task, to: count, by: taskCount))
    }
}

/// How far a round over the shards of a cut mirror has come.
package struct ShardCounts: Sendable, Hashable {
    /// All shards of the mirror; of a task, its own.
    package let count: Int
    /// Those with nothing left to do in the round.
    package internal(set) var complete: Int
    /// The numbers of those without a result in the round.
    package internal(set) var missing: [Int]
    /// The name of the round.
    package let round: String
    /// Deletions that wait for the end of the round.
    package internal(set) var deletionsWaiting = 0
    /// Files that the last run of each shard in the round has transferred.
    package let transferred: Int
    /// Bytes that the last run of each shard in the round has moved over the network.
    package let bytes: Int64
    /// True if every shard has a result, after which both sides of it are equal but for the
    /// deletions that wait.
    let isInStep: Bool

    /// True if no shard has anything left to do but the deletions.
    var isDone: Bool { complete == count }
}

/// A round over the shards of a cut mirror, as it began.
package struct RoundReport: Sendable, Hashable {
    /// 1 to 64 letters, digits, dots, underscores and hyphens.
    package let name: String
    /// What all its runs are.
    package let direction: SyncDirection
    /// What it was recorded with.
    package let command: [String]
    /// True once it was finished.
    package let isFinished: Bool
}

/// A shard of a cut mirror, and what its last run came to.
package struct ShardState: Sendable, Hashable {
    /// From 0.
    package let number: Int
    /// Its first key; empty for the first shard in key order.
    package let firstKey: [UInt8]
    /// The first key behind it; nil for the last shard in key order.
    package let endKey: [UInt8]?
    /// The round of the last run that came to its end; nil if there is none since the last one
    /// began.
    package let round: String?
    /// True if that round has nothing left to do in this shard.
    package let isComplete: Bool
    /// What its manifest recorded when that run had ended, less what `finish` has deleted since;
    /// nil without such a run.
    package let recorded: Int?
    /// Deletions that wait for the end of the round.
    package let deletionsWaiting: Int
    /// The process and host of the run that works on it, safe to print; nil if there is none.
    ///
    /// Nil also where the file system has no locks.
    package let holder: String?
}
