/// The commands, by the name they have on the command line.
enum CommandName: String, CaseIterable, Sendable {
    case `init`
    case pull
    case push
    case sync
    case status
    case ls
    case get
    case put
    case presign
    case uploads
    case cancel
    case doctor
    case help
}

/// One positional argument of a command.
struct ArgumentSpecification: Sendable {
    /// What it is, for messages and completions.
    enum Kind: Sendable {
        case directory
        case remote
        case path
        /// An object, or a signed URL.
        case object
        case file
        case command
    }

    let name: String
    let kind: Kind
    let isOptional: Bool

    /// `DIR` or `[REMOTE]`.
    var usage: String { isOptional ? "[\(name)]" : name }
}

/// One row of the table from which parsing, help and completions come.
struct CommandSpecification: Sendable {
    let name: CommandName
    let arguments: [ArgumentSpecification]
    /// One line, for the overview.
    let summary: String
    /// Paragraphs, for the command's own help; wrapped when shown.
    let discussion: [String]
    let options: [Option]
    /// Command lines that work, each with what it does.
    let examples: [(line: String, meaning: String)]

    var usage: String {
        (["osssync", name.rawValue] + (options.isEmpty ? [] : ["[OPTION...]"])
            + arguments.map(\.usage)).joined(separator: " ")
    }
}

/// All commands, in the order in which the help shows them.
enum CommandTable {
    static let rows: [CommandSpecification] = [
        initialize, pull, push, sync, status, list, get, put, presign, uploads, cancel, doctor,
        help,
    ]

    static func row(_ name: CommandName) -> CommandSpecification? {
        rows.first { $0.name == name }
    }

    private static let directory = ArgumentSpecification(
        name: "DIR",
        kind: .directory,
        isOptional: false
    )
    static let remote = ArgumentSpecification(
        name: "REMOTE",
        kind: .remote,
        isOptional: false
    )
    private static let optionalRemote = ArgumentSpecification(
        name: "REMOTE",
        kind: .remote,
        isOptional: true
    )
    private static let optionalPath = ArgumentSpecification(
        name: "PATH",
        kind: .path,
        isOptional: true
    )
    private static let optionalDirectory = ArgumentSpecification(
        name: "DIR",
        kind: .directory,
        isOptional: true
    )
    private static let optionalCommand = ArgumentSpecification(
        name: "COMMAND",
        kind: .command,
        isOptional: true
    )

    static let connectionOptions: [Option] = [
        .profile, .config, .region, .endpoint, .addressing, .provider, .signature, .caFile,
        .insecureHTTP, .timeout, .retries, .retryWait,
    ]
    static let commonOptions: [Option] =
        [.json, .quiet, .verbose] + connectionOptions + [.help]
    private static let runOptions: [Option] =
        [
            .dryRun, .delete, .deleteExtra, .exclude, .include, .deleteExcluded, .maxDelete,
            .allowEmpty, .rebind, .onConflict, .checksum, .trashDays, .jobs, .partSize, .durability,
            .progress, .stateDirectory,
        ] + commonOptions

    private static let initialize = CommandSpecification(
        name: .`init`,
        arguments: [directory, remote],
        summary: "link a directory with a bucket prefix",
        discussion: [
            "Writes DIR/.osssync/config, so that later commands need only DIR, and "
                + "checks that the bucket can be listed. DIR is made if it does not exist. "
                + "Nothing is transferred.",
            "REMOTE is oss://BUCKET or oss://BUCKET/PREFIX, or the same with s3:// for Amazon S3 "
                + "and its look-alikes. A prefix is a directory: oss://media/photos means every "
                + "key that begins with photos/.",
            "Credentials are never arguments and are not written. For oss:// they come from the "
                + "environment (OSS_ACCESS_KEY_ID, OSS_ACCESS_KEY_SECRET, OSS_SESSION_TOKEN), "
                + "from a profile in ~/.config/osssync/config, from ~/.ossutilconfig or "
                + "~/.aliyun/config.json, or from the RAM role of the machine; for s3:// from "
                + "the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, "
                + "AWS_SESSION_TOKEN), from such a profile, or from ~/.aws/credentials and "
                + "~/.aws/config.",
        ],
        options: [.stateDirectory] + commonOptions,
        examples: [
            (
                "osssync init --region cn-hangzhou ~/Photos oss://media/photos",
                "link ~/Photos with photos/ in the bucket media"
            )
        ]
    )

    private static let pull = CommandSpecification(
        name: .pull,
        arguments: [directory, optionalRemote],
        summary: "make the directory have what the bucket has",
        discussion: [
            "Downloads what is new or changed in the bucket since the last run. A file "
                + "under DIR is at every moment the complete old or the complete verified new "
                + "version. What was interrupted goes on where it stopped when the same "
                + "command is run again.",
            "Local changes are kept and reported. Where both sides changed, the new "
                + "version is downloaded and the local one is kept beside it; see "
                + "--on-conflict. Nothing is deleted without --delete.",
            "REMOTE is needed on the first run only, if DIR was not linked with osssync init.",
        ],
        options: [.force] + runOptions,
        examples: [
            ("osssync pull ~/Photos oss://media/photos", "first run: link and download"),
            ("osssync pull --dry-run --delete ~/Photos", "what would the next run do?"),
        ]
    )

    private static let push = CommandSpecification(
        name: .push,
        arguments: [directory, optionalRemote],
        summary: "make the bucket have what the directory has",
        discussion: [
            "Uploads what is new or changed under DIR since the last run, large files "
                + "in parts. What was interrupted goes on where it stopped when the same "
                + "command is run again.",
            "Where both sides changed, the object is left as it is and the conflict is "
                + "reported; see --on-conflict. Nothing is deleted without --delete.",
            "REMOTE is needed on the first run only, if DIR was not linked with osssync init.",
        ],
        options: [.force] + runOptions,
        examples: [
            ("osssync push ~/Photos", "upload what is new or changed"),
            ("osssync push --delete --max-delete 20 ~/Photos", "delete at most 20 objects"),
        ]
    )

    private static let sync = CommandSpecification(
        name: .sync,
        arguments: [directory, optionalRemote],
        summary: "make both have what either of them changed",
        discussion: [
            "Downloads what is new or changed in the bucket since the last run, and uploads what "
                + "is new or changed under DIR. What was interrupted goes on where it stopped "
                + "when the same command is run again.",
            "Where both sides changed, the bucket's version is downloaded and the local one is "
                + "kept beside it; see --on-conflict. What was removed on one side and changed on "
                + "the other comes back. Nothing is deleted without --delete, and then only what "
                + "nobody changed since the last run; what was never mirrored is new, also with "
                + "--delete-extra.",
            "REMOTE is needed on the first run only, if DIR was not linked with osssync init.",
        ],
        options: [.force] + runOptions,
        examples: [
            ("osssync sync ~/Notes oss://media/notes", "first run: link, and bring both in step"),
            ("osssync sync --delete ~/Notes", "removals go over, too"),
        ]
    )

    private static let status = CommandSpecification(
        name: .status,
        arguments: [directory],
        summary: "show what each way would do, and what was interrupted",
        discussion: ["Changes nothing, neither under DIR nor in the bucket."],
        options: [
            .delete, .deleteExtra, .exclude, .include, .maxDelete, .allowEmpty, .onConflict,
            .checksum, .exitCode, .jobs, .stateDirectory,
        ] + commonOptions,
        examples: [
            ("osssync status ~/Photos", "is anything left to do?"),
            ("osssync status --exit-code ~/Photos", "the same for a script"),
        ]
    )

    private static let cancel = CommandSpecification(
        name: .cancel,
        arguments: [directory, optionalPath],
        summary: "give up unfinished transfers",
        discussion: [
            "Deletes partly downloaded files, aborts partly done uploads in the bucket, "
                + "and forgets their checkpoints. With PATH, relative to DIR, only those of "
                + "that file or directory. Finished files are not touched."
        ],
        options: [.stateDirectory] + commonOptions,
        examples: [("osssync cancel ~/Photos 2026/film.mov", "give up on one file")]
    )

    private static let doctor = CommandSpecification(
        name: .doctor,
        arguments: [optionalDirectory],
        summary: "check configuration, credentials, clock, network and disk",
        discussion: [
            "One line for each finding, with what to do about it. Secrets are never "
                + "shown. Changes nothing."
        ],
        options: [.stateDirectory] + commonOptions,
        examples: [("osssync doctor ~/Photos", "why does it not work?")]
    )

    private static let help = CommandSpecification(
        name: .help,
        arguments: [optionalCommand],
        summary: "show this overview, or the help of a command",
        discussion: ["The same as osssync COMMAND --help."],
        options: [],
        examples: []
    )
}
