internal import OSSSync

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
            throw .contradiction("--min-size", "--max-size")
        }
        if let minimumAge, let maximumAge, minimumAge > maximumAge {
            throw .contradiction("--min-age", "--max-age")
        }
    }
}
