/// The commands that start runs in other ways, and those on what runs did.
extension CommandTable {
    static let apply = CommandSpecification(
        name: .apply,
        arguments: ["FILE"],
        summary: "carry out a plan that --save-plan saved",
        discussion: [
            "Compares both sides again, and carries out only items of the plan, and only if a run "
                + "would still do the same for the same reasons. An item that changed here or in "
                + "the bucket since is reported as failed and not carried out. All checks of "
                + "deletions apply.",
            "The plan contains the directory, the paths and the options of the run. An interrupted "
                + "apply resumes when it is run again; items that are already done count as "
                + "unchanged.",
        ],
        examples: [
            ("osssync push --delete --save-plan photos.plan ~/Photos", "save a plan"),
            ("osssync apply photos.plan", "carry it out"),
        ]
    )

    static let watch = CommandSpecification(
        name: .watch,
        arguments: ["[DIR]"],
        summary: "push changes in a directory as they happen; with --sync, both ways",
        discussion: [
            "Pushes everything once, and then each file or directory that changes, after it has "
                + "not changed for some seconds (--settle); one that keeps changing is pushed "
                + "after twelve times that. Each is an ordinary push, with the defaults of [push] "
                + "in DIR/.osssync/config. Everything is pushed again every hour, when changes may "
                + "have been missed, and when an ignore file changed.",
            "If changes are not reported (on network and FUSE file systems, on systems other than "
                + "Linux, and with more directories than the system's limit), everything is pushed "
                + "every 5 minutes.",
            "With --sync, it is both ways: what changes is synced, with the defaults of [sync], "
                + "and everything at the start and every 10 minutes, or --sync=TIME, to fetch what "
                + "changed in the bucket. Conflicts and deletions are those of 'osssync sync'.",
            "Runs until it is stopped. If a push or sync fails, it is retried after growing "
                + "pauses. If the user must fix the cause, watch ends with its status: 2, 3, 4 or "
                + "5.",
        ],
        examples: [
            ("osssync watch ~/Photos", "push changes until Ctrl-C"),
            ("osssync watch --sync ~/Photos", "keep two machines the same, until Ctrl-C"),
            (
                "osssync watch --delete --trash remote ~/Photos",
                "also delete objects, and keep them in the trash"
            ),
        ],
        optionHelp: [
            .every: "push everything at this interval, such as 15m or 1d (default 1h)",
            .sync: "sync both ways instead of pushing, everything at this interval, such as 2m "
                + "(default 10m)",
            .force: "upload files that --checksum reports as damaged",
        ]
    )

    static let schedule = CommandSpecification(
        name: .schedule,
        arguments: ["[DIR]"],
        summary: "run pull, push, sync or verify regularly, by systemd, cron or launchd",
        discussion: [
            "Prints a systemd timer, a crontab line or a launchd file that runs osssync for DIR at "
                + "these times; --install installs it for this user, or with --system for the "
                + "machine. --remove and --test need --pull, --push, --sync or --verify; --list "
                + "needs no other option. Times are in the local time of the machine.",
            "Options of the run, such as --delete, --bwlimit or --log-file, are passed on to it; "
                + "set other options in DIR/.osssync/config, see 'osssync help configuration'.",
            "Starts are put off by a random time, a tenth of the interval and at most 15 minutes. "
                + "A run is skipped while another one uses DIR. With systemd, a run that could not "
                + "reach the remote is repeated after 5 minutes.",
        ],
        examples: [
            ("osssync schedule --push --daily 02:30 ~/Photos", "print what would be installed"),
            ("osssync schedule --push --every 1h --install ~/Photos", "push every hour"),
            (
                "osssync schedule --push --every 1h --log-file ~/o.log --install ~/Photos",
                "push every hour, with a log"
            ),
            ("osssync schedule --push --test ~/Photos", "test the installed run"),
            (
                "osssync schedule --verify --budget 5% --daily 04:00 ~/Photos",
                "read all files in 20 nights"
            ),
        ],
        optionHelp: [
            .force: "pull: replace local changes; push, sync: upload files that --checksum reports "
                + "as damaged",
            .sync: "schedule a sync; the interval is that of --every",
        ]
    )

    static let shard = CommandSpecification(
        name: .shard,
        arguments: ["[DIR]", "[REMOTE]"],
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
        arguments: ["[DIR]", "[REMOTE]"],
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
        examples: [
            ("osssync finish --round 2026-01-31 /mnt/media", "end a round after all its tasks"),
            (
                "osssync finish --round 2026-01-31 --max-delete 5000 /mnt/media",
                "allow 5,000 deletions"
            ),
        ],
        optionHelp: [.round: "the round to end (default: the one that began last)"]
    )

    static let undo = CommandSpecification(
        name: .undo,
        arguments: ["[DIR]", "[RUN]"],
        summary: "restore everything that a run deleted or replaced",
        discussion: [
            "Restores what run RUN deleted, replaced or renamed. The default is the last such run, "
                + "whether a trash has anything of it or not. A first argument that is a number is "
                + "RUN.",
            "Objects that the run deleted or replaced with --trash remote are copied back within "
                + "the bucket. The local files stay; a pull fetches the objects.",
            "What the run itself put in the place of an old version is moved to the trash, an "
                + "object by a copy in the bucket, and replaced. What has changed since is kept "
                + "and reported (exit status 1); --force replaces it, too. A renamed "
                + "file gets its old name again; a renamed object keeps the new one, too.",
            "Directories that the run made are removed if they are empty. Permissions that it "
                + "changed, what it created and conflict copies stay; a stored link that it "
                + "renamed is named.",
        ],
        examples: [
            ("osssync undo ~/Photos", "restore what the last run deleted or replaced"),
            ("osssync undo 12", "restore what run 12 deleted in this mirror"),
        ],
        optionHelp: [
            .dryRun: "show what would be restored",
            .force: "replace files and objects that have changed since; the trash keeps them",
        ]
    )

    static let verify = CommandSpecification(
        name: .verify,
        arguments: ["[DIR]", "[PATH...]"],
        summary: "compare the content of files with the recorded checksums",
        discussion: [
            "Reports damaged files: those with the recorded size and modification time, but "
                + "different content. Later runs also report a damaged file, and upload it only "
                + "with --force, until it is repaired, edited or verified again. Files that were "
                + "changed or deleted since the last run are counted.",
            "With PATH, relative to DIR, only these files and directories are read. A PATH that "
                + "neither exists nor is recorded is an error.",
            "Exit status 1 means that a file is damaged, is missing in the bucket (--remote) or "
                + "could not be read.",
        ],
        examples: [
            ("osssync verify ~/Photos", "read all files"),
            ("osssync verify --budget 5% ~/Photos", "every night: read all files in 20 nights"),
            ("osssync verify --repair ~/Photos 2024", "download damaged files in 2024 again"),
        ]
    )

    static let log = CommandSpecification(
        name: .log,
        arguments: ["[DIR]", "[RUN]"],
        summary: "show past runs, or the items of one run",
        discussion: [
            "Prints one line for each of the last 1,000 runs, the latest last: number, start, "
                + "direction, outcome, duration and counts. With RUN, the number of a run, it also "
                + "prints up to 5,000 of its items, those that failed, were skipped, deleted or "
                + "replaced before those that were transferred; these are kept for the last 20 "
                + "runs. A first argument that is a number is RUN."
        ],
        examples: [
            ("osssync log ~/Photos", "show past runs"),
            ("osssync log ~/Photos 12", "show what run 12 did, and what failed"),
            ("osssync log --path 2026/a.jpg ~/Photos", "show what became of a file"),
            ("osssync log --since 7d ~/Photos", "show the runs of a week"),
            ("osssync log --html ~/photos.html ~/Photos", "write a page for a browser"),
        ]
    )

    static let free = CommandSpecification(
        name: .free,
        arguments: ["[DIR]", "[PATH...]"],
        summary: "remove local copies of files that the bucket has",
        discussion: [
            "Removes files in DIR whose content the bucket has: the object has the recorded tag "
                + "and size, and the file is as recorded. All others are kept and named, and the "
                + "exit status is 1. Requires PATH, --older-than or --until.",
            "Freed files are not deleted in the bucket, whatever a run deletes, and no run "
                + "downloads them, until 'osssync pull DIR PATH' brings them back. Nor does a run "
                + "download what is new in a freed directory. 'osssync status' counts them. They "
                + "do not go to the trash.",
        ],
        examples: [
            ("osssync free ~/Videos films", "keep films only in the bucket"),
            ("osssync free --older-than 90d ~/Videos", "free what has not changed for 90 days"),
            ("osssync free --until 200G ~/Videos", "free the oldest files"),
            ("osssync pull ~/Videos films", "download films again"),
        ],
        optionHelp: [
            .dryRun: "show what would be removed",
            .olderThan: "only files that were last modified at least this long ago, such as 90d",
        ]
    )

    static let trash = CommandSpecification(
        name: .trash,
        arguments: ["[DIR]"],
        summary: "list or delete what runs moved to the trash",
        discussion: [
            "Files that a run deletes, or replaces in a conflict or with --force, are kept in "
                + "DIR/.osssync/trash for --trash-days. Prints one line for each of them: size in "
                + "bytes, time and number of the run, and path; the oldest run first. Then it "
                + "prints the objects that pushes with --trash remote copied to .osssync/trash/ in "
                + "the bucket.",
            "--empty permanently deletes what is listed. Other files are not changed.",
        ],
        examples: [
            ("osssync trash ~/Photos", "list what was deleted or replaced"),
            ("osssync trash --empty --older-than 3d ~/Photos", "free space, but keep three days"),
        ],
        optionHelp: [
            .dryRun: "with --empty: show what would be deleted",
            .olderThan: "include only what runs removed at least this long ago, such as 12h or 3d "
                + "(default 0s)",
        ]
    )

    static let restore = CommandSpecification(
        name: .restore,
        arguments: ["[DIR]", "PATH..."],
        summary: "get files back: from the bucket, the trash or earlier versions",
        discussion: [
            "PATH, relative to DIR, is a file or a directory. Of a file, the newest version is "
                + "restored that is not what is there: of the object in the bucket, if the file "
                + "is missing or has changed here, else of the local trash and the trash in the "
                + "bucket, else of the versions that the bucket keeps. A line says where it came "
                + "from. A file that was there moves to the local trash.",
            "Of a directory, what is missing is restored, from the bucket and from the trash. "
                + "What is there with different content is kept and reported (exit status 1), "
                + "unless --force is given. '.' is everything in the trash, in a mirror everything "
                + "beneath the current directory.",
            "--list shows the versions that there are. --at TIME and --run N choose one. If the "
                + "bucket keeps versions, --at uses these instead of the trash; files that changed "
                + "after TIME are left out.",
            "--to PATH restores beside it; it is relative to the same directory as PATH. With an "
                + "absolute path, or one with '..', outside of DIR, the file, or all that is in "
                + "the directory, is only copied there: nothing changes in DIR or the bucket.",
            "What comes from the trash in the bucket or from its versions is copied back within "
                + "the bucket, and then downloaded; a key that may only read downloads it. If the "
                + "bucket cannot be reached, the local trash is used. A file from the local trash "
                + "is a local file like any other: a push uploads it, a pull keeps it.",
        ],
        examples: [
            ("osssync restore ~/Photos a.jpg", "undo what was done to a file"),
            ("osssync restore ~/Photos 2024/summer", "restore a deleted directory"),
            ("osssync restore --list ~/Photos a.jpg", "show the versions of a file"),
            ("osssync restore --at 2026-01-31 ~/Photos a.jpg", "restore the version of that day"),
            (
                "osssync restore --to old.jpg ~/Photos a.jpg",
                "restore the old version beside the current one"
            ),
            ("osssync restore --to /tmp/old.jpg ~/Photos a.jpg", "only look at the old version"),
        ],
        optionHelp: [
            .dryRun: "show what would be restored",
            .force: "replace existing files and objects, which are moved to the trash",
            .list: "show the versions that the bucket and the trash have, and restore none",
        ]
    )
}
