/// All commands, in the order in which the help shows them.
enum CommandTable {
    static let rows: [CommandSpecification] = [
        initialize, pull, push, sync, apply, watch, shard, finish, status, explain, list, get, put,
        presign,
        uploads, cancel, free, trash, restore, undo, verify, log, doctor, mirrors, schedule,
        keygen, completions,
        help,
    ]

    /// The first of the overview.
    static let everyday: [CommandName] = [
        .`init`, .pull, .push, .sync, .status, .restore, .log, .verify, .schedule, .watch, .doctor,
    ]
    /// What only mirrors of many millions of objects need, in a topic of its own.
    static let ofScale: [CommandName] = [.shard, .finish]

    static let introduction =
        "osssync mirrors a directory and a bucket prefix, in either direction or both, and "
        + "resumes interrupted transfers. " + note

    /// What the overview says of all of them.
    static let note =
        "Within a mirror, DIR can be omitted. REMOTE is oss://BUCKET or oss://BUCKET/PREFIX, or "
        + "the same with s3://."

    static func row(_ name: CommandName) -> CommandSpecification? {
        rows.first { $0.name == name }
    }

    /// How PATHs are given, for the help of commands that take them.
    private static let pathsNote =
        "PATH, a file or directory relative to DIR, limits the command to that file or directory. "
        + "A first argument inside a mirror stands for both DIR and PATH, such as "
        + "~/Photos/2026/a.jpg, or a.jpg in ~/Photos/2026."

    private static let initialize = CommandSpecification(
        name: .`init`,
        arguments: ["DIR", "REMOTE"],
        summary: "link a directory with a bucket prefix",
        discussion: [
            "Writes the remote, region, endpoint and provider to DIR/.osssync/config, so that "
                + "later commands need only DIR, and checks that the bucket can be listed. DIR is "
                + "created if it does not exist. Nothing is transferred.",
            "REMOTE is oss://BUCKET or oss://BUCKET/PREFIX, or the same with s3:// for Amazon S3 "
                + "and compatible stores. A prefix is a directory: oss://media/photos means every "
                + "key that begins with photos/.",
            "Credentials are never arguments and are never stored. For oss://, they come from the "
                + "environment (OSS_ACCESS_KEY_ID, OSS_ACCESS_KEY_SECRET, OSS_SESSION_TOKEN), "
                + "from a profile in ~/.config/osssync/config, from ~/.ossutilconfig or "
                + "~/.aliyun/config.json, or from the RAM role of the machine. For s3://, they "
                + "come from the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, "
                + "AWS_SESSION_TOKEN), from such a profile, or from ~/.aws/credentials and "
                + "~/.aws/config.",
            "With --encrypt, the contents of files are encrypted before they are sent, with the "
                + "password of --encryption-password-file or --encryption-password-command; "
                + "'osssync keygen' makes one. Names, sizes and times stay readable. Later "
                + "commands find the path of that file, not the password, in DIR/.osssync/config. "
                + "Encryption is never switched on or off for a mirror that has objects.",
        ],
        examples: [
            (
                "osssync init --region cn-hangzhou ~/Photos oss://media/photos",
                "link ~/Photos with photos/ in the bucket media"
            ),
            ("osssync init --unlink ~/Photos", "remove the link"),
        ],
        optionHelp: [
            .rebind: "link DIR with REMOTE instead of the previous one; the next run compares "
                + "everything and deletes nothing"
        ]
    )

    private static let pull = CommandSpecification(
        name: .pull,
        arguments: ["[DIR]", "[REMOTE]", "[PATH...]"],
        summary: "download what changed in the bucket to the directory",
        discussion: [
            "Downloads objects that are new or changed since the last run. A file under DIR is "
                + "always either the complete old version or the complete, verified new one. "
                + "Interrupted transfers resume when the same command is run again.",
            "Local changes are kept and reported. If a file changed on both sides, the new "
                + "version is downloaded and the local one is kept beside it; see "
                + "--on-conflict. Nothing is deleted without --delete.",
            "REMOTE is needed only in the first run, if DIR was not linked with 'osssync init'.",
            pathsNote,
        ],
        examples: [
            ("osssync pull ~/Photos oss://media/photos", "first run: link and download"),
            ("osssync pull --dry-run --delete ~/Photos", "show what the next run would do"),
            ("osssync pull ~/Photos 2026/trip", "download only that directory"),
            (
                "osssync pull --as-of 2026-01-31 ~/old oss://media/photos",
                "download a versioned bucket as it was when that day began"
            ),
        ],
        optionHelp: [
            .force: "replace local changes; the old versions are moved to the trash"
        ]
    )

    private static let push = CommandSpecification(
        name: .push,
        arguments: ["[DIR]", "[REMOTE]", "[PATH...]"],
        summary: "upload what changed in the directory to the bucket",
        discussion: [
            "Uploads files under DIR that are new or changed since the last run, large files "
                + "in parts. Interrupted transfers resume when the same command is run again.",
            "If a file changed on both sides, the object is kept and the conflict is "
                + "reported; see --on-conflict. Nothing is deleted without --delete.",
            "REMOTE is needed only in the first run, if DIR was not linked with 'osssync init'.",
            pathsNote,
        ],
        examples: [
            ("osssync push ~/Photos", "upload what is new or changed"),
            ("osssync push --delete --max-delete 20 ~/Photos", "delete at most 20 objects"),
            (
                "osssync push --delete --trash remote ~/Photos",
                "keep deleted and replaced objects for seven days"
            ),
            ("osssync push ~/Photos/2026/a.jpg", "upload only that file"),
        ],
        optionHelp: [
            .force: "upload files that --checksum reports as damaged"
        ]
    )

    private static let sync = CommandSpecification(
        name: .sync,
        arguments: ["[DIR]", "[REMOTE]", "[PATH...]"],
        summary: "transfer changes both ways (unlike 'rclone sync')",
        discussion: [
            "Downloads objects and uploads files under DIR that are new or changed since the last "
                + "run. Interrupted transfers resume when the same command is run again.",
            "If a file changed on both sides, the bucket's version is downloaded and the local one "
                + "is kept beside it; see --on-conflict. A file that was deleted on one side and "
                + "changed on the other is restored. Nothing is deleted without --delete, and then "
                + "only what has not changed since the last run. Files that were never mirrored "
                + "count as new, even with --delete=extra.",
            "REMOTE is needed only in the first run, if DIR was not linked with 'osssync init'.",
            pathsNote,
        ],
        examples: [
            ("osssync sync ~/Notes oss://media/notes", "first run: link and synchronize"),
            ("osssync sync --delete ~/Notes", "also transfer deletions"),
        ],
        optionHelp: [
            .force: "upload files that --checksum reports as damaged"
        ]
    )

    private static let status = CommandSpecification(
        name: .status,
        arguments: ["[DIR]", "[PATH...]"],
        summary: "show what pull, push and sync would do",
        discussion: [
            "Also shows interrupted transfers. Changes nothing under DIR or in the bucket. Shows "
                + "the first items that each direction would change; -v shows all of them, -vv "
                + "also the excluded files and the rules that exclude them.",
            pathsNote,
        ],
        examples: [
            ("osssync status ~/Photos", "show what each direction would do"),
            ("osssync status --exit-code ~/Photos", "also exit with 1 if the sides differ"),
            ("osssync status ~/Photos/2026", "show only that directory"),
            ("osssync status --follow ~/Photos", "watch the run of a timer"),
        ]
    )

    private static let explain = CommandSpecification(
        name: .explain,
        arguments: ["[DIR]", "PATH"],
        summary: "show the state of one path, and what would be done with it",
        discussion: [
            "Shows the state of the path in the manifest, the directory and the bucket, the filter "
                + "rule that applies and where it comes from, and what pull, push and sync would "
                + "do with the path and why. Changes nothing.",
            "Of other keys, only those above and beneath the path are considered, which may be in "
                + "its way.",
        ],
        examples: [
            ("osssync explain ~/Photos 2026/film.mkv", "show why it is not uploaded"),
            ("osssync explain film.mkv", "the same, in ~/Photos/2026"),
        ]
    )

    private static let cancel = CommandSpecification(
        name: .cancel,
        arguments: ["[DIR]", "[PATH]"],
        summary: "discard unfinished transfers",
        discussion: [
            "Deletes partial downloads, aborts unfinished uploads in the bucket, and deletes "
                + "their checkpoints. Finished files are not changed. PATH, relative to DIR, "
                + "limits this to one file or directory; a PATH that neither exists nor is "
                + "recorded is an error."
        ],
        examples: [("osssync cancel ~/Photos 2026/film.mov", "discard one transfer")]
    )

    private static let doctor = CommandSpecification(
        name: .doctor,
        arguments: ["[DIR]"],
        summary: "check configuration, network, disk, timers and the last runs",
        discussion: [
            "Prints one line for each check, with the fix if it failed. Secrets are never shown. "
                + "Changes nothing, except that --check-write starts an upload and aborts it. The "
                + "exit status is 1 if a check failed."
        ],
        examples: [
            ("osssync doctor ~/Photos", "find out why a run fails"),
            (
                "osssync doctor --max-age 26h ~/Photos",
                "fail if no run was complete since yesterday"
            ),
        ],
        optionHelp: [.maximumAge: "fail if the last complete run ended longer ago, such as 26h"]
    )

    private static let mirrors = CommandSpecification(
        name: .mirrors,
        arguments: [],
        summary: "list the mirrors of this account, and how their last runs ended",
        discussion: [
            "Prints one line for each directory that was linked on this account: how the last run "
                + "ended, when the last complete run of the whole mirror ended, what starts runs "
                + "of it, and the remote. Makes no request. A directory that does not exist any "
                + "more is shown as gone; 'osssync mirrors --forget DIR' removes it from the list.",
            "The list is ~/.config/osssync/mirrors. 'osssync init' and each run add their "
                + "directory; 'osssync init --unlink' removes it.",
        ],
        examples: [
            ("osssync mirrors", "list all mirrors"),
            ("osssync mirrors --forget ~/Old", "forget a directory that is gone"),
            ("osssync mirrors --max-age 26h", "fail if one has not had a complete run since"),
            ("osssync doctor --all", "check each of them"),
        ],
        optionHelp: [
            .maximumAge: "fail if the last complete run of one of them ended longer ago, such as "
                + "26h"
        ]
    )

    private static let keygen = CommandSpecification(
        name: .keygen,
        arguments: ["FILE"],
        summary: "make passwords for a mirror with encrypted contents",
        discussion: [
            "Writes two strong random passwords to FILE, which must not exist yet and which only "
                + "its owner can read. 'osssync init --encrypt' links a directory whose files are "
                + "encrypted with them; rclone takes them as password and password2 of a crypt "
                + "remote. Makes no request.",
            "Without the passwords nobody can read what was encrypted with them, and nothing can "
                + "replace them: keep copies where a loss of this machine does not take them.",
        ],
        examples: [("osssync keygen ~/photos.key", "make the passwords")]
    )

    private static let completions = CommandSpecification(
        name: .completions,
        arguments: ["bash|zsh|fish", "[WORD...]"],
        summary: "print completions for a shell",
        discussion: [
            "Prints a script with which the shell completes commands, options, their values, and "
                + "keys, for which it lists the bucket. 'make install' installs the script.",
            "The script calls 'osssync completions paths -- WORD...', which prints the paths that "
                + "complete the last word of a pull (from the bucket), a restore (from the "
                + "manifest and the local trash), a free or a verify (from the manifest).",
        ],
        examples: [
            ("osssync completions bash", "print the script; load it with: source <(...)")
        ]
    )

    private static let help = CommandSpecification(
        name: .help,
        arguments: ["[COMMAND|TOPIC]"],
        summary: "show this overview, or the help of a command or a topic",
        discussion: [
            "'osssync help COMMAND' is the same as 'osssync COMMAND --help'. 'osssync help' lists "
                + "the commands and topics."
        ],
        examples: []
    )
}
