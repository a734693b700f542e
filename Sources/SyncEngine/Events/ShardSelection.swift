public import SyncModel

/// Which shards of a cut mirror a run does, and in which round.
public struct ShardSelection: Sendable, Hashable {
    /// Which of the tasks this is, from 0.
    public let task: Int
    /// How many tasks there are; this one does every such shard from `task` on.
    public let taskCount: Int
    /// The name of the pass over all shards that the run is part of.
    public let round: String
    /// What the round is recorded with, for whoever ends it.
    public let command: [String]

    /// - Parameters:
    ///   - task: From 0, less than `taskCount`.
    ///   - taskCount: How many tasks there are.
    ///   - round: 1 to 64 of `A-Z`, `a-z`, `0-9`, `.`, `_` and `-`.
    ///   - command: Recorded with the round if this run begins it, and otherwise unused.
    public init(task: Int, of taskCount: Int, round: String, command: [String] = []) {
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
public struct ShardCounts: Sendable, Hashable {
    /// All shards of the mirror; of a task, its own.
    public let count: Int
    /// Those with nothing left to do in the round.
    public internal(set) var complete: Int
    /// The numbers of those without a result in the round.
    public internal(set) var missing: [Int]
    /// The name of the round.
    public let round: String
    /// Deletions that wait for the end of the round.
    public internal(set) var deletionsWaiting = 0
    /// Files that the last run of each shard in the round has transferred.
    public let transferred: Int
    /// Bytes that the last run of each shard in the round has moved over the network.
    public let bytes: Int64
    /// True if every shard has a result, after which both sides of it are equal but for the
    /// deletions that wait.
    let isInStep: Bool

    /// True if no shard has anything left to do but the deletions.
    var isDone: Bool { complete == count }
}

/// A round over the shards of a cut mirror, as it began.
public struct RoundReport: Sendable, Hashable {
    /// 1 to 64 letters, digits, dots, underscores and hyphens.
    public let name: String
    /// What all its runs are.
    public let direction: SyncDirection
    /// What it was recorded with.
    public let command: [String]
    /// True once it was finished.
    public let isFinished: Bool
}

/// A shard of a cut mirror, and what its last run came to.
public struct ShardState: Sendable, Hashable {
    /// From 0.
    public let number: Int
    /// Its first key; empty for the first shard in key order.
    public let firstKey: [UInt8]
    /// The first key behind it; nil for the last shard in key order.
    public let endKey: [UInt8]?
    /// The round of the last run that came to its end; nil if there is none since the last one
    /// began.
    public let round: String?
    /// True if that round has nothing left to do in this shard.
    public let isComplete: Bool
    /// What its manifest recorded when that run had ended, less what `finish` has deleted since;
    /// nil without such a run.
    public let recorded: Int?
    /// Deletions that wait for the end of the round.
    public let deletionsWaiting: Int
    /// The process and host of the run that works on it, safe to print; nil if there is none.
    ///
    /// Nil also where the file system has no locks.
    public let holder: String?
}
