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
                "leave it out: a directory is always mirrored with all it holds"
            ),
            (
                ["--update", "-u", "--newer", "--ignore-existing", "--size-only"],
                "leave it out: what each side changed is known from the last run, and "
                    + "--on-conflict decides where both did"
            ),
            (
                ["--filter"],
                "use '--exclude' and '--include' instead; see 'osssync help filters'"
            ),
            (
                ["--include-from"],
                "write patterns that begin with '!' into a file for '--exclude-from' instead; see "
                    + "'osssync help filters'"
            ),
            (
                ["-M", "--metadata", "--preserve-metadata"],
                "leave it out: times and permissions are kept without it"
            ),
            (
                ["--skip-links", "--no-follow-symlinks"],
                "leave it out: links are skipped without it"
            ),
            (
                ["--fast-list", "--track-renames"],
                "leave it out: runs list in large pages, and recognize renames, without it"
            ),
        ]
        for (names, advice) in needless {
            for name in names { table[name] = advice }
        }
        return table
    }()
}
