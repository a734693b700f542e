/// Every option of every command, by the name it has on the command line.
enum Option: String, CaseIterable, Sendable {
    case dryRun = "dry-run"
    case savePlan = "save-plan"
    case delete
    case deleteExtra = "delete-extra"
    case maxDelete = "max-delete"
    case allowEmpty = "allow-empty"
    case shard
    case round
    case count
    case cuts
    case tasks
    case rebind
    case include
    case exclude
    case excludeFrom = "exclude-from"
    case excludeIfPresent = "exclude-if-present"
    case filesFrom = "files-from"
    case excludeCaches = "exclude-caches"
    case oneFileSystem = "one-file-system"
    case minimumSize = "min-size"
    case maximumSize = "max-size"
    case minimumAge = "min-age"
    case maximumAge = "max-age"
    case deleteExcluded = "delete-excluded"
    case force
    case onConflict = "on-conflict"
    case jobs
    case partSize = "part-size"
    case checksum
    case exitCode = "exit-code"
    case summary
    case trashDays = "trash-days"
    case trash
    case backupDirectory = "backup-dir"
    case asOf = "as-of"
    case versions
    case top
    case html
    case noMetadata = "no-metadata"
    case emptyDirectories = "empty-dirs"
    case noEmptyDirectories = "no-empty-dirs"
    case restore
    case links
    case names
    case bandwidthLimit = "bwlimit"
    case maximumTransfer = "max-transfer"
    case maximumDuration = "max-duration"
    case ifLocked = "if-locked"
    case logFile = "log-file"
    case metricsFile = "metrics-file"
    case notifyURL = "notify-url"
    case notifyOn = "notify-on"
    case progress
    case color
    case json
    case jsonInterval = "json-interval"
    case quiet
    case verbose
    case profile
    case config
    case region
    case endpoint
    case addressing
    case provider
    case signature
    case stateDirectory = "state-dir"
    case caFile = "ca-file"
    case insecureHTTP = "insecure-http"
    case timeout
    case retries
    case retryWait = "retry-wait"
    case long
    case humanReadable = "human-readable"
    case headURL = "head-url"
    case storageClass = "storage-class"
    case sse
    case acl
    case header
    case callbackURL = "callback-url"
    case callbackBody = "callback-body"
    case method
    case expires
    case abort
    case olderThan = "older-than"
    case empty
    case run
    case at
    case to
    case remote
    case budget
    case repair
    case checkWrite = "check-write"
    case unlink
    case pull
    case push
    case sync
    case every
    case settle
    case daily
    case install
    case remove
    case list
    case test
    case format
    case help
}

/// What follows an option on the command line.
enum OptionValue: Sendable, Hashable {
    /// Nothing.
    case none
    /// One of these words.
    case choice([String])
    /// Any text, shown in the help by this word.
    case text(String)
    /// Nothing, or "=" and any text, shown in the help by this word.
    case optional(String)
}

/// The heading under which the help shows an option.
enum OptionGroup: String, CaseIterable, Sendable {
    case run = "Options"
    case filter = "Filters"
    case schedule = "Schedules"
    case object = "Objects"
    case transfer = "Transfers"
    case output = "Output"
    case connection = "Connection and credentials"
    case other = "Other"
}

/// One row of the table from which parsing and help come.
struct OptionSpecification: Sendable {
    let option: Option
    var short: Character?
    let value: OptionValue
    let group: OptionGroup
    /// Continues the sentence "this option …", without a full stop.
    let help: String

    init(
        _ option: Option,
        short: Character? = nil,
        value: OptionValue = .none,
        _ group: OptionGroup,
        _ help: String
    ) {
        self.option = option
        self.short = short
        self.value = value
        self.group = group
        self.help = help
    }

    /// `--name`.
    var name: String { "--" + option.rawValue }

    /// True if its value is the path of a file or directory.
    var takesPath: Bool { value == .text("FILE") || value == .text("PATH") }

    /// True if this value of it is one.
    func isPath(_ text: String) -> Bool {
        takesPath || option == .backupDirectory && !MirrorArguments.isRemote(text)
    }

    /// True if its value is the next word.
    var needsValue: Bool {
        switch value {
        case .none, .optional: false
        case .choice, .text: true
        }
    }

    /// The words that its value can be; empty if it can be another text.
    var choices: [String] {
        if case .choice(let words) = value { return words }
        return []
    }

    /// `-q, --quiet` or `    --jobs N`, as the help shows it.
    var usage: String {
        let beginning = short.map { "-\($0), " } ?? "    "
        switch value {
        case .none: return beginning + name
        case .choice(let words): return beginning + name + " " + words.joined(separator: "|")
        case .text(let word):
            return beginning + name + " " + word
        case .optional(let word): return beginning + name + "[=\(word)]"
        }
    }
}
