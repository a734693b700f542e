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
        summary: "restore everything that a run deleted or replaced",
        discussion: [
            "Restores everything that run RUN moved to the trash. The default is the last run that "
                + "moved anything to the trash. A first argument that is a number is RUN. For "
                + "files, this is the same as 'osssync restore --run RUN DIR .'.",
            "Objects that the run deleted or replaced with --trash remote are copied back within "
                + "the bucket. The local files stay; a pull fetches the objects.",
            "What the run itself put in the place of an old version is moved to the trash, an "
                + "object by a copy in the bucket, and replaced. What has changed since is kept "
                + "and reported (exit status 1); --force replaces it, too. A name that the "
                + "run gave to a file or an object stays beside the old name.",
        ],
        options: [.dryRun, .force] + trashOptions,
        examples: [
            ("osssync undo ~/Photos", "restore what the last run deleted or replaced"),
            ("osssync undo 12", "restore what run 12 deleted in this mirror"),
        ],
        optionHelp: [
            .dryRun: "show what would be restored",
            .force: "replace files and objects that have changed since; the trash keeps them",
        ]
    )

    static let verify = CommandSpecification(
        name: .verify,
        arguments: [optionalDirectory, optionalPaths],
        summary: "read files and compare their content with the recorded checksums",
        discussion: [
            "Reports damaged files: those with the recorded size and modification time, but "
                + "different content. Later runs also report a damaged file, and upload it only "
                + "with --force, until it is repaired, edited or verified again. Files that were "
                + "changed or deleted since the last run are counted.",
            "With PATH, relative to DIR, only these files and directories are read. A PATH that "
                + "neither exists nor is recorded is an error.",
            "Exit status 1 means that a file is damaged, is missing in the bucket (--remote) or "
                + "could not be read.",
        ],
        options: [.remote, .budget, .repair, .stateDirectory] + commonOptions,
        examples: [
            ("osssync verify ~/Photos", "read all files"),
            ("osssync verify --budget 5% ~/Photos", "every night: read all files in 20 nights"),
            ("osssync verify --repair ~/Photos 2024", "download damaged files in 2024 again"),
        ]
    )

    static let log = CommandSpecification(
        name: .log,
        arguments: [optionalDirectory, optionalRun],
        summary: "show past runs, or the items of one run",
        discussion: [
            "Prints one line for each of the last 1,000 runs, the latest last: number, start, "
                + "direction, outcome, duration and counts. With RUN, the number of a run, it also "
                + "prints up to 5,000 of its items, those that failed, were skipped, deleted or "
                + "replaced before those that were transferred; these are kept for the last 20 "
                + "runs. A first argument that is a number is RUN."
        ],
        options: [.html, .stateDirectory] + commonOptions,
        examples: [
            ("osssync log ~/Photos", "show past runs"),
            ("osssync log ~/Photos 12", "show what run 12 did, and what failed"),
            ("osssync log --html ~/photos.html ~/Photos", "write a page for a browser"),
        ]
    )

    static let trash = CommandSpecification(
        name: .trash,
        arguments: [optionalDirectory],
        summary: "list or delete what runs moved to the trash",
        discussion: [
            "Files that a run deletes, or replaces in a conflict or with --force, are kept in "
                + "DIR/.osssync/trash for --trash-days. Prints one line for each of them: size in "
                + "bytes, time and number of the run, and path; the oldest run first. Then it "
                + "prints the objects that pushes with --trash remote copied to .osssync/trash/ in "
                + "the bucket.",
            "--empty permanently deletes what is listed. Other files are not changed.",
        ],
        options: [.empty, .olderThan, .dryRun] + trashOptions,
        examples: [
            ("osssync trash ~/Photos", "list what was deleted or replaced"),
            ("osssync trash --empty --older-than 3d ~/Photos", "free space, but keep three days"),
        ],
        optionHelp: [
            .dryRun: "with --empty: show what would be deleted",
            .olderThan: "include only what runs removed at least this long ago, such as 12h or 3d "
                + "(default 0s)",
        ]
    )

    static let restore = CommandSpecification(
        name: .restore,
        arguments: [optionalDirectory, paths],
        summary: "restore deleted or replaced files from the trash",
        discussion: [
            "PATH, relative to DIR, is a file, or a directory of which everything in the trash is "
                + "restored; '.' is everything, or in a mirror everything beneath the current "
                + "directory. A file gets its path, modification time and mode back, and is "
                + "removed from the trash.",
            "--to PATH restores beside it; it is relative to the same directory as PATH. With an "
                + "absolute path, or one with '..', outside of DIR, the file, or all that is in "
                + "the directory, is only copied there, from the trash, the versions or the "
                + "bucket: nothing changes in DIR or the bucket, and a key that may only read "
                + "suffices.",
            "Files that are not in the local trash are restored from the trash in the bucket, if "
                + "there is one (push --trash remote): the object is copied back if there is none, "
                + "and then downloaded. If the bucket keeps versions, --at uses the versions of "
                + "that time instead of the trash.",
            "What exists with different content is kept and reported (exit status 1). With "
                + "--force, it is moved to the trash first, an object by a copy in the bucket, and "
                + "replaced. With --at, files that changed after TIME are left out without it.",
            "A restored file is a local file like any other: a push uploads it, a pull keeps it.",
        ],
        options: [.run, .at, .to, .links, .names, .dryRun, .force] + trashOptions,
        examples: [
            ("osssync restore ~/Photos 2024/summer", "restore a deleted directory"),
            ("osssync restore --at 2026-01-31 ~/Photos a.jpg", "restore the version of that day"),
            (
                "osssync restore --to old.jpg ~/Photos a.jpg",
                "restore the old version beside the current one"
            ),
            ("osssync restore --to /tmp/old.jpg ~/Photos a.jpg", "only look at the old version"),
        ],
        optionHelp: [
            .dryRun: "show what would be restored",
            .force: "replace existing files and objects, which are moved to the trash",
        ]
    )
}
