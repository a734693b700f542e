internal import OSSSync

extension FileFilter {
    /// What a command line and its defaults skip.
    init(_ arguments: ParsedArguments) throws(UsageError) {
        self.init()
        for argument in arguments.patterns { try add(argument) }
        bounds = try FileBounds(arguments)
        tags.recognizesCaches = arguments.has(.excludeCaches)
        tags.staysOnFileSystem = arguments.has(.oneFileSystem)
    }

    private mutating func add(_ argument: FilterArgument) throws(UsageError) {
        var (option, value) = ("", "")
        var file: [UInt8] = []
        if case .excludeFrom(let path) = argument { file = try Self.content(of: path) }
        do throws(InvalidPattern) {
            switch argument {
            case .exclude(let pattern):
                (option, value) = ("--exclude", pattern)
                try exclude(pattern)
            case .include(let pattern):
                (option, value) = ("--include", pattern)
                try include(pattern)
            case .excludeFrom(let path):
                (option, value) = ("--exclude-from", path)
                try add(ignoreFile: file, named: String(terminalSafe: path))
            case .excludeIfPresent(let name):
                (option, value) = ("--exclude-if-present", name)
                guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")) else {
                    throw InvalidPattern(message: "expected the name of a file, without '/'")
                }
                tags.names.insert(name)
            }
        } catch {
            throw .badValue(
                option: option,
                value: String(terminalSafe: value),
                expected: error.message
            )
        }
    }

    /// More than anyone writes; every pattern is matched with every path.
    private static let longestFile = 1 << 20

    /// A run that a timer starts may find a FIFO there that nothing ever writes to.
    private static let patience = Duration.seconds(60)

    private static func content(of path: String) throws(UsageError) -> [UInt8] {
        func refusal(_ reason: String) -> UsageError {
            .badValue(
                option: "--exclude-from",
                value: String(terminalSafe: path),
                expected: reason
            )
        }
        do throws(InputFile.Failure) {
            return try InputFile(limit: longestFile, patience: patience).content(of: path)
        } catch {
            switch error {
            case .unreadable(let reason): throw refusal("it cannot be read: \(reason)")
            case .tooLarge: throw refusal("it is larger than 1 MiB")
            case .silent:
                throw refusal("it is a pipe, and nothing was written to it for 60 seconds")
            case .stopped: throw .interrupted
            }
        }
    }
}

extension FileBounds {
    /// The bounds of a command line and its defaults.
    init(_ arguments: ParsedArguments) throws(UsageError) {
        self.init()
        let size = "expected a size, such as 10K or 1G"
        minimumSize = try arguments.given(.minimumSize, expected: size, parse: parseSize)
        maximumSize = try arguments.given(.maximumSize, expected: size, parse: parseSize)
        let age = "expected a time, such as 15m, 12h or 30d"
        minimumAge = try arguments.given(.minimumAge, expected: age, parse: parseDuration)
        maximumAge = try arguments.given(.maximumAge, expected: age, parse: parseDuration)
        if let minimumSize, let maximumSize, minimumSize > maximumSize {
            throw .reversed("--min-size", "--max-size")
        }
        if let minimumAge, let maximumAge, minimumAge > maximumAge {
            throw .reversed("--min-age", "--max-age")
        }
    }
}
