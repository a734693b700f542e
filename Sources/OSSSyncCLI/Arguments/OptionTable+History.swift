extension OptionTable {
    /// The options of the commands on what earlier runs did.
    static let historyRows: [OptionSpecification] = [
        OptionSpecification(.empty, .run, "permanently delete the listed files"),
        OptionSpecification(
            .run,
            value: .text("N"),
            .run,
            "restore the version that run N removed (default: the one that was removed last)"
        ),
        OptionSpecification(
            .at,
            value: .text("TIME"),
            .run,
            "restore the version that existed at TIME: 2026-01-31, 2026-01-31T20:15 (local time), "
                + "2026-01-31T12:15:00Z or '3d ago'"
        ),
        OptionSpecification(
            .asOf,
            value: .text("TIME"),
            .run,
            "download a versioned bucket as it was at TIME, to an empty directory or one with "
                + "the same --as-of; TIME is 2026-01-31, 2026-01-31T20:15 (local time), "
                + "2026-01-31T12:15:00Z or '3d ago'"
        ),
        OptionSpecification(
            .html,
            value: .text("FILE"),
            .output,
            "write an HTML page to FILE, outside of DIR: a calendar, all runs, failures and the "
                + "largest files; an existing FILE is replaced only if it is such a page"
        ),
        OptionSpecification(
            .to,
            value: .text("PATH"),
            .run,
            "restore to PATH beneath DIR instead of the original path"
        ),
        OptionSpecification(
            .remote,
            .run,
            "also compare with the checksums in the bucket (one HEAD request for each object)"
        ),
        OptionSpecification(
            .budget,
            value: .text("TIME|P%"),
            .run,
            "stop after TIME, such as 30m, or after P percent of the recorded files; the next "
                + "run with --budget continues there"
        ),
        OptionSpecification(.repair, .run, "download damaged files again"),
    ]
}
