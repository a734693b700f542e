internal import OSSSync

extension RunOptions {
    /// The smallest and the largest part a store accepts.
    static let partSizes: ClosedRange<Int64> = (100 << 10)...(5 << 30)

    /// The options of one run, from a command line and the defaults.
    init(_ arguments: ParsedArguments) throws(UsageError) {
        self.init(
            isDryRun: arguments.has(.dryRun),
            deletesKnown: arguments.has(.delete) || arguments.has(.deleteExtra)
                || arguments.has(.deleteExcluded),
            deletesExtra: arguments.has(.deleteExtra),
            deletionLimit: try arguments.value(
                .maxDelete,
                or: Self.standard.deletionLimit,
                expected: "expected a number, such as 20, or a percentage, such as 30%",
                parse: parseDeletionLimit
            ),
            allowsEmpty: arguments.has(.allowEmpty),
            allowsRebinding: arguments.has(.rebind),
            replacesLocalChanges: arguments.has(.force),
            conflictPolicy: try arguments.value(
                .onConflict,
                or: .keepBoth,
                expected: "",
                parse: ConflictPolicy.init
            ),
            comparesContent: arguments.has(.checksum),
            connectionLimit: try arguments.value(
                .jobs,
                or: Self.standard.connectionLimit,
                expected: "expected a number from 1 to 256, or auto",
                parse: Self.connectionLimit
            ),
            partSize: try arguments.value(
                .partSize,
                or: Self.standard.partSize,
                expected: "expected a size from 100K to 5G, such as 8M",
                parse: { text in
                    parseSize(text).flatMap { Self.partSizes.contains($0) ? $0 : nil }
                }
            ),
            trashDays: try arguments.value(
                .trashDays,
                or: Self.standard.trashDays,
                expected: "expected a number of days from 0 to 36500",
                parse: { parseCount($0, in: 0...36_500) }
            )
        )
        deletesExcluded = arguments.has(.deleteExcluded)
        let lock = try arguments.given(
            .ifLocked,
            expected: "expected fail, skip, wait, or wait=TIME, such as wait=30m",
            parse: LockChoice.init
        )
        if case .wait(let longest) = lock { lockTimeout = longest }
        maximumTransfer = try arguments.given(
            .maximumTransfer,
            expected: "expected a size, such as 10G",
            parse: parseSize
        )
        maximumDuration = try arguments.given(
            .maximumDuration,
            expected: "expected a time, such as 30m or 6h",
            parse: parseDuration
        )
        try setPast(arguments)
        filter = try FileFilter(arguments)
        properties = try ObjectProperties(arguments)
        links = try arguments.value(.links, or: .skip, expected: "", parse: LinkPolicy.init)
        names = try arguments.value(.names, or: .skip, expected: "", parse: NamePolicy.init)
        keepsFileMetadata = !arguments.has(.noMetadata)
        namesExcluded = arguments.counts[.verbose, default: 0] >= 2
    }

    private static func connectionLimit(_ text: String) -> Int? {
        text == "auto" ? standard.connectionLimit : parseCount(text, in: 1...256)
    }

    static let future = "expected a time that is not in the future"

    /// How long a restored copy can be read unless the user says so, in days.
    static let standardRestoreDays = 7

    /// What is kept of what was there, and what a pull fetches of it.
    private mutating func setPast(_ arguments: ParsedArguments) throws(UsageError) {
        keepsEmptyDirectories = !arguments.has(.noEmptyDirectories)
        restoreDays = try arguments.given(
            .restore,
            expected: "expected a number of days from 1 to 365, as --restore=3",
            parse: { $0.isEmpty ? Self.standardRestoreDays : parseCount($0, in: 1...365) }
        )
        let asOf = try arguments.given(
            .asOf,
            expected: "expected a time, such as 2026-01-31, 2026-01-31T20:15:00Z or '3d ago'",
            parse: { parseTime($0, now: WallClock.now().seconds) }
        )
        if let text = arguments.values[.asOf], let asOf, asOf > WallClock.now().seconds {
            throw .badValue(
                option: "--as-of",
                value: String(terminalSafe: text),
                expected: Self.future
            )
        }
        self.asOf = asOf.map { StoreTime(secondsSince1970: $0) }
        if restoreDays != nil, arguments.values[.asOf] != nil {
            throw .contradiction("--restore", "--as-of")
        }
        guard arguments.values[.trash] == "remote" else { return }
        if let place = arguments.values[.backupDirectory], MirrorArguments.isRemote(place) {
            throw .contradiction("--trash remote", "--backup-dir")
        }
        guard trashDays > 0 else { throw .contradiction("--trash remote", "--trash-days 0") }
        remoteTrash = .ownPrefix
    }
}

extension ParsedArguments {
    /// The parsed value of an option, or the default if it was not given.
    fileprivate func value<Value>(
        _ option: Option,
        or standard: Value,
        expected: String,
        parse: (String) -> Value?
    ) throws(UsageError) -> Value {
        try given(option, expected: expected, parse: parse) ?? standard
    }

    /// The parsed value of an option, nil if it was not given.
    func given<Value>(
        _ option: Option,
        expected: String,
        parse: (String) -> Value?
    ) throws(UsageError) -> Value? {
        guard let text = values[option] else { return nil }
        guard let value = parse(text) else {
            throw .badValue(
                option: "--" + option.rawValue,
                value: String(terminalSafe: text),
                expected: expected
            )
        }
        return value
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
    var progress: ProgressStyle
    var isJSON: Bool
    var isQuiet: Bool
    /// 0, 1 or 2.
    var verbosity: Int
    var color = ColorChoice.auto
    /// The time between two reports of progress as JSON.
    var jsonInterval = Duration.seconds(1)

    init(_ arguments: ParsedArguments) throws(UsageError) {
        if arguments.has(.quiet), arguments.has(.verbose) {
            throw .contradiction("--quiet", "--verbose")
        }
        progress = arguments.values[.progress].flatMap(ProgressStyle.init) ?? .auto
        isJSON = arguments.has(.json)
        isQuiet = arguments.has(.quiet)
        verbosity = min(2, arguments.counts[.verbose, default: 0])
        color = arguments.values[.color].flatMap(ColorChoice.init) ?? .auto
        jsonInterval =
            try arguments.given(
                .jsonInterval,
                expected: "expected a time, such as 1s or 5m",
                parse: parseDuration
            ) ?? jsonInterval
    }
}
