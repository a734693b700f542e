/// What options of similar programs are called here.
enum PeerOptions {
    /// What to do instead, to follow "unknown option '…'; "; nil for an option of none of them.
    static func advice(on name: String) -> String? { table[name] }

    private static let table: [String: String] = {
        var table: [String: String] = [:]
        let sameAs = [
            ("-j", ["--transfers", "--checkers", "--parallel", "--concurrency", "--job"]),
            ("-n", ["--dryrun"]),
            (
                "--delete",
                [
                    "--delete-during", "--delete-before", "--delete-after", "--delete-delay",
                    "--del", "--delete-removed", "--remove",
                ]
            ),
            ("--delete=extra", ["--delete-extra"]),
            ("--delete=excluded", ["--delete-excluded"]),
            ("--max-size", ["--exclude-larger-than"]),
            ("--exclude-from", ["--filter-from", "--exclude-file"]),
            ("--exclude-if-present", ["--exclude-if"]),
            ("--bwlimit", ["--maxspeed", "--max-speed", "--limit-rate", "--limit-upload"]),
            ("--part-size", ["--chunk-size", "--multipart-chunk-size"]),
            ("--endpoint", ["--endpoint-url"]),
            ("--config", ["--config-file"]),
            ("--ca-file", ["--ca-bundle", "--ca-cert", "--cacert"]),
            ("--insecure-http", ["--no-ssl", "--disable-ssl"]),
            ("--progress none", ["--no-progress"]),
            ("--progress", ["-P"]),
            ("--checksum", ["-c"]),
            ("--links follow", ["-L", "--copy-links", "--follow-symlinks"]),
            ("--no-metadata", ["--no-update-modtime"]),
            ("--header 'Content-Type: TYPE'", ["--content-type"]),
            ("--header 'Cache-Control: VALUE'", ["--cache-control"]),
            ("--sse kms:KEY", ["--sse-kms-key-id"]),
            ("--quiet", ["--only-show-errors"]),
            ("--storage-class", ["--s3-storage-class"]),
            ("--log-file", ["--log"]),
            ("--timeout", ["--cli-read-timeout", "--contimeout"]),
        ]
        for (own, names) in sameAs {
            for name in names { table[name] = "use '\(own)' instead" }
        }
        let needless = [
            (
                ["-r", "-R", "--recursive", "-a", "--archive"],
                "omit it: directories are always mirrored recursively"
            ),
            (
                ["--update", "-u", "--newer", "--ignore-existing", "--size-only"],
                "omit it: changes are detected by comparing both sides with the last run, and "
                    + "--on-conflict decides if both changed"
            ),
            (
                ["--filter"],
                "use '--exclude' and '--include' instead; see 'osssync help filters'"
            ),
            (
                ["--include-from"],
                "use '--exclude-from' instead, with patterns that begin with '!'; see 'osssync "
                    + "help filters'"
            ),
            (
                ["-M", "--metadata", "--preserve-metadata"],
                "omit it: times and permissions are kept by default"
            ),
            (
                ["--skip-links", "--no-follow-symlinks"],
                "omit it: links are skipped by default"
            ),
            (
                ["--fast-list", "--track-renames"],
                "omit it: runs list large pages and detect renames by default"
            ),
        ]
        for (names, advice) in needless {
            for name in names { table[name] = advice }
        }
        return table
    }()
}
