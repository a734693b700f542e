/// The commands on a mirror that many processes share.
extension CommandTable {
    static let shard = CommandSpecification(
        name: .shard,
        arguments: [optionalDirectory, optionalRemote],
        summary: "divide a mirror into shards for several machines",
        discussion: [
            "Divides the keys into ranges, the shards, each with its own manifest beneath "
                + "DIR/.osssync/shards. Then 'osssync pull DIR --shard K/M --round NAME' processes "
                + "the shards K, K+M, K+2M and so on, on any machine that has DIR mounted, and "
                + "'osssync finish DIR --round NAME' deletes after all of them have ended. Without "
                + "--shard, pull and push process all shards one after the other, and then do the "
                + "same as finish. See docs/scale.md.",
            "The cut points come from the manifest, or from a listing of the bucket if the "
                + "manifest is empty, or from a file (--cuts). A sharded mirror can be sharded "
                + "again; if that is interrupted, the previous shards remain. Exit status 75 means "
                + "that a run is active.",
        ],
        options: [.dryRun, .count, .cuts, .tasks, .jobs, .stateDirectory]
            + commonOptions,
        examples: [
            ("osssync shard --count 64 /mnt/media oss://media/photos", "create 64 shards"),
            (
                "osssync pull --delete --shard 3/16 --round today /mnt/media",
                "run the fourth of 16 tasks"
            ),
            ("osssync finish --round today /mnt/media", "delete, after the last task"),
        ],
        optionHelp: [.dryRun: "only show the shards that would be created"]
    )

    static let finish = CommandSpecification(
        name: .finish,
        arguments: [optionalDirectory, optionalRemote],
        summary: "end a round over all shards: check that it is complete, then delete",
        discussion: [
            "The tasks of a round never delete. Once each shard has a result of the round, finish "
                + "applies the safety checks of a single run to all shards together. Then it "
                + "carries out the deletions that the tasks planned, and checks each file and "
                + "object again before. If a shard has no result, finish names it and deletes "
                + "nothing (exit status 1).",
            "The options are those that the round began with; only --max-delete and --allow-empty "
                + "can be changed. --max-delete counts the deletions of all shards. If finish is "
                + "interrupted, run it again to continue. Exit status 75 means that a task is "
                + "active.",
        ],
        options: [
            .round, .maxDelete, .allowEmpty, .ifLocked, .jobs, .progress, .color, .jsonInterval,
            .stateDirectory,
        ] + commonOptions,
        examples: [
            ("osssync finish --round 2026-01-31 /mnt/media", "end a round after all its tasks"),
            (
                "osssync finish --round 2026-01-31 --max-delete 5000 /mnt/media",
                "allow 5,000 deletions"
            ),
        ],
        optionHelp: [.round: "the round to end (default: the one that began last)"]
    )
}
