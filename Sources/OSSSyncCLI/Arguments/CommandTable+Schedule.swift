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
        summary: "run pull, push or sync regularly, with systemd, cron or launchd",
        discussion: [
            "Prints a systemd timer, a crontab line or a launchd file that runs osssync for DIR at "
                + "these times; --install installs it for this user. --remove and --test need "
                + "--pull, --push or --sync; --list needs no other option. Times are in the local "
                + "time of the machine.",
            "Options of the run, such as --delete, --bwlimit or --log-file, are passed on to it; "
                + "set other options in DIR/.osssync/config, see 'osssync help configuration'.",
            "A run is skipped while another one uses DIR. With systemd, a run that could not reach "
                + "the remote is repeated after 5 minutes.",
        ],
        options: [
            .pull, .push, .sync, .every, .daily, .install, .remove, .list, .test, .format,
            .stateDirectory, .quiet,
        ] + scheduledOptions + [.help],
        examples: [
            ("osssync schedule --push --daily 02:30 ~/Photos", "print what would be installed"),
            ("osssync schedule --push --every 1h --install ~/Photos", "push every hour"),
            (
                "osssync schedule --push --every 1h --log-file ~/o.log --install ~/Photos",
                "push every hour, with a log"
            ),
            ("osssync schedule --push --test ~/Photos", "test the installed run"),
        ],
        optionHelp: [
            .force: "pull: replace local changes; push, sync: upload files that --checksum reports "
                + "as damaged"
        ]
    )
}
