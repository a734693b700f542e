internal import OSSSync

extension RunOptions {
    /// The options of one run, from a command line and the defaults.
    init(_ arguments: ParsedArguments) throws(UsageError) {
        self = .standard
        try arguments.set(&self, by: \.run)
        namesExcluded = arguments.counts[.verbose, default: 0] >= 2
        try check()
    }

    private func check() throws(UsageError) {
        let bounds = filter.bounds
        if let least = bounds.minimumSize, let most = bounds.maximumSize, least > most {
            throw .reversed("--min-size", "--max-size")
        }
        if let least = bounds.minimumAge, let most = bounds.maximumAge, least > most {
            throw .reversed("--min-age", "--max-age")
        }
        if restoreDays != nil, asOf != nil { throw .contradiction("--restore", "--as-of") }
        guard trash != .remote || trashDays > 0 else {
            throw .contradiction("--trash remote", "--trash-days 0")
        }
    }

    static let future = "expected a time that is not in the future"

    /// How long a restored copy can be read unless the user says so, in days.
    static let standardRestoreDays = 7
}

/// The choices that `get` and `put` share; nil for the library's own.
struct SingleOptions: Sendable {
    /// The argument that stands for standard input or output in the place of a file.
    static let stream = "-"

    var partSize: Int64?
    var streams: Int?
    var replaces = false

    init(_ arguments: ParsedArguments) throws(UsageError) {
        try arguments.set(&self, by: \.single)
    }
}

extension ConnectionOptions {
    /// What a command line says of the connection.
    init(_ arguments: ParsedArguments) throws(UsageError) {
        self.init()
        try arguments.set(&self, by: \.connection)
    }
}

/// What a run does while another one holds its directory.
enum LockChoice: Sendable, Hashable {
    case fail
    case skip
    /// At most this long; nil: as long as it takes.
    case wait(Duration?)

    init?(_ text: String) {
        switch text {
        case "fail": self = .fail
        case "skip": self = .skip
        case "wait": self = .wait(nil)
        default:
            guard text.hasPrefix("wait="), let time = parseDuration(String(text.dropFirst(5)))
            else { return nil }
            self = .wait(time)
        }
    }

    /// How long the run waits; nil: as long as it takes.
    var timeout: Duration? {
        if case .wait(let longest) = self { longest } else { .zero }
    }
}

/// How progress is shown.
enum ProgressStyle: String, CaseIterable, Sendable {
    case auto
    case bar
    case plain
    case none
}

/// How much is said, and in which form.
struct OutputOptions: Sendable, Hashable {
    var progress = ProgressStyle.auto
    var isJSON = false
    var isQuiet = false
    /// 0, 1 or 2.
    var verbosity = 0
    var color = ColorChoice.auto
    /// The time between two reports of progress as JSON.
    var jsonInterval = Duration.seconds(1)

    init(_ arguments: ParsedArguments) throws(UsageError) {
        if arguments.has(.quiet), arguments.has(.verbose) {
            throw .contradiction("--quiet", "--verbose")
        }
        try arguments.set(&self, by: \.output)
    }
}
