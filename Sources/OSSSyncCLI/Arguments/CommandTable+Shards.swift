/// The commands on a mirror that many processes share.
extension CommandTable {
    static let shard = CommandSpecification(
        name: .shard,
        arguments: [optionalDirectory, optionalRemote],
        summary: "cut a mirror into shards that many machines can run",
        discussion: [
            "Cuts the keys into ranges, the shards, each with a manifest of its own beneath "
                + "DIR/.osssync/shards. Then 'osssync pull DIR --shard K/M --round NAME' does the "
                + "shards K, K+M, K+2M and so on, on any machine that has DIR mounted, and "
                + "'osssync finish DIR --round NAME' deletes once all have ended. Without --shard, "
                + "pull and push do all shards in turn and then the same. See docs/scale.md.",
            "The places to cut at come from the manifest; if it is empty, from a listing of the "
                + "bucket. For a very large bucket, --inventory is faster; an inventory is never "
                + "taken for a listing, because it is old. A mirror that is cut is cut anew, "
                + "and one that is interrupted meanwhile "
                + "is cut as before. Exit status 75 means that a run is at work.",
        ],
        options: [.dryRun, .count, .cuts, .inventory, .tasks, .jobs, .stateDirectory]
            + commonOptions,
        examples: [
            ("osssync shard --count 64 /mnt/media oss://media/photos", "cut into 64 shards"),
            (
                "osssync pull --delete --shard 3/16 --round today /mnt/media",
                "the fourth of 16 tasks"
            ),
            ("osssync finish --round today /mnt/media", "after the last one: delete"),
        ],
        optionHelp: [.dryRun: "only show where the mirror would be cut"]
    )

    static let finish = CommandSpecification(
        name: .finish,
        arguments: [optionalDirectory, optionalRemote],
        summary: "end a round over all shards: prove that it is whole, and delete",
        discussion: [
            "The tasks of a round never delete. Once each shard has a result of the round, this "
                + "checks all of them together as one run checks itself, and deletes what the "
                + "tasks have planned, after looking again at each file and object. If a shard "
                + "has no result, it is named and nothing is deleted (exit status 1).",
            "The options are those that the round began with. --max-delete counts the deletions "
                + "of all shards; it and --allow-empty can be given anew. Killed anywhere, it does "
                + "the rest when it is run again. Exit status 75 means that a task is at work.",
        ],
        options: [
            .round, .maxDelete, .allowEmpty, .ifLocked, .jobs, .progress, .color, .jsonInterval,
            .stateDirectory,
        ] + commonOptions,
        examples: [
            ("osssync finish --round 2026-01-31 /mnt/media", "after all tasks have ended"),
            ("osssync finish --round 2026-01-31 --max-delete 5000 /mnt/media", "allow 5,000"),
        ],
        optionHelp: [.round: "the round to end (default: the one that began last)"]
    )
}
