extension OptionTable {
    /// The options of a mirror that many processes share.
    static let shardRows: [OptionSpecification] = [
        OptionSpecification(
            .shard,
            value: .text("K/M"),
            .run,
            "process only the shards K, K+M, K+2M and so on, with K from 0 to M-1 (see 'osssync "
                + "help shard'); requires --round; 'osssync finish' carries out the deletions"
        ),
        OptionSpecification(
            .round,
            value: .text("NAME"),
            .run,
            "the name of the round, such as a date; shards that are complete in it are skipped"
        ),
        OptionSpecification(
            .count,
            value: .text("N"),
            .run,
            "create N shards, up to 1000 (default: one per million objects or per terabyte, and "
                + "none for a smaller mirror); 1 joins them, so that the mirror has a single "
                + "manifest again"
        ),
        OptionSpecification(
            .cuts,
            value: .text("FILE"),
            .run,
            "use the cut points in FILE, the keys at which shards begin: one per line, "
                + "percent-encoded, in ascending order"
        ),
        OptionSpecification(
            .tasks,
            value: .text("M"),
            .run,
            "estimate how long a first round takes with M concurrent tasks"
        ),
    ]
}
