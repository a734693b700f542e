extension OptionTable {
    /// The options of a mirror that many processes share.
    static let shardRows: [OptionSpecification] = [
        OptionSpecification(
            .shard,
            value: .text("K/M"),
            .run,
            "do only the shards K, K+M, K+2M and so on of a mirror that 'osssync shard' has cut, "
                + "with K from 0 to M-1; needs --round, and deletes nothing before 'osssync finish'"
        ),
        OptionSpecification(
            .round,
            value: .text("NAME"),
            .run,
            "the round that the shards are done in, such as a date: what is done in it already "
                + "is passed over"
        ),
        OptionSpecification(
            .count,
            value: .text("N"),
            .run,
            "cut into N shards, up to 1000 (default: one for a million objects or a terabyte); "
                + "1 makes a cut mirror one with a single manifest again"
        ),
        OptionSpecification(
            .cuts,
            value: .text("FILE"),
            .run,
            "cut at the keys in FILE, one a line and percent-encoded, ascending: each begins a "
                + "shard"
        ),
        OptionSpecification(
            .inventory,
            value: .text("FILE|URL"),
            .run,
            "choose where to cut by an inventory of the bucket: the manifest.json of an OSS or S3 "
                + "inventory in CSV, as a file with the others beside it or as an address"
        ),
        OptionSpecification(
            .tasks,
            value: .text("M"),
            .run,
            "estimate how long a first round takes with M tasks at once"
        ),
    ]
}
