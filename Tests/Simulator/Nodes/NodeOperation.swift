/// Several machines that share a directory, and the directory's mirror, cut into shards.
struct NodesSetup: Codable, Hashable, Sendable {
    /// One machine.
    struct Node: Codable, Hashable, Sendable {
        /// How far its wall clock is off, in seconds.
        var wallOffset: Int64
        /// What its clock of a lease shows at the beginning, in seconds.
        var uptime: Int64
        /// Its seconds in a thousand of the world's.
        var speed = 1_000
        /// It is a container on the machine of the first one: they share the kernel with its boot
        /// and locks, and see no processes of each other.
        var isContainer: Bool?
    }

    /// Which locks of the kernel there are.
    enum Locks: String, Codable, Sendable, CaseIterable {
        /// As with the lock manager of a file server.
        case everywhere
        /// As with `local_lock`.
        case onOneNode
        /// As on Lustre without `-o flock`.
        case none
    }

    var nodes: [Node]
    var locks = Locks.everywhere
    var shards = 3
    /// Within a piece of work, others go on before one of so many calls; 0: before none.
    var callsBetween = 8
    /// How long what a node knows of a name may be old, in seconds; nil: it never is.
    var attributeSeconds: Int?
}

/// One pass over the shards by tasks on several nodes, under a scheduler that starts a task again
/// that did not end well.
struct NodeRound: Codable, Hashable, Sendable {
    /// What happens in it, after so many pieces of work.
    struct Event: Codable, Hashable, Sendable {
        var after: Int
        var kind: Kind
    }

    enum Kind: Codable, Hashable, Sendable {
        /// A process stops for a while, at the next moment when it has nothing in hand.
        case freeze(process: Int, seconds: Int)
        /// The same before one of its next calls on a lease's files.
        case freezeInLease(process: Int, seconds: Int)
        case kill(process: Int)
        /// The machine goes down with all processes, and comes back.
        case reboot(node: Int, seed: UInt64)
        case setClock(node: Int, by: Int64)
        /// The scheduler believes that a task's node is gone, and starts the task elsewhere.
        case duplicate(task: Int, node: Int)
        /// Somebody is in a hurry.
        case finish(node: Int)
        case world(WorldChange)
    }

    var direction = ToolRun.Direction.pull
    var deletes = true
    var tasks = 2
    /// Of the order in which things happen.
    var seed: UInt64
    var order = Scheduler.Order.random
    /// Of so many requests one fails; 0: none.
    var failures = 0
    var connections = 3
    /// The longest way of a request or an answer, in milliseconds.
    var latency = 30
    var events: [Event] = []
    /// Those of an earlier round that come too late: the task and its node.
    var late: [Int] = []
    /// A task that is never started.
    var leftOut: Int?
    /// The end of the round is not left out.
    var isFinished = true
}

/// What several machines do with the mirror they share.
enum NodeOperation: Codable, Hashable, Sendable {
    case round(NodeRound)
    /// The mirror is cut anew.
    case cut(shards: Int, node: Int)
    /// A run of all shards by one process.
    case plain(node: Int, direction: ToolRun.Direction, seed: UInt64)
}
