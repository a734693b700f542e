internal import OSSSync

/// All options, in the order in which the help shows them.
enum OptionTable {
    static let rows: [OptionSpecification] =
        runRows + filterRows + historyRows + shardRows + scheduleRows + objectRows
        + transferRows + limitRows + outputRows + connectionRows

    private static let runRows: [OptionSpecification] = [
        OptionSpecification(
            .dryRun,
            short: "n",
            .run,
            "show what would be done, without transferring, writing or deleting anything"
        ),
        OptionSpecification(
            .savePlan,
            value: .text("FILE"),
            .run,
            "like --dry-run, and also save the plan in FILE, outside of DIR, for 'osssync apply "
                + "FILE'"
        ),
        OptionSpecification(
            .delete,
            .run,
            "delete what was deleted on the other side, if it was mirrored and has not changed "
                + "since"
        ),
        OptionSpecification(
            .deleteExtra,
            .run,
            "like --delete, and also delete what was never mirrored "
                + "(a sync transfers that instead)"
        ),
        OptionSpecification(
            .maxDelete,
            value: .text("N|P%"),
            .run,
            "delete nothing if more than N items, or P percent of the mirrored ones, would be "
                + "deleted; a percentage never applies to 10 deletions or fewer (default 50%)"
        ),
        OptionSpecification(
            .allowEmpty,
            .run,
            "accept a listing or directory that is empty, but was not before"
        ),
        OptionSpecification(
            .rebind,
            .run,
            "confirm a different remote or directory, deletions with a rebuilt manifest, or "
                + "missing mounts"
        ),
        OptionSpecification(
            .force,
            .run,
            "replace an existing file or object"
        ),
        OptionSpecification(
            .checkWrite,
            .run,
            "also check that objects can be written, by starting and aborting an upload"
        ),
        OptionSpecification(
            .unlink,
            .run,
            "remove the link of DIR; files, trash and manifest are kept"
        ),
        OptionSpecification(
            .onConflict,
            value: .choice(ConflictPolicy.allCases.map(\.rawValue)),
            .run,
            "how to resolve changes on both sides (default keep-both)"
        ),
        OptionSpecification(
            .checksum,
            .run,
            "detect local changes by content instead of size and modification time; a file of "
                + "which only the content changed is reported as damaged and uploaded only with "
                + "--force"
        ),
        OptionSpecification(
            .ifLocked,
            value: .text("fail|skip|wait[=TIME]"),
            .run,
            "while another run uses DIR: fail with status 75 (default), do nothing and exit with "
                + "status 0, or wait, at most TIME, such as 30m"
        ),
        OptionSpecification(
            .exitCode,
            .run,
            "exit with status 1 if the two sides differ or may differ"
        ),
        OptionSpecification(
            .links,
            value: .choice(LinkPolicy.allCases.map(\.rawValue)),
            .run,
            "how to handle symbolic links: skip them (default), mirror links to files in DIR as "
                + "these files, or store the target of each as an object NAME.rclonelink, from "
                + "which a pull creates the link again"
        ),
        OptionSpecification(
            .names,
            value: .choice(NamePolicy.allCases.map(\.rawValue)),
            .run,
            "how to handle keys that cannot be file names, such as those with '//': skip them "
                + "(default), or mirror each as a file with an escaped name in .osssync-names"
        ),
        OptionSpecification(
            .noMetadata,
            .run,
            "do not store modification times and permissions in objects, and do not restore them"
        ),
        OptionSpecification(
            .noEmptyDirectories,
            .run,
            "ignore empty directories: create neither them nor the objects that represent them"
        ),
        OptionSpecification(
            .emptyDirectories,
            .run,
            "mirror empty directories, whatever DIR/.osssync/config says (default)"
        ),
        OptionSpecification(
            .restore,
            value: .optional("DAYS"),
            .run,
            "request that the store restores archived objects for DAYS (default "
                + "\(RunOptions.standardRestoreDays)); a later run downloads them"
        ),
        OptionSpecification(
            .summary,
            .output,
            "show totals: with status, for each directory at the top of DIR or PATH; with ls, for "
                + "each storage class"
        ),
        OptionSpecification(
            .trashDays,
            value: .text("N"),
            .run,
            "keep removed files, and with --trash remote objects, in the trash for N days; "
                + "0 deletes them at once (default \(RunOptions.standard.trashDays))"
        ),
        OptionSpecification(
            .trash,
            value: .choice(["none", "remote"]),
            .run,
            "with remote, copy objects to .osssync/trash/ beneath REMOTE before they are deleted "
                + "or replaced (default none)"
        ),
        OptionSpecification(
            .backupDirectory,
            value: .text("PATH|REMOTE"),
            .run,
            "move files to PATH, outside of DIR on the same file system, before they are deleted "
                + "or replaced, or copy objects to REMOTE, another prefix of the same bucket; "
                + "osssync never removes them there"
        ),
    ]

    private static let transferRows: [OptionSpecification] = [
        OptionSpecification(
            .jobs,
            short: "j",
            value: .text("N"),
            .transfer,
            "make at most N requests at once (default auto: adapt to the connection and the "
                + "service; 16 for get to a file, 4 for put and streams)"
        ),
        OptionSpecification(
            .partSize,
            value: .text("SIZE"),
            .transfer,
            "transfer large files in parts of SIZE, such as 8M; "
                + "from 100K to 5G (default \(RunOptions.standard.partSize >> 20)M; 32M for get to "
                + "a file, 2M for put of a file)"
        ),
    ]

    private static let limitRows: [OptionSpecification] = [
        OptionSpecification(
            .bandwidthLimit,
            value: .text("RATE"),
            .transfer,
            "transfer at most RATE bytes per second, such as 2M, or by local time, such as "
                + "'08:00,1M 19:00,off'"
        ),
        OptionSpecification(
            .maximumTransfer,
            value: .text("SIZE"),
            .transfer,
            "stop once SIZE was transferred, such as 10G; the next run continues"
        ),
        OptionSpecification(
            .maximumDuration,
            value: .text("TIME"),
            .transfer,
            "stop after TIME, such as 6h; the next run continues"
        ),
    ]

    private static let outputRows: [OptionSpecification] = [
        OptionSpecification(
            .progress,
            value: .choice(ProgressStyle.allCases.map(\.rawValue)),
            .output,
            "how to show progress; auto is a bar on a terminal, and otherwise a line every 10 s "
                + "(default auto)"
        ),
        OptionSpecification(
            .color,
            value: .choice(ColorChoice.allCases.map(\.rawValue)),
            .output,
            "when to use colours; auto is on a terminal, unless NO_COLOR is set (default auto)"
        ),
        OptionSpecification(.json, .output, "write one JSON object per line to stdout"),
        OptionSpecification(
            .jsonInterval,
            value: .text("TIME"),
            .output,
            "with --json, report the progress at most every TIME, such as 10s (default 1s)"
        ),
        OptionSpecification(.quiet, short: "q", .output, "show only warnings and errors"),
        OptionSpecification(
            .verbose,
            short: "v",
            .output,
            "show each item; -vv also shows why items were skipped"
        ),
        OptionSpecification(
            .logFile,
            value: .text("FILE"),
            .output,
            "append a log to FILE, outside of DIR, with the time of each line, as with --verbose"
        ),
        OptionSpecification(
            .metricsFile,
            value: .text("FILE"),
            .output,
            "write metrics of the run to FILE, outside of DIR, in the Prometheus text format; a "
                + "file with other content is refused"
        ),
        OptionSpecification(
            .notifyURL,
            value: .text("URL"),
            .output,
            "post the summary as JSON to URL when the run ends; {exit} in it becomes the exit "
                + "status, {state} success or failure; a URL with a secret belongs in "
                + "~/.config/osssync/config (notify-url), because other users can see arguments"
        ),
        OptionSpecification(
            .notifyOn,
            value: .choice(NotificationChoice.allCases.map(\.rawValue)),
            .output,
            "when to notify: always (default), or on failure, if the exit status is not 0"
        ),
    ]

    private static let connectionRows: [OptionSpecification] = [
        OptionSpecification(
            .profile,
            value: .text("NAME"),
            .connection,
            "use profile NAME of the configuration file"
        ),
        OptionSpecification(
            .config,
            value: .text("FILE"),
            .connection,
            "read profiles from FILE instead of ~/.config/osssync/config"
        ),
        OptionSpecification(
            .region,
            value: .text("REGION"),
            .connection,
            "the region of the bucket, such as cn-hangzhou or eu-central-1"
        ),
        OptionSpecification(
            .endpoint,
            value: .text("URL"),
            .connection,
            "the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http://127.0.0.1:9000"
        ),
        OptionSpecification(
            .addressing,
            value: .choice(["virtual", "path", "cname", "auto"]),
            .connection,
            "put the bucket in the host name or in the path of requests (default auto)"
        ),
        OptionSpecification(
            .provider,
            value: .choice(["aws", "minio", "seaweedfs", "r2", "ceph", "generic"]),
            .connection,
            "the service of an s3:// remote, if its endpoint does not identify it; "
                + "all except aws need an endpoint"
        ),
        OptionSpecification(
            .signature,
            value: .choice(["v4", "v1"]),
            .connection,
            "the version of the request signatures for oss:// (default v4)"
        ),
        OptionSpecification(
            .stateDirectory,
            value: .text("PATH"),
            .other,
            "keep the manifest and unfinished transfers in PATH instead of DIR/.osssync; with it, "
                + "a push can send any directory, such as /etc"
        ),
        OptionSpecification(
            .caFile,
            value: .text("FILE"),
            .connection,
            "trust the certificate authorities in FILE (PEM) instead of the system's"
        ),
        OptionSpecification(
            .insecureHTTP,
            .connection,
            "allow plain http to other hosts: "
                + "anyone on the network path can read and change everything"
        ),
        OptionSpecification(
            .timeout,
            value: .text("TIME"),
            .connection,
            "retry a request that transfers nothing for TIME, in seconds or with a unit, such as "
                + "2m (default 30)"
        ),
        OptionSpecification(
            .retries,
            value: .text("N"),
            .connection,
            "retry a failed request up to N times (default 7)"
        ),
        OptionSpecification(
            .retryWait,
            value: .text("TIME"),
            .connection,
            "wait at most TIME, in seconds or with a unit, before a retry "
                + "(default 30, or up to 120 if the service asks for it)"
        ),
        OptionSpecification(.help, short: "h", .other, "show this help"),
    ]

    /// Options that no file can set: they confirm one run, decide what is trusted, or name files
    /// that are written, which a directory from somebody else must not.
    static let onlyTyped: [Option] = [
        .rebind, .allowEmpty, .asOf, .config, .stateDirectory, .caFile, .insecureHTTP, .logFile,
        .metricsFile, .filesFrom, .savePlan,
        .notifyURL, .notifyOn,
    ]

    static func row(named name: some StringProtocol) -> OptionSpecification? {
        rows.first { $0.option.rawValue == name }
    }

    /// A letter can be another option of one command than of all others.
    static func row(short: Character, of command: CommandName?) -> OptionSpecification? {
        command.flatMap(CommandTable.row)?.rows.first { $0.short == short }
            ?? rows.last { $0.short == short }
    }
}
