/// The command that pushes what changes.
extension CommandTable {
    /// Options that its pushes get as they were given.
    private static let watchedOptions: [Option] =
        scheduledOptions.filter { ![.filesFrom, .ifLocked, .restore].contains($0) }

    static let watch = CommandSpecification(
        name: .watch,
        arguments: [
            ArgumentSpecification(name: ArgumentSpecification.directoryName, isOptional: true)
        ],
        summary: "push changes in a directory as they happen",
        discussion: [
            "Pushes everything once, and then each file or directory that changes, after it has "
                + "not changed for some seconds (--settle); one that keeps changing is pushed "
                + "after twelve times that. Each is an ordinary push, with the defaults of [push] "
                + "in DIR/.osssync/config. Everything is pushed again every hour, when changes may "
                + "have been missed, and when an ignore file changed.",
            "If changes are not reported (on network and FUSE file systems, on systems other than "
                + "Linux, and with more directories than the system's limit), everything is pushed "
                + "every 5 minutes.",
            "Runs until it is stopped. If a push fails, it is retried after growing pauses. If the "
                + "user must fix the cause, watch ends with the status of that push: 2, 3, 4 or 5.",
        ],
        options: [.settle, .every] + watchedOptions + [
            .progress, .color, .json, .quiet, .verbose, .stateDirectory, .help,
        ],
        examples: [
            ("osssync watch ~/Photos", "push changes until Ctrl-C"),
            (
                "osssync watch --delete --trash remote ~/Photos",
                "also delete objects, and keep them in the trash"
            ),
        ],
        optionHelp: [
            .every: "push everything at this interval, such as 15m or 1d (default 1h)",
            .force: "upload files that --checksum reports as damaged",
        ]
    )
}
