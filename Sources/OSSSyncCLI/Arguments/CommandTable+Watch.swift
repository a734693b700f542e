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
        summary: "push what changes in the directory, as it changes",
        discussion: [
            "Pushes everything, and then each file or directory that changes once it was quiet "
                + "for some seconds; one that is never quiet is pushed after twelve times that. "
                + "Each is an ordinary push, with the defaults of [push] in DIR/.osssync/config. "
                + "Everything is pushed again every hour, when changes were lost, and when an "
                + "ignore file changed.",
            "Where changes are not reported (network and FUSE file systems, other systems than "
                + "Linux, more directories than the system's limit), everything is pushed every 5 "
                + "minutes.",
            "Runs until it is stopped. What fails is tried again after growing pauses; what a "
                + "user must fix ends it with the status of that push: 2, 3, 4 or 5.",
        ],
        options: [.settle, .every] + watchedOptions + [
            .progress, .color, .json, .quiet, .verbose, .stateDirectory, .help,
        ],
        examples: [
            ("osssync watch ~/Photos", "upload what changes, until Ctrl-C"),
            ("osssync watch --delete --trash remote ~/Photos", "also delete, with a trash"),
        ],
        optionHelp: [
            .every: "push everything every TIME, such as 15m or 1d (default 1h)",
            .force: "upload files that --checksum reports as damaged",
        ]
    )
}
