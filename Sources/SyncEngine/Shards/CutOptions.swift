/// How a mirror is to be cut.
package struct CutOptions: Sendable, Hashable {
    /// How many shards; nil for one for a million objects or a terabyte.
    ///
    /// Nil never means fewer than the mirror has, and changes nothing where it means a single one.
    /// 1 makes a sharded mirror one with a single manifest again, unless `bounds` are given.
    package var count: Int?
    /// The first key of every shard but the first, ascending; nil to choose them.
    package var bounds: [[UInt8]]?
    /// Only says where it would be cut.
    package var isDryRun = false
    /// Requests at once while the bucket is listed.
    package var connectionLimit = RunOptions.standard.connectionLimit

    /// As many shards as the size of the mirror asks for.
    package init() {}

    /// True if one shard is asked for, which is a mirror that is not cut.
    package var isJoining: Bool { count == 1 && bounds == nil }

    /// True if the size of the mirror decides how many shards there are.
    package var choosesCount: Bool { count == nil && bounds == nil }
}

/// A shard of a mirror that was cut.
package struct ShardReport: Sendable, Hashable {
    /// From 0; consecutive numbers lie far apart.
    package let number: Int
    /// Its first key; empty for the first shard in key order.
    package let firstKey: [UInt8]
    /// The first key behind it; nil for the last shard in key order.
    package let endKey: [UInt8]?
    /// What it held when the mirror was cut; nil if the places were given.
    package let objects: Int?
    /// Of those objects.
    package let bytes: Int64?
}

extension ShardReport {
    /// What one task is taken to move in a second: with the weight of an object, 1,000 small ones.
    package static let assumedBytesPerSecond: Int64 = 1_000 * KeySample.bytesOfObject

    /// How long a first round over the shards takes by a number of tasks at once, each at the
    /// assumed speed; nil if the sizes of the shards are not known.
    package static func assumedDuration(of shards: [ShardReport], tasks: Int) -> Duration? {
        precondition(tasks > 0, "shards are done by tasks")
        var weights: [Int: Double] = [:]
        for shard in shards {
            guard let objects = shard.objects, let bytes = shard.bytes else { return nil }
            weights[shard.number % tasks, default: 0] +=
                KeySample.weight(objects: objects, bytes: bytes)
        }
        // The array ends with its slowest task.
        return .seconds((weights.values.max() ?? 0) / Double(assumedBytesPerSecond))
    }
}
