internal import OSSSync

/// All options, in the order in which the help shows them.
enum OptionTable {
    static let rows: [OptionSpecification] =
        runRows + objectRows + transferRows + outputRows + connectionRows

    private static let runRows: [OptionSpecification] = [
        OptionSpecification(
            .dryRun,
            short: "n",
            .run,
            "show what would be done; transfer, write and delete nothing"
        ),
        OptionSpecification(
            .delete,
            .run,
            "delete what the other side lost, if it was mirrored and nobody changed it since"
        ),
        OptionSpecification(
            .deleteExtra,
            .run,
            "as --delete, and also delete what was never mirrored; "
                + "a sync sends or fetches that instead"
        ),
        OptionSpecification(
            .exclude,
            value: .text("GLOB"),
            .run,
            "leave alone what GLOB fits, in the syntax of gitignore, after what "
                + "DIR/.osssyncignore says; may be given again, the last one that fits decides"
        ),
        OptionSpecification(
            .include,
            value: .text("GLOB"),
            .run,
            "do not leave alone what GLOB fits, though an earlier --exclude fits it, too"
        ),
        OptionSpecification(
            .deleteExcluded,
            .run,
            "as --delete, and also delete what is excluded on the side that is changed"
        ),
        OptionSpecification(
            .maxDelete,
            value: .text("N|P%"),
            .run,
            "refuse to delete more than N items or P percent of what is mirrored; "
                + "10 or fewer are never refused (default 50%)"
        ),
        OptionSpecification(
            .allowEmpty,
            .run,
            "accept an empty listing or directory where there was something before"
        ),
        OptionSpecification(
            .rebind,
            .run,
            "accept that the remote is another one than the last time"
        ),
        OptionSpecification(
            .force,
            .run,
            "replace what is there: local changes by a pull, whose old versions go to the "
                + "trash, an object by a file that --checksum finds damaged, the file by a get, "
                + "the object by a put"
        ),
        OptionSpecification(
            .onConflict,
            value: .choice(ConflictPolicy.allCases.map(\.rawValue)),
            .run,
            "what to do with what changed on both sides (default keep-both)"
        ),
        OptionSpecification(
            .checksum,
            .run,
            "compare content, not size and modification time, to find local changes; a file whose "
                + "content alone changed is damaged: it is reported and not sent without --force"
        ),
        OptionSpecification(
            .exitCode,
            .run,
            "end with 1 if the two sides differ, or may differ"
        ),
        OptionSpecification(
            .trashDays,
            value: .text("N"),
            .run,
            "keep local files that were removed for N days in the trash; "
                + "0 removes at once (default \(RunOptions.standard.trashDays))"
        ),
    ]

    private static let transferRows: [OptionSpecification] = [
        OptionSpecification(
            .jobs,
            short: "j",
            value: .text("N"),
            .transfer,
            "have at most N requests under way (default \(RunOptions.standard.connectionLimit); "
                + "4 for get and put)"
        ),
        OptionSpecification(
            .partSize,
            value: .text("SIZE"),
            .transfer,
            "transfer large files in parts of SIZE, such as 8M; "
                + "from 100K to 5G (default \(RunOptions.standard.partSize >> 20)M; 2M for put)"
        ),
        OptionSpecification(
            .durability,
            value: .choice(Durability.allCases.map(\.rawValue)),
            .transfer,
            "full: what is reported as done survives a power cut; "
                + "fast: do not wait for the disk (default full)"
        ),
    ]

    private static let outputRows: [OptionSpecification] = [
        OptionSpecification(
            .progress,
            value: .choice(ProgressStyle.allCases.map(\.rawValue)),
            .output,
            "how to show progress: auto is a bar on a terminal and a line "
                + "every 10 s elsewhere (default auto)"
        ),
        OptionSpecification(.json, .output, "write one JSON object a line to stdout"),
        OptionSpecification(.quiet, short: "q", .output, "say only what went wrong"),
        OptionSpecification(
            .verbose,
            short: "v",
            .output,
            "say what is done with each item; -vv says also why items were left alone"
        ),
    ]

    private static let connectionRows: [OptionSpecification] = [
        OptionSpecification(.profile, value: .text("NAME"), .connection, "use this profile"),
        OptionSpecification(
            .config,
            value: .file("FILE"),
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
            "where a request names the bucket: in the host name or in the path (default auto)"
        ),
        OptionSpecification(
            .provider,
            value: .choice(["aws", "minio", "seaweedfs", "r2", "ceph", "generic"]),
            .connection,
            "the store behind an s3:// remote, where its address does not tell: "
                + "all but aws need an endpoint"
        ),
        OptionSpecification(
            .signature,
            value: .choice(["v4", "v1"]),
            .connection,
            "the version of the request signatures of oss:// (default v4)"
        ),
        OptionSpecification(
            .stateDirectory,
            value: .directory("PATH"),
            .connection,
            "keep the manifest and unfinished transfers in PATH instead of DIR/.osssync"
        ),
        OptionSpecification(
            .caFile,
            value: .file("FILE"),
            .connection,
            "trust the certificate authorities in FILE (PEM) instead of the system's"
        ),
        OptionSpecification(
            .insecureHTTP,
            .connection,
            "allow plain http to other hosts than this one: "
                + "anyone on the way can read and change everything"
        ),
        OptionSpecification(
            .timeout,
            value: .text("SECONDS"),
            .connection,
            "give a request up in which nothing moves for SECONDS, and make it again (default 30)"
        ),
        OptionSpecification(
            .retries,
            value: .text("N"),
            .connection,
            "make a request that fails again up to N times (default 7)"
        ),
        OptionSpecification(
            .retryWait,
            value: .text("SECONDS"),
            .connection,
            "wait at most SECONDS before a request is made again "
                + "(default 30, or up to 120 if the service asks for it)"
        ),
        OptionSpecification(.help, short: "h", .other, "show this help"),
    ]

    static func row(named name: some StringProtocol) -> OptionSpecification? {
        rows.first { $0.option.rawValue == name }
    }

    static func row(short: Character) -> OptionSpecification? {
        rows.first { $0.short == short }
    }
}
