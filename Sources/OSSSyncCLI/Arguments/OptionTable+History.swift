extension OptionTable {
    /// The options of the commands on what earlier runs did.
    static let historyRows: [OptionSpecification] = [
        OptionSpecification(.empty, .run, "delete the listed files for good"),
        OptionSpecification(
            .run,
            value: .text("N"),
            .run,
            "the version that the run number N removed (default: the one that was removed last)"
        ),
        OptionSpecification(
            .at,
            value: .text("TIME"),
            .run,
            "the version that was there at TIME: 2026-01-31, 2026-01-31T20:15 (local time), "
                + "2026-01-31T12:15:00Z or '3d ago'"
        ),
        OptionSpecification(
            .asOf,
            value: .text("TIME"),
            .run,
            "download a versioned bucket as it was at TIME, into an empty directory or one with "
                + "the same --as-of; TIME as 2026-01-31, 2026-01-31T20:15 (local time), "
                + "2026-01-31T12:15:00Z or '3d ago'"
        ),
        OptionSpecification(
            .html,
            value: .text("FILE"),
            .output,
            "write one page to FILE, outside of DIR: a calendar, all runs, failures and the "
                + "largest files; replaces only such a page"
        ),
        OptionSpecification(
            .to,
            value: .text("PATH"),
            .run,
            "restore to this path beneath DIR instead of the old one"
        ),
        OptionSpecification(
            .remote,
            .run,
            "also compare with the bucket's checksums (one HEAD request for each object)"
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
