internal import OSSSync

/// What single commands do, what commands print, and how they connect.
extension Option {
    /// In the order of the help.
    static let ofSingleCommands: [Option] = [
        .empty, .forget, .run, .at, .asOf, .since, .path, .to, .remote, .budget, .repair, .shard,
        .round, .count,
        .cuts, .tasks, .pull, .push, .sync, .verify, .every, .settle, .daily, .onCalendar, .system,
        .install, .remove, .list,
        .test, .format, .long, .humanReadable, .versions, .top, .headURL, .storageClass, .sse,
        .acl, .header, .callbackURL, .callbackBody, .method, .expires, .abort, .olderThan, .until,
    ]

    /// In the order of the help.
    static let ofMostCommands: [Option] = [
        .progress, .color, .json, .jsonInterval, .quiet, .verbose, .logFile, .metricsFile, .html,
        .notifyURL, .notifyOn, .profile, .config, .region, .endpoint, .addressing, .provider,
        .signature, .encrypt, .encryptionPasswordFile, .encryptionPasswordCommand,
        .stateDirectory, .caFile, .insecureHTTP, .timeout, .retries, .retryWait, .help,
    ]

    // MARK: - What earlier runs did

    static let empty = Option("empty", .run)
        .of([.trash])
        .help("permanently delete the listed files")
    static let forget = Option("forget", "DIR", .run)
        .of([.mirrors])
        .help("remove DIR from the list; nothing else is changed")
    static let run = Option("run", "N", .run)
        .of([.restore])
        .help("restore the version that run N removed")
    static let at = Option("at", "TIME", .run)
        .of([.restore])
        .help(
            "restore the version that existed at TIME: 2026-01-31, 2026-01-31T20:15 (local time), "
                + "2026-01-31T12:15:00Z or '3d ago'"
        )
    static let asOf = Option("as-of", "TIME", .run, .typed)
        .of([.pull])
        .help(
            "download a versioned bucket as it was at TIME, to an empty directory or one with the "
                + "same --as-of; TIME is 2026-01-31, 2026-01-31T20:15 (local time), "
                + "2026-01-31T12:15:00Z or '3d ago'"
        )
        .run(.asOf)
    static let since = Option("since", "TIME", .run)
        .of([.log])
        .help("show only runs that began after TIME, such as 7d (ago), yesterday or 2026-01-31")
    static let path = Option("path", "PATH", .run)
        .of([.log])
        .help("show what the runs did with PATH, relative to DIR, or with everything beneath it")
    static let to = Option("to", "PATH", .run)
        .of([.restore])
        .help("restore to PATH, beneath DIR or anywhere else, instead of the original path")
    static let remote = Option("remote", .run)
        .of([.verify, .schedule])
        .help("also compare with the checksums in the bucket (one HEAD request for each object)")
    static let budget = Option("budget", "TIME|P%", .run)
        .of([.verify, .schedule])
        .help(
            "stop after TIME, such as 30m, or after P percent of the recorded files; the next run "
                + "with --budget continues there"
        )
    static let repair = Option("repair", .run)
        .of([.verify, .schedule])
        .help("download damaged files again")

    // MARK: - Shards

    static let shard = Option("shard", "K/M", .shard)
        .of(.runs)
        .help(
            "process only the shards K, K+M, K+2M and so on, with K from 0 to M-1 (see 'osssync "
                + "help shard'); requires --round; 'osssync finish' carries out the deletions"
        )
    static let round = Option("round", "NAME", .shard)
        .of(.runs, [.finish])
        .help("the name of the round, such as a date; shards that are complete in it are skipped")
    static let count = Option("count", "N", .shard)
        .of([.shard])
        .help(
            "create N shards, up to 1000 (default: one per million objects or per terabyte, and "
                + "none for a smaller mirror); 1 joins them, so that the mirror has a single "
                + "manifest again"
        )
    static let cuts = Option("cuts", "FILE", .shard)
        .of([.shard])
        .help(
            "use the cut points in FILE, the keys at which shards begin: one per line, "
                + "percent-encoded, in ascending order"
        )
    static let tasks = Option("tasks", "M", .shard)
        .of([.shard])
        .help("estimate how long a first round takes with M concurrent tasks")

    // MARK: - Schedules

    static let pull = Option("pull", .schedule)
        .of([.schedule])
        .help("schedule a pull")
    static let push = Option("push", .schedule)
        .of([.schedule])
        .help("schedule a push")
    static let sync = Option("sync", .optional("TIME"), .schedule)
        .of([.watch, .schedule])
        .help("schedule a sync")
    static let verify = Option("verify", .schedule)
        .of([.schedule])
        .help("schedule a verify")
    static let every = Option("every", "TIME", .schedule)
        .of([.watch, .schedule])
        .help("run at this interval, such as 15m, 1h or 1d")
    static let settle = Option("settle", "TIME", .schedule)
        .of([.watch])
        .help("push a path once it has not changed for TIME (default 5s)")
    static let daily = Option("daily", "HH:MM", .schedule)
        .of([.schedule])
        .help("run every day at HH:MM, local time")
    static let onCalendar = Option("on-calendar", "'DAYS HH:MM'", .schedule)
        .of([.schedule])
        .help("run on these days of the week, such as 'Mon..Fri 02:30' or 'Sat,Sun 4:00'")
        .daily("run on days of the week, such as 'Mon..Fri 2:30'")
    static let system = Option("system", .optional("USER"), .schedule)
        .of([.schedule])
        .help(
            "use systemd's units of the system, which also run while USER is not logged in; needs "
                + "root (default USER: the one who ran sudo)"
        )
        .daily("use systemd's units of the system; needs root")
    static let install = Option("install", .schedule)
        .of([.schedule])
        .help("install or replace the schedule")
    static let remove = Option("remove", .schedule)
        .of([.schedule])
        .help("remove the schedule")
    static let list = Option("list", .schedule)
        .of([.schedule, .restore])
        .help("list the schedules: next start, directory, command")
        .daily("list the schedules")
    static let test = Option("test", .schedule)
        .of([.schedule])
        .help("start the run now, as the schedule does")
    static let format = Option("format", .one(of: ScheduleFormat.self), .schedule)
        .of([.schedule])
        .help("the system that starts the run (default systemd, or cron if there is no systemctl)")

    // MARK: - Objects

    static let long = Option("long", letter: "l", .object)
        .of([.ls])
        .help("also show the ETag and the storage class, and for a single object its CRC-64")
    static let humanReadable = Option("human-readable", letter: "h", .object)
        .of([.ls])
        .help("show sizes in units, such as 1.5 MiB")
    static let versions = Option("versions", .object)
        .of([.ls])
        .help("list all versions of objects, with their IDs, and delete markers")
    static let top = Option("top", .object)
        .of([.ls])
        .help("list one level: objects, and directories instead of their contents")
    static let headURL = Option("head-url", "URL", .object)
        .of([.get])
        .help("a URL signed for HEAD, in addition to a SOURCE signed for GET")
    static let storageClass = Option("storage-class", "CLASS", .object, .kept)
        .of(.writers)
        .daily("write objects with this class, such as IA")
        .help("write objects with this storage class, such as IA (default: the bucket's)")
        .run(.text(\.properties.storageClass))
    static let sse = Option("sse", "aes256|kms[:KEY]", .object, .kept)
        .of(.writers)
        .help("let the store encrypt objects that are written (default: the bucket's setting)")
        .run(.optional(\.properties.encryption, .encryption))
    static let acl = Option("acl", "NAME", .object, .kept)
        .of(.writers)
        .help(
            "write objects with this access control list, such as private (default: the bucket's)"
        )
        .run(.text(\.properties.accessControl))
    static let header = Option("header", "'NAME: VALUE'", .object, .kept, .repeats)
        .of(.writers)
        .help(
            "write objects with this header: Cache-Control, Content-Disposition, "
                + "Content-Encoding, Content-Language, Content-Type, Expires or metadata "
                + "(x-oss-meta-NAME, x-amz-meta-NAME); repeatable"
        )
        .run(.header)
    static let callbackURL = Option("callback-url", "URL", .object)
        .of([.put])
        .help("let OSS call URL once the object is uploaded, and show the response")
    static let callbackBody = Option("callback-body", "TEXT", .object)
        .of([.put])
        .help(
            "the body of that call, such as 'key=${object}&size=${size}' (default: these, the "
                + "bucket and the ETag)"
        )
    static let method = Option("method", .choice(["GET", "HEAD", "PUT", "DELETE"]), .object)
        .of([.presign])
        .help("the request that the URL allows (default GET)")
    static let expires = Option("expires", "TIME", .object)
        .of([.presign])
        .help("how long the URL is valid, such as 90s, 15m or 2h; from 1s to 7d (default 1800s)")
    static let abort = Option("abort", .object)
        .of([.uploads])
        .help("abort the listed uploads and delete their parts")
    static let olderThan = Option("older-than", "TIME", .object)
        .of([.uploads, .trash, .free])
        .help(
            "include only uploads started at least this long ago, such as 12h or 7d (default 0s, "
                + "with --abort 7d)"
        )

    static let until = Option("until", "SIZE", .object)
        .of([.free])
        .help(
            "remove no more than is needed to have SIZE of the disk free, such as 200G; files with "
                + "the oldest modification time first"
        )

    // MARK: - Output

    static let progress = Option("progress", .one(of: ProgressStyle.self), .output)
        .of(.runs, [.apply, .watch, .finish, .get, .put])
        .help(
            "how to show progress; auto is a bar on a terminal, and otherwise a line every 10 s "
                + "(default auto)"
        )
        .output(.choice(\.progress))
    static let color = Option("color", .one(of: ColorChoice.self), .output)
        .of(.runs, [.apply, .watch, .finish, .get, .put])
        .help("when to use colours; auto is on a terminal, unless NO_COLOR is set (default auto)")
        .output(.choice(\.color))
    static let json = Option("json", .output)
        .of(.connected(except: .schedule), [.mirrors])
        .daily("write one JSON object per line to stdout")
        .help("write one JSON object per line to stdout")
        .output(.flag(\.isJSON))
    static let jsonInterval = Option("json-interval", "TIME", .output)
        .of(.runs, [.apply, .finish, .get, .put])
        .help("with --json, report the progress at most every TIME, such as 10s (default 1s)")
        .output(.value(\.jsonInterval, .time("1s or 5m")))
    static let quiet = Option("quiet", letter: "q", .output)
        .of(.connected)
        .daily("show only warnings and errors")
        .help("show only warnings and errors")
        .output(.flag(\.isQuiet))
    static let verbose = Option("verbose", letter: "v", .output)
        .of(.connected(except: .trash, .restore, .undo, .schedule))
        .daily("show each item; -vv also why some are skipped")
        .help("show each item; -vv also shows why items were skipped")
        .output(.verbosity)
    static let logFile = Option("log-file", "FILE", .output, .typed, .writes)
        .of(.runners, [.apply, .verify])
        .daily("append a log to FILE, outside of DIR")
        .help(
            "append a log to FILE, outside of DIR, with the time of each line, as with --verbose"
        )
    static let metricsFile = Option("metrics-file", "FILE", .output, .typed, .writes)
        .of(.runners, [.apply, .verify])
        .help(
            "write metrics of the run to FILE, outside of DIR, in the Prometheus text format; a "
                + "file with other content is refused"
        )
    static let html = Option("html", "FILE", .output, .typed, .writes)
        .of(.runners, [.apply, .verify, .log])
        .help(
            "write a page for a browser to FILE, outside of DIR, every 5 seconds and at the end: "
                + "what runs now, past runs, and what needs attention; a file with other content "
                + "is refused"
        )
        .daily("write a page for a browser to FILE")
    static let notifyURL = Option("notify-url", "URL", .output, .typed)
        .of(.runners, [.apply, .verify])
        .help(
            "post the summary as JSON to URL when the run ends; {exit} in it becomes the exit "
                + "status, {state} success or failure; a URL with a secret belongs in "
                + "~/.config/osssync/config (notify-url), because other users can see arguments"
        )
    static let notifyOn = Option("notify-on", .one(of: NotificationChoice.self), .output, .typed)
        .of(.runners, [.apply, .verify])
        .help("when to notify: always (default), or on failure, if the exit status is not 0")

    // MARK: - Connections

    static let profile = Option("profile", "NAME", .connection, .kept)
        .of(.connected)
        .help("use profile NAME of the configuration file")
        .connection(.text(\.profile))
    static let config = Option("config", "FILE", .connection, .typed)
        .of(.connected)
        .help("read profiles from FILE instead of ~/.config/osssync/config")
        .connection(.text(\.configurationFile))
    static let region = Option("region", "REGION", .connection, .kept)
        .of(.connected)
        .help("the region of the bucket, such as cn-hangzhou or eu-central-1")
        .connection(.text(\.region))
    static let endpoint = Option("endpoint", "URL", .connection, .kept)
        .of(.connected)
        .help("the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http://127.0.0.1:9000")
        .connection(.text(\.endpoint))
    static let addressing = Option(
        "addressing",
        .choice(["virtual", "path", "cname", "auto"]),
        .connection,
        .kept
    )
    .of(.connected)
    .help("put the bucket in the host name or in the path of requests (default auto)")
    .connection(.text(\.addressing))
    static let provider = Option(
        "provider",
        .choice(["aws", "minio", "seaweedfs", "r2", "ceph", "generic"]),
        .connection,
        .kept
    )
    .of(.connected)
    .help(
        "the service of an s3:// remote, if its endpoint does not identify it; all except aws "
            + "need an endpoint"
    )
    .connection(.text(\.provider))
    static let signature = Option("signature", .choice(["v4", "v1"]), .connection, .kept)
        .of(.connected)
        .help("the version of the request signatures for oss:// (default v4)")
        .connection(.text(\.signature))
    static let encrypt = Option("encrypt", .connection, .typed)
        .of([.`init`])
        .help(
            "encrypt the contents of files before they are sent, in the format of rclone's crypt; "
                + "names, sizes and times stay readable"
        )
        .connection(.flag(\.encryptsContents))
    static let encryptionPasswordFile = Option(
        "encryption-password-file",
        "FILE",
        .connection,
        .typed
    )
    .of(.mirroring, [.get])
    .help(
        "read the password of encrypted contents from the first line of FILE, and a second "
            + "password, if there is one, from the second line; only its owner may be able to "
            + "read FILE"
    )
    .connection(.text(\.encryptionPasswordFile))
    static let encryptionPasswordCommand = Option(
        "encryption-password-command",
        "COMMAND",
        .connection,
        .typed
    )
    .of(.mirroring, [.get])
    .help("read these passwords from what COMMAND prints; it is started without a shell")
    .connection(.text(\.encryptionPasswordCommand))
    static let stateDirectory = Option("state-dir", "PATH", .other, .kept, .typed)
        .of(.connected(except: .apply, .presign, .uploads))
        .help(
            "keep the manifest and unfinished transfers in PATH instead of DIR/.osssync; with it, "
                + "a push can send any directory, such as /etc"
        )
        .connection(.text(\.stateDirectory))
    static let caFile = Option("ca-file", "FILE", .connection, .typed)
        .of(.connected)
        .help("trust the certificate authorities in FILE (PEM) instead of the system's")
        .connection(.text(\.caFile))
    static let insecureHTTP = Option("insecure-http", .connection, .typed)
        .of(.connected)
        .help(
            "allow plain http to other hosts: anyone on the network path can read and change "
                + "everything"
        )
        .connection(.flag(\.allowsInsecureHTTP))
    static let timeout = Option("timeout", "TIME", .connection)
        .of(.connected)
        .help(
            "retry a request that transfers nothing for TIME, in seconds or with a unit, such as "
                + "2m (default 30)"
        )
        .connection(
            .optional(\.timeout, .seconds(from: "0.1", "30, 90s or 2m"))
        )
    static let retries = Option("retries", "N", .connection)
        .of(.connected)
        .help("retry a failed request up to N times (default 7)")
        .connection(.optional(\.retries, .count(0...1_000)))
    static let retryWait = Option("retry-wait", "TIME", .connection)
        .of(.connected)
        .help(
            "wait at most TIME, in seconds or with a unit, before a retry (default 30, or up to "
                + "120 if the service asks for it)"
        )
        .connection(.optional(\.retryWait, .seconds(from: "0", "20, 90s or 2m")))
    static let help = Option("help", letter: "h", .other)
        .of(.connected, [.completions, .mirrors, .keygen])
        .daily("show this help")
        .help("show a short help; 'osssync help COMMAND' shows all")
}
