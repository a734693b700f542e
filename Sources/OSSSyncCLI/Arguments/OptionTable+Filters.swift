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
            "limit the run to the files and directories in FILE (- for standard input), one path "
                + "relative to DIR on each line, as if they were given as PATHs"
        ),
        OptionSpecification(
            .excludeIfPresent,
            value: .text("NAME"),
            .filter,
            "skip directories of this machine that hold a file NAME, on both sides; repeatable"
        ),
        OptionSpecification(
            .excludeCaches,
            .filter,
            "skip directories of this machine that hold a valid CACHEDIR.TAG, on both sides"
        ),
        OptionSpecification(
            .minimumSize,
            value: .text("SIZE"),
            .filter,
            "skip files that are smaller than SIZE, such as 10K, on either side"
        ),
        OptionSpecification(
            .maximumSize,
            value: .text("SIZE"),
            .filter,
            "skip files that are larger than SIZE, such as 1G, on either side"
        ),
        OptionSpecification(
            .minimumAge,
            value: .text("TIME"),
            .filter,
            "skip files that were changed less than TIME ago, such as 15m, on either side"
        ),
        OptionSpecification(
            .maximumAge,
            value: .text("TIME"),
            .filter,
            "skip files that were changed more than TIME ago, such as 30d, on either side"
        ),
        OptionSpecification(
            .deleteExcluded,
            .filter,
            "like --delete, and also delete files excluded by a pattern at the destination, if "
                + "they are recorded and unchanged"
        ),
    ]
}
