/// How a mirror is to be cut.
public struct CutOptions: Sendable, Hashable {
    /// How many shards; nil for one for a million objects or a terabyte.
    public var count: Int?
    /// The first key of every shard but the first, ascending; nil to choose them.
    public var bounds: [[UInt8]]?
    /// Only says where it would be cut.
    public var isDryRun = false
    /// Requests at once while the bucket is listed.
    public var connectionLimit = RunOptions.standard.connectionLimit

    /// As many shards as the size of the mirror asks for.
    public init() {}
}

/// A shard of a mirror that was cut.
public struct ShardReport: Sendable, Hashable {
    /// From 0; consecutive numbers lie far apart.
    public let number: Int
    /// Its first key; empty for the first shard in key order.
    public let firstKey: [UInt8]
    /// The first key behind it; nil for the last shard in key order.
    public let endKey: [UInt8]?
    /// What it held when the mirror was cut; nil if the places were given.
    public let objects: Int?
    /// Of those objects.
    public let bytes: Int64?
}
