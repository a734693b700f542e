internal import OSSSync

/// What runs do, and what they skip and limit.
extension Option {
    static let ofMirrors: [Option] = [
        .dryRun, .savePlan, .delete, .maxDelete, .allowEmpty, .rebind, .force,
        .allMirrors, .checkWrite, .unlink, .onConflict, .checksum, .ifLocked, .exitCode, .follow,
        .links,
        .names,
        .noMetadata, .noEmptyDirectories, .emptyDirectories, .restore, .summary, .trashDays,
        .trash, .backupDirectory, .exclude, .include, .excludeFrom, .filesFrom, .excludeIfPresent,
        .excludeCaches, .oneFileSystem, .minimumSize, .maximumSize, .minimumAge, .maximumAge,
    ]

    static let ofTransfers: [Option] = [
        .jobs, .partSize, .bandwidthLimit, .maximumTransfer, .maximumDuration,
    ]

    static let dryRun = Option("dry-run", letter: "n", .run)
        .of(.runs, [.shard, .free, .trash, .restore, .undo])
        .daily("show what would be done, and change nothing")
        .help("show what would be done, without transferring, writing or deleting anything")
        .run(.flag(\.isDryRun))
    static let savePlan = Option("save-plan", "FILE", .run, .typed, .writes)
        .of(.runs)
        .help(
            "like --dry-run, and also save the plan in FILE, outside of DIR, for 'osssync apply "
                + "FILE'"
        )
        .refused(withShard: "a saved plan is of a whole mirror; save it without --shard")
    static let delete = Option("delete", .optional("deleted|extra|excluded"), .run, .kept)
        .of(.planners)
        .daily("delete what was deleted on the other side")
        .help(
            "delete what was deleted on the other side, if it was mirrored and has not changed "
                + "since; with =extra, also what was never mirrored (a sync transfers that "
                + "instead); with =excluded, also excluded files at the destination that are "
                + "recorded and unchanged"
        )
        .run(.deletions)
    static let maxDelete = Option("max-delete", "N|P%", .run, .kept)
        .of(.runners, [.finish, .status])
        .daily("delete nothing if more would be (default 50%)")
        .help(
            "delete nothing if more than N items, or P percent of the mirrored ones, would be "
                + "deleted; a percentage never applies to 10 deletions or fewer (default 50%)"
        )
        .run(.value(\.deletionLimit, .deletionLimit))
        .refused(withShard: "a task with --shard deletes nothing; give it to 'osssync finish'")
    static let allowEmpty = Option("allow-empty", .run, .kept, .typed)
        .of(.runs, [.finish, .status])
        .help("accept a listing or directory that is empty, but was not before")
        .run(.flag(\.allowsEmpty))
        .refused(withShard: "a task with --shard deletes nothing; give it to 'osssync finish'")
    static let rebind = Option("rebind", .run, .typed)
        .of(.runs, [.`init`])
        .help(
            "confirm a different remote or directory, deletions with a rebuilt manifest, or "
                + "missing mounts"
        )
        .run(.flag(\.allowsRebinding))
        .refused(withShard: "run once without --shard")
    static let force = Option("force", .run, .kept)
        .of(.runners, [.get, .put, .restore, .undo])
        .daily("replace an existing file or object")
        .help("replace an existing file or object")
        .run(.flag(\.replacesLocalChanges))
        .single(.flag(\.replaces))
    static let allMirrors = Option("all", .run)
        .of([.status, .doctor])
        .help("do it for each mirror of this account, as 'osssync mirrors' lists them")
    static let checkWrite = Option("check-write", .run)
        .of([.`init`, .doctor])
        .help("also check that objects can be written, by starting and aborting an upload")
    static let unlink = Option("unlink", .run)
        .of([.`init`])
        .help("remove the link of DIR; files, trash and manifest are kept")
    static let onConflict = Option("on-conflict", .one(of: ConflictPolicy.self), .run, .kept)
        .of(.planners)
        .daily("which version a conflict keeps (default both)")
        .help("how to resolve changes on both sides (default keep-both)")
        .run(.choice(\.conflictPolicy))
    static let checksum = Option("checksum", .run, .kept)
        .of(.planners)
        .daily("find local changes by content, not by time")
        .help(
            "detect local changes by content instead of size and modification time; a file of "
                + "which only the content changed is reported as damaged and uploaded only with "
                + "--force"
        )
        .run(.flag(\.comparesContent))
    static let ifLocked = Option("if-locked", "fail|skip|wait[=TIME]", .run)
        .of(.runs, [.apply, .finish, .verify, .schedule])
        .help(
            "while another run uses DIR: fail with status 75 (default), do nothing and exit with "
                + "status 0, or wait, at most TIME, such as 30m"
        )
        .run(.value(\.lockTimeout, .lockTimeout))
    static let follow = Option("follow", .run)
        .of([.status])
        .help(
            "show the run that works on DIR now as its own terminal would, until it ends; Ctrl-C "
                + "ends only the watching"
        )
        .daily("watch the run that works on DIR now")
    static let exitCode = Option("exit-code", .run)
        .of([.status])
        .daily("exit with 1 if the two sides differ")
        .help("exit with status 1 if the two sides differ or may differ")
    static let links = Option("links", .one(of: LinkPolicy.self), .run, .kept)
        .of(.planners, [.restore])
        .daily("skip, follow or store symbolic links")
        .help(
            "how to handle symbolic links: skip them (default), mirror links to files in DIR as "
                + "these files, or store the target of each as an object NAME.rclonelink, from "
                + "which a pull creates the link again"
        )
        .run(.choice(\.links))
    static let names = Option("names", .one(of: NamePolicy.self), .run, .kept)
        .of(.planners, [.restore])
        .help(
            "how to handle keys that cannot be file names, such as those with '//': skip them "
                + "(default), or mirror each as a file with an escaped name in .osssync-names"
        )
        .run(.choice(\.names))
    static let noMetadata = Option("no-metadata", .run, .kept)
        .of(.runners)
        .help(
            "do not store modification times and permissions in objects, and do not restore them"
        )
        .run(.flag(\.keepsFileMetadata, false))
    static let noEmptyDirectories = Option("no-empty-dirs", .run, .kept)
        .of(.runners)
        .help("ignore empty directories: create neither them nor the objects that represent them")
        .run(.flag(\.keepsEmptyDirectories, false))
    static let emptyDirectories = Option("empty-dirs", .run, .kept)
        .of(.runners)
        .help("mirror empty directories, whatever DIR/.osssync/config says (default)")
    static let restore = Option("restore", .optional("DAYS"), .run)
        .of([.pull, .sync, .schedule])
        .help(
            "request that the store restores archived objects for DAYS (default "
                + "\(RunOptions.standardRestoreDays)); a later run downloads them"
        )
        .run(.optional(\.restoreDays, .restoreDays))
    static let summary = Option("summary", .output)
        .of([.status, .ls])
        .daily("show totals")
        .help(
            "show totals: with status, for each directory at the top of DIR or PATH; with ls, for "
                + "each storage class"
        )
    static let trashDays = Option("trash-days", "N", .run, .kept)
        .of(.runners)
        .daily("keep trash for N days (default 7)")
        .help(
            "keep what is in the trash for N days; 0 deletes it at once (default "
                + "\(RunOptions.standard.trashDays))"
        )
        .run(.value(\.trashDays, .count(0...36_500, of: "days")))
    static let trash = Option("trash", .one(of: TrashPlace.self), .run, .kept)
        .of(.runners)
        .daily("where removed versions go (default local)")
        .help(
            "where to keep what is deleted or replaced: nowhere; files in DIR/.osssync/trash and "
                + "objects nowhere (default local); or files there and objects, copied first, in "
                + ".osssync/trash/ beneath REMOTE"
        )
        .run(.choice(\.trash))
    static let backupDirectory = Option("backup-dir", "PATH", .run, .kept, .writes)
        .of([.pull, .schedule])
        .help(
            "move files to PATH, outside of DIR on the same file system, before they are deleted "
                + "or replaced; osssync never removes them there"
        )
        .refused(elsewhere: "'--trash remote' keeps objects in the bucket")
        .run(.backupDirectory)

    // MARK: - What is skipped

    static let exclude = Option("exclude", "GLOB", .filter, .kept, .repeats)
        .of(.planners)
        .daily("skip files matching GLOB (gitignore syntax)")
        .help(
            "skip files matching GLOB (gitignore syntax; applied after DIR/.osssyncignore); "
                + "repeatable, the last match wins"
        )
        .run(.exclude)
    static let include = Option("include", "GLOB", .filter, .kept, .repeats)
        .of(.planners)
        .daily("include files that --exclude matches")
        .help("include files matching GLOB even if an earlier --exclude matches them")
        .run(.include)
    static let excludeFrom = Option("exclude-from", "FILE", .filter, .kept, .repeats)
        .of(.planners)
        .help(
            "read patterns from FILE, one per line, in gitignore syntax ('!' includes); "
                + "repeatable, in order with --exclude and --include"
        )
        .run(.excludeFrom)
    static let filesFrom = Option("files-from", "FILE", .filter, .typed)
        .of(.runs, [.status, .schedule])
        .help(
            "limit the run to the files and directories listed in FILE (- for standard input): "
                + "one path relative to DIR per line"
        )
    static let excludeIfPresent = Option("exclude-if-present", "NAME", .filter, .kept, .repeats)
        .of(.planners)
        .help(
            "skip directories of this machine that contain a file NAME, on both sides; repeatable"
        )
        .run(.excludeIfPresent)
    static let excludeCaches = Option("exclude-caches", .filter, .kept)
        .of(.planners)
        .help("skip directories of this machine that contain a valid CACHEDIR.TAG, on both sides")
        .run(.flag(\.filter.tags.recognizesCaches))
    static let oneFileSystem = Option("one-file-system", .filter, .kept)
        .of(.planners)
        .help(
            "skip directories of this machine in which another file system is mounted, on both "
                + "sides"
        )
        .run(.flag(\.filter.tags.staysOnFileSystem))
    static let minimumSize = Option("min-size", "SIZE", .filter, .kept)
        .of(.planners)
        .help("skip files smaller than SIZE, such as 10K, on both sides")
        .run(.optional(\.filter.bounds.minimumSize, .size("10K or 1G")))
    static let maximumSize = Option("max-size", "SIZE", .filter, .kept)
        .of(.planners)
        .daily("skip files larger than SIZE, such as 1G")
        .help("skip files larger than SIZE, such as 1G, on both sides")
        .run(.optional(\.filter.bounds.maximumSize, .size("10K or 1G")))
    static let minimumAge = Option("min-age", "TIME", .filter, .kept)
        .of(.planners)
        .help("skip files changed less than TIME ago, such as 15m, on both sides")
        .run(.optional(\.filter.bounds.minimumAge, .time("15m, 12h or 30d")))
    static let maximumAge = Option("max-age", "TIME", .filter, .kept)
        .of(.planners, [.doctor, .mirrors])
        .help("skip files changed more than TIME ago, such as 30d, on both sides")
        .run(.optional(\.filter.bounds.maximumAge, .time("15m, 12h or 30d")))

    // MARK: - Transfers

    static let jobs = Option("jobs", letter: "j", "N", .transfer)
        .of(.runners, [.apply, .shard, .finish, .status, .free, .get, .put])
        .daily("make at most N requests at once")
        .help(
            "make at most N requests at once (default auto: adapt to the connection and the "
                + "service; 16 for get to a file, 4 for put and streams)"
        )
        .run(.value(\.connectionLimit, .requests))
        .single(.optional(\.streams, .count(1...64)))
    static let partSize = Option("part-size", "SIZE", .transfer, .kept)
        .of(.runners, [.get, .put])
        .help(
            "transfer large files in parts of SIZE, such as 8M; from 100K to 5G (default "
                + "\(RunOptions.standard.partSize >> 20)M; 32M for get to a file, 2M for put of a "
                + "file above 16M)"
        )
        .run(.value(\.partSize, .partSize))
        .single(.optional(\.partSize, .partSize))
    static let bandwidthLimit = Option("bwlimit", "RATE", .transfer)
        .of(.runners, [.apply, .status])
        .daily("transfer at most RATE per second, such as 2M")
        .help(
            "transfer at most RATE bytes per second, such as 2M, or by local time, such as "
                + "'08:00,1M 19:00,off'"
        )
        .connection(.optional(\.bandwidth, .timetable))
    static let maximumTransfer = Option("max-transfer", "SIZE", .transfer)
        .of(.runners, [.apply])
        .help("stop once SIZE was transferred, such as 10G; the next run continues")
        .run(.optional(\.maximumTransfer, .size("10G")))
    static let maximumDuration = Option("max-duration", "TIME", .transfer)
        .of(.runners, [.apply])
        .daily("stop after TIME, such as 6h")
        .help("stop after TIME, such as 6h; the next run continues")
        .run(.optional(\.maximumDuration, .time("30m or 6h")))
}
