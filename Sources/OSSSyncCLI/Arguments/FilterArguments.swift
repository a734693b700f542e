internal import OSSSync

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension FileFilter {
    /// What a command line and its defaults skip.
    init(_ arguments: ParsedArguments) throws(UsageError) {
        self.init()
        for argument in arguments.patterns { try add(argument) }
        bounds = try FileBounds(arguments)
        tags.recognizesCaches = arguments.has(.excludeCaches)
    }

    private mutating func add(_ argument: FilterArgument) throws(UsageError) {
        var (option, value) = ("", "")
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
                try add(ignoreFile: try Self.content(of: path), named: String(terminalSafe: path))
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

    private static func content(of path: String) throws(InvalidPattern) -> [UInt8] {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw unreadable() }
        defer { _ = close(file) }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while content.count <= longestFile {
            let count = unsafe read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable() }
            if count == 0 { return content }
            content += buffer.prefix(count)
        }
        throw InvalidPattern(message: "it is larger than 1 MiB")
    }

    private static func unreadable() -> InvalidPattern {
        InvalidPattern(message: "it cannot be read: \(systemErrorText())")
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
