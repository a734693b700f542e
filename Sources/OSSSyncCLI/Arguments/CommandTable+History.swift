/// The commands on what earlier runs did.
extension CommandTable {
    private static let paths = ArgumentSpecification(
        name: "PATH",
        isOptional: false,
        isRepeated: true
    )
    private static let trashOptions: [Option] =
        [.stateDirectory, .json, .quiet] + connectionOptions + [.help]

    private static let optionalRun = ArgumentSpecification(
        name: ArgumentSpecification.runName,
        isOptional: true
    )

    static let undo = CommandSpecification(
        name: .undo,
        arguments: [optionalDirectory, optionalRun],
        summary: "bring back everything that a run deleted or replaced",
        discussion: [
            "Restores all that the run left in the trash: the run number RUN, or the last one that "
                + "left anything. A first argument that is a number is RUN. The same as osssync "
                + "restore --run RUN DIR . (with a dot).",
            "Objects that the run deleted or replaced with --trash remote are copied back in the "
                + "bucket where there are none now; a newer object is never replaced.",
            "An existing file with other content is kept and reported (exit status 1). With "
                + "--force it goes to the trash first.",
        ],
        options: [.dryRun, .force] + trashOptions,
        examples: [
            ("osssync undo ~/Photos", "the last pull deleted too much"),
            ("osssync undo 12", "bring back what run 12 deleted in this mirror"),
        ],
        optionHelp: [
            .dryRun: "show what would come back",
            .force: "replace existing files, which go to the trash",
        ]
    )

    static let verify = CommandSpecification(
        name: .verify,
        arguments: [optionalDirectory, optionalPaths],
        summary: "read files and compare their content with the recorded checksums",
        discussion: [
            "Reports damage: other content, although size and modification time are the recorded "
                + "ones. Later runs report a damaged file as well and do not upload it without "
                + "--force, until it is repaired, edited or verified again. Files that were "
                + "changed or deleted since the last run are counted. With PATH, relative to DIR, "
                + "only those files and directories are read; one that is neither here nor "
                + "recorded is an error.",
            "Exit status 1 means that something is damaged, is missing in the bucket (--remote) or "
                + "could not be read.",
        ],
        options: [.remote, .budget, .repair, .stateDirectory] + commonOptions,
        examples: [
            ("osssync verify ~/Photos", "read everything once"),
            ("osssync verify --budget 5% ~/Photos", "every night: all files in 20 nights"),
            ("osssync verify --repair ~/Photos 2024", "replace damaged files by the bucket's"),
        ]
    )

    static let log = CommandSpecification(
        name: .log,
        arguments: [optionalDirectory, optionalRun],
        summary: "show past runs, or the recorded items of one",
        discussion: [
            "Prints one line for each of the last 1,000 runs, the latest last: number, start, "
                + "direction, outcome, duration and counts. With RUN, the number of a run, also "
                + "its items that failed, were skipped or deleted; those of the last 20 runs are "
                + "kept. A first argument that is a number is RUN."
        ],
        options: [.html, .stateDirectory] + commonOptions,
        examples: [
            ("osssync log --html ~/photos.html ~/Photos", "the same to be looked at"),
            ("osssync log ~/Photos", "when was the last backup?"),
            ("osssync log ~/Photos 12", "what went wrong in run 12?"),
        ]
    )

    static let trash = CommandSpecification(
        name: .trash,
        arguments: [optionalDirectory],
        summary: "list or delete what runs moved to the trash",
        discussion: [
            "Files that a run deletes, or replaces in a conflict or with --force, are kept in "
                + "DIR/.osssync/trash for --trash-days. Prints one line for each: size in bytes, "
                + "time and number of the run, and path; the oldest run's first. Objects that "
                + "pushes with --trash remote copied to .osssync/trash/ in the bucket follow.",
            "With --empty, they are deleted for good. Other files are not changed.",
        ],
        options: [.empty, .olderThan, .dryRun] + trashOptions,
        examples: [
            ("osssync trash ~/Photos", "what was deleted or replaced here?"),
            ("osssync trash --empty --older-than 3d ~/Photos", "free space, but keep three days"),
        ],
        optionHelp: [
            .dryRun: "with --empty: show what would be deleted",
            .olderThan: "only what runs removed at least this long ago, such as 12h or 3d "
                + "(default 0s)",
        ]
    )

    static let restore = CommandSpecification(
        name: .restore,
        arguments: [optionalDirectory, paths],
        summary: "bring deleted or replaced files back from the trash",
        discussion: [
            "PATH is a file, or a directory of which everything in the trash comes back, relative "
                + "to DIR; . means all of it, or all of the current directory in a mirror. --to is "
                + "relative to the same as PATH. A file gets its path, modification time and mode "
                + "back and leaves the trash.",
            "What the trash here does not have comes back from the trash in the bucket, if there "
                + "is one (push --trash remote): the object is copied back where there is none, "
                + "and downloaded. If the bucket keeps versions, --at brings back what it had at "
                + "that time, and asks no trash.",
            "An existing file with other content is kept and reported (exit status 1). With "
                + "--force, and a version from the trash here, it goes to the trash first, from "
                + "where it can be restored as well.",
            "A restored file is a local file like any other: a push uploads it, a pull keeps it.",
        ],
        options: [.run, .at, .to, .links, .names, .dryRun, .force] + trashOptions,
        examples: [
            ("osssync restore ~/Photos 2024/summer", "bring a deleted directory back"),
            ("osssync restore --at 2026-01-31 ~/Photos a.jpg", "the version of that day"),
            ("osssync restore --to old.jpg ~/Photos a.jpg", "put it beside the present one"),
        ],
        optionHelp: [
            .dryRun: "show what would come back",
            .force: "replace existing files, which go to the trash",
        ]
    )
}
