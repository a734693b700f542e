/// The command that lets runs start by themselves.
extension CommandTable {
    /// Options that a scheduled run gets as they were given: all but those that confirm one run,
    /// and those of its output.
    static let scheduledOptions: [Option] =
        ([.force, .restore] + runOptions + keepingOptions + propertyOptions).filter { option in
            ![
                .dryRun, .savePlan, .shard, .round, .rebind, .allowEmpty, .progress, .color, .json,
                .jsonInterval,
                .quiet, .verbose, .stateDirectory, .help,
            ].contains(option)
        }

    static let schedule = CommandSpecification(
        name: .schedule,
        arguments: [
            ArgumentSpecification(name: ArgumentSpecification.directoryName, isOptional: true)
        ],
        summary: "let runs start by themselves, by systemd, cron or launchd",
        discussion: [
            "Prints what starts a run of DIR at these times; with --install, it is installed for "
                + "this user. --remove and --test need --pull, --push or --sync, --list nothing.",
            "Options of the run, such as --delete, --bwlimit or --log-file, are passed on to it; "
                + "others are set by its defaults in DIR/.osssync/config, see 'osssync help "
                + "configuration'. Times are local times of the machine.",
            "A run that cannot start because another one holds DIR is "
                + "skipped; systemd repeats one that could not reach the remote after 5 minutes.",
        ],
        options: [
            .pull, .push, .sync, .every, .daily, .install, .remove, .list, .test, .format,
            .stateDirectory, .quiet,
        ] + scheduledOptions + [.help],
        examples: [
            ("osssync schedule --push --daily 02:30 ~/Photos", "what would be installed?"),
            ("osssync schedule --push --every 1h --install ~/Photos", "push every hour"),
            (
                "osssync schedule --push --every 1h --log-file ~/o.log --install ~/Photos",
                "with a log"
            ),
            ("osssync schedule --push --test ~/Photos", "does the installed run work?"),
        ],
        optionHelp: [
            .force: "pull: replace local changes; push, sync: upload files that --checksum reports "
                + "as damaged"
        ]
    )
}
