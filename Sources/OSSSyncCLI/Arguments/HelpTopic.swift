internal import OSSSync

/// The topics of `osssync help TOPIC`.
enum HelpTopic: String, CaseIterable, Sendable {
    case configuration
    case conflicts
    case connection
    case deletions
    case exitCodes = "exit-codes"
    case filters
    case names
    case scale
    case manual = "man"

    /// A piece of a topic's page.
    enum Block: Sendable {
        /// Wrapped when shown.
        case paragraph(String)
        /// Shown as it is.
        case code([String])
        case rows([(entry: String, text: String)])
    }

    /// The page; the manual page has its own form.
    var blocks: [Block] {
        switch self {
        case .configuration: Self.configurationBlocks
        case .conflicts: Self.conflictBlocks
        case .connection: Self.connectionBlocks
        case .deletions: Self.deletionBlocks
        case .exitCodes:
            [.rows(ExitCode.allCases.map { (String($0.rawValue), $0.meaning) })]
        case .filters: Self.filterBlocks
        case .names: Self.nameBlocks
        case .scale: Self.scaleBlocks
        case .manual: []
        }
    }

    private static let configurationBlocks: [Block] = [
        .paragraph("Each setting comes from the first of these sources that has it:"),
        .rows([
            ("1.", "options on the command line"),
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
            "osssync init and the first run write DIR/.osssync/config. It can also set defaults "
                + "for the options of pull, push and sync, by their long names: [mirror] applies "
                + "to all commands, [pull], [push] and [sync] to one command each. Options without "
                + "a value are 'yes' or 'no'. The command line overrides them; its patterns come "
                + "after those in the file."
        ),
        .code([
            "[mirror]", "remote = oss://media/photos/", "region = cn-hangzhou", "jobs = 4",
            "exclude = *.tmp", "exclude = /raw", "", "[push]", "delete = yes", "max-delete = 5%",
        ]),
        .paragraph(
            "An unknown name is an error. Options that confirm a single run, decide what is "
                + "trusted, or name files to be written can only be given on the command line: "
                + Option.all.filter { $0.traits.contains(.typed) }.map(\.name).joined(
                    separator: ", "
                ) + "."
        ),
    ]

    private static let connectionBlocks: [Block] = [
        .paragraph(
            "All commands that make requests have these options. No option takes a secret; see "
                + "'osssync help configuration'."
        ),
        .rows(
            Option.all.filter { $0.group == .connection }.map { ($0.usage, $0.meaning) }
        ),
    ]

    private static let conflictBlocks: [Block] = [
        .paragraph(
            "A conflict is a file that both sides changed since the last run, to different "
                + "content; for a push, which fetches nothing, also one that only the bucket "
                + "changed. A run with a conflict exits with 1. --on-conflict says what is done:"
        ),
        .rows([
            (
                "keep-both",
                "the bucket's version gets the name, the one here a name with .conflict- and the "
                    + "time (pull and sync; default)"
            ),
            ("local", "a push or sync sends the version here; a pull keeps it"),
            (
                "remote",
                "a pull or sync fetches the bucket's version, and moves the one here to the "
                    + "trash; a push changes nothing"
            ),
            ("skip", "neither side is changed"),
            ("fail", "the run ends at the first conflict"),
        ]),
        .paragraph(
            "Where one side deleted what the other one changed, the changed version is kept; with "
                + "--delete, local or remote lets that side decide. After a push that reports a "
                + "conflict: osssync pull, keep the version that you want under the file's name, "
                + "delete the other one, osssync push."
        ),
        .paragraph("osssync explain PATH shows the state of one path on both sides."),
    ]

    private static let deletionBlocks: [Block] = [
        .paragraph(
            "Nothing is deleted without --delete. With it, a file that was deleted on one side is "
                + "deleted on the other, if it was mirrored and has not changed since."
        ),
        .paragraph(
            "Nothing is deleted if the listing or the walk was incomplete (a directory or file "
                + "that cannot be read holds back only what is at or beneath it), if an item "
                + "failed, if the remote or the directory is not the recorded one, if one side is "
                + "suddenly empty (--allow-empty), or if more than --max-delete would be deleted. "
                + "The summary shows why deletions were held back."
        ),
        .paragraph(
            "Local files that are deleted, or replaced with --force, are kept in "
                + "DIR/.osssync/trash for \(RunOptions.standard.trashDays) days (--trash-days). "
                + "Objects are deleted permanently, unless --trash remote copies them first, or "
                + "the bucket keeps versions. 'osssync trash' lists what was removed, 'osssync "
                + "restore' and 'osssync undo' restore it."
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
            ("/build", "build at the top of DIR only"),
            ("cache/", "every directory cache, but no file of that name"),
            ("photos/**/raw", "raw at any depth below photos"),
            ("!keep.tmp", "in a file: include keep.tmp again, like --include keep.tmp"),
        ]),
        .paragraph(
            "Everything in an excluded directory is excluded, even if a later pattern matches it. "
                + "To mirror only photographs:"
        ),
        .code(["osssync pull --exclude '*' --include '*/' --include '*.jpg' DIR"]),
        .paragraph(
            "Excluded files are skipped on both sides. Only --delete=excluded deletes them."
        ),
        .paragraph(
            "With -vv, a run or status names each excluded file and its rule; 'osssync explain DIR "
                + "PATH' shows the rule for one path."
        ),
    ]

    private static let nameBlocks: [Block] = [
        .paragraph(
            "A key in the bucket is the path of a file below DIR. Keys that cannot be a path are "
                + "skipped and named, and the exit status is 1: keys with empty parts (a//b), with "
                + "a part . or .., or with a part longer than 255 bytes, and a key that is both a "
                + "file and a directory. Nothing at or below such a name is deleted; use --exclude "
                + "to skip it silently."
        ),
        .paragraph(
            "With --names escape, all of these except the last are mirrored as files in "
                + ".osssync-names, named after the percent-encoded key: the file of a//b is "
                + ".osssync-names/a%2F%2Fb. A push uploads such files under their original keys."
        ),
        .paragraph(
            "File names must be UTF-8. Symbolic links are mirrored only with --links. Devices, "
                + "sockets and pipes are not mirrored."
        ),
        .paragraph(
            "osssync uses the names .osssync, .osssync-names, and .osssync- with 32 hexadecimal "
                + "digits for its own files. These names are reserved at any depth, in upper and "
                + "lower case, and are never mirrored."
        ),
    ]

    private static let scaleBlocks: [Block] = [
        .paragraph(
            "A mirror of many millions of objects can be divided into shards, ranges of keys with "
                + "a manifest each, which several machines process at the same time. A smaller "
                + "mirror needs none of this. See docs/scale.md."
        ),
        .rows(
            CommandTable.ofScale.compactMap(CommandTable.row).map { ($0.name.rawValue, $0.summary) }
                + Option.all.filter { $0.group == .shard && $0.isOfRun }.map {
                    ($0.usage, $0.meaning)
                }
        ),
        .paragraph("'osssync help shard' and 'osssync help finish' describe these commands."),
        .code(
            CommandTable.row(.shard)?.examples.map(\.line) ?? []
        ),
    ]
}
