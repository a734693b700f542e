/// What runs leave out.
extension OptionTable {
    static let filterRows: [OptionSpecification] = [
        OptionSpecification(
            .exclude,
            value: .text("GLOB"),
            .filter,
            "skip files matching GLOB (gitignore syntax; applied after DIR/.osssyncignore); "
                + "repeatable, the last match wins"
        ),
        OptionSpecification(
            .include,
            value: .text("GLOB"),
            .filter,
            "include files matching GLOB even if an earlier --exclude matches them"
        ),
        OptionSpecification(
            .excludeFrom,
            value: .text("FILE"),
            .filter,
            "read patterns from FILE, one per line, in gitignore syntax ('!' includes); "
                + "repeatable, in order with --exclude and --include"
        ),
        OptionSpecification(
            .filesFrom,
            value: .text("FILE"),
            .filter,
            "limit the run to the files and directories listed in FILE (- for standard input): "
                + "one path relative to DIR per line"
        ),
        OptionSpecification(
            .excludeIfPresent,
            value: .text("NAME"),
            .filter,
            "skip directories of this machine that contain a file NAME, on both sides; repeatable"
        ),
        OptionSpecification(
            .excludeCaches,
            .filter,
            "skip directories of this machine that contain a valid CACHEDIR.TAG, on both sides"
        ),
        OptionSpecification(
            .oneFileSystem,
            .filter,
            "skip directories of this machine in which another file system is mounted, on both "
                + "sides"
        ),
        OptionSpecification(
            .minimumSize,
            value: .text("SIZE"),
            .filter,
            "skip files smaller than SIZE, such as 10K, on both sides"
        ),
        OptionSpecification(
            .maximumSize,
            value: .text("SIZE"),
            .filter,
            "skip files larger than SIZE, such as 1G, on both sides"
        ),
        OptionSpecification(
            .minimumAge,
            value: .text("TIME"),
            .filter,
            "skip files changed less than TIME ago, such as 15m, on both sides"
        ),
        OptionSpecification(
            .maximumAge,
            value: .text("TIME"),
            .filter,
            "skip files changed more than TIME ago, such as 30d, on both sides"
        ),
        OptionSpecification(
            .deleteExcluded,
            .filter,
            "like --delete, and also delete excluded files at the destination, if they are "
                + "recorded and unchanged"
        ),
    ]
}
