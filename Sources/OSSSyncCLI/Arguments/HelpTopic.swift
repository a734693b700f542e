internal import OSSSync

/// The topics of `osssync help TOPIC`.
enum HelpTopic: String, CaseIterable, Sendable {
    case configuration
    case connection
    case deletions
    case exitCodes = "exit-codes"
    case filters
    case names
    case manual = "man"

    /// A piece of a topic's page.
    enum Block: Sendable {
        /// Wrapped when shown.
        case paragraph(String)
        /// Shown as it is.
        case code([String])
        case rows([(entry: String, text: String)])
    }

    /// One line, for the overview.
    var summary: String {
        switch self {
        case .configuration: "where settings come from, and defaults of options"
        case .connection: "the options of the connection and the credentials"
        case .deletions: "what is deleted, what never is, and how to undo it"
        case .exitCodes: "what each exit status means"
        case .filters: "how to leave files out"
        case .names: "which names are skipped, and which are reserved"
        case .manual: "all of this as a manual page, for man"
        }
    }

    /// The page; the manual page has its own form.
    var blocks: [Block] {
        switch self {
        case .configuration: Self.configurationBlocks
        case .connection: Self.connectionBlocks
        case .deletions: Self.deletionBlocks
        case .exitCodes:
            [.rows(ExitCode.allCases.map { (String($0.rawValue), $0.meaning) })]
        case .filters: Self.filterBlocks
        case .names: Self.nameBlocks
        case .manual: []
        }
    }

    private static let configurationBlocks: [Block] = [
        .paragraph("Each setting is taken from the first of these places that has it:"),
        .rows([
            ("1.", "the options of the command line"),
            (
                "2.",
                "the environment: OSS_ACCESS_KEY_ID, OSS_ACCESS_KEY_SECRET, OSS_SESSION_TOKEN, "
                    + "OSS_REGION, OSS_ENDPOINT and ALIBABA_CLOUD_*; for s3:// AWS_*"
            ),
            (
                "3.",
                "DIR/.osssync/config (no credentials), then the profiles of "
                    + "~/.config/osssync/config"
            ),
            (
                "4.",
                "~/.ossutilconfig and ~/.aliyun/config.json; for s3:// ~/.aws/credentials and "
                    + "~/.aws/config"
            ),
            ("5.", "for oss://, a credentials URI, or the RAM role of the machine"),
        ]),
        .paragraph(
            "DIR/.osssync/config is written by osssync init and by the first run. It can also "
                + "hold defaults of the options of pull, push and sync by their long names: "
                + "[mirror] is for all commands, [pull], [push] and [sync] are for one each. "
                + "Options without a value are 'yes' or 'no'. The command line overrides them; its "
                + "patterns come after those of the file."
        ),
        .code([
            "[mirror]", "remote = oss://media/photos/", "region = cn-hangzhou", "jobs = 4",
            "exclude = *.tmp", "exclude = /raw", "", "[push]", "delete = yes", "max-delete = 5%",
        ]),
        .paragraph(
            "An unknown name is an error. Options that confirm a single run, decide what is "
                + "trusted, or name files to be written are only for the command line: "
                + OptionTable.onlyTyped.map { "--" + $0.rawValue }.joined(separator: ", ") + "."
        ),
    ]

    private static let connectionBlocks: [Block] = [
        .paragraph(
            "These options are common to all commands that make requests. No option takes a "
                + "secret; see 'osssync help configuration'."
        ),
        .rows(
            OptionTable.rows.filter { $0.group == .connection }.map { ($0.usage, $0.help) }
        ),
    ]

    private static let deletionBlocks: [Block] = [
        .paragraph(
            "Without --delete, --delete-extra or --delete-excluded nothing is deleted. With "
                + "--delete, what was deleted on one side is deleted on the other, if both had it "
                + "and it has not changed since."
        ),
        .paragraph(
            "Nothing is deleted if the listing or the walk was incomplete, if an item failed, if "
                + "the remote or the directory is not the recorded one, if one side is suddenly "
                + "empty (--allow-empty), or if more than --max-delete would go. The summary says "
                + "why deletions were held back."
        ),
        .paragraph(
            "Local files that are deleted or replaced by --force go to DIR/.osssync/trash for "
                + "\(RunOptions.standard.trashDays) days (--trash-days). Objects are deleted for "
                + "good, unless --trash remote or --backup-dir REMOTE copies them first, or the "
                + "bucket keeps versions. 'osssync trash' lists what was removed, 'restore' and "
                + "'undo' bring it back."
        ),
        .paragraph("'--dry-run --delete' shows what would be deleted."),
    ]

    private static let filterBlocks: [Block] = [
        .paragraph(
            "Patterns use gitignore syntax. They are read from DIR/.osssyncignore, which is "
                + "mirrored, then from DIR/.osssync/ignore, which is only for this machine, then "
                + "from DIR/.osssync/config, then from the command line; the last match wins."
        ),
        .rows([
            ("*.tmp", "every name that ends in .tmp, in any directory"),
            ("/build", "only at the top"),
            ("cache/", "only directories"),
            ("photos/**/raw", "raw at any depth below photos"),
            ("!keep.tmp", "in a file: include it again, like --include keep.tmp"),
        ]),
        .paragraph(
            "Everything in an excluded directory is excluded, even if a later pattern matches it. "
                + "To mirror only photographs:"
        ),
        .code(["osssync pull --exclude '*' --include '*/' --include '*.jpg' DIR"]),
        .paragraph(
            "Excluded files are skipped on both sides and never deleted, unless "
                + "--delete-excluded is used."
        ),
        .paragraph(
            "-vv names what a run or status leaves out, and the rule; 'osssync explain DIR PATH' "
                + "shows which rule decides about one path."
        ),
    ]

    private static let nameBlocks: [Block] = [
        .paragraph(
            "A key of the bucket is the path of a file below DIR. Keys that cannot be a path are "
                + "skipped and named, and the exit status is 1: empty parts (a//b), the parts . "
                + "and .., parts longer than 255 bytes, and a key that is both a file and a "
                + "directory. Deletions at and below such a name are held back; --exclude it to "
                + "silence it."
        ),
        .paragraph(
            "With --names escape, all but the last are files of .osssync-names, named after the "
                + "percent-encoded key: a//b is .osssync-names/a%2F%2Fb. A push sends them under "
                + "their true keys."
        ),
        .paragraph(
            "File names must be UTF-8. Symbolic links, devices, sockets and pipes are not mirrored."
        ),
        .paragraph(
            "osssync keeps its own files under .osssync, .osssync-names and .osssync- with 32 "
                + "hexadecimal digits. These names are reserved at any depth, in upper and lower "
                + "case, and are never mirrored."
        ),
    ]
}
