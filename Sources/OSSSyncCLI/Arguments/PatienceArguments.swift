internal import OSSSync

extension ConnectionOptions {
    /// Takes how long and how often requests are tried from a command line.
    mutating func setPatience(_ arguments: ParsedArguments) throws(UsageError) {
        let seconds = "it is a number of seconds from 0.1 to 86400, such as 30"
        timeout = try arguments.given(.timeout, expected: seconds) { text in
            parseSeconds(text).flatMap { $0 >= .milliseconds(100) ? $0 : nil }
        }
        retries = try arguments.given(.retries, expected: "it is a number from 0 to 1000") {
            parseCount($0, in: 0...1_000)
        }
        retryWait = try arguments.given(
            .retryWait,
            expected: "it is a number of seconds from 0 to 86400, such as 20",
            parse: parseSeconds
        )
    }
}

extension ParsedArguments {
    /// The parsed value of an option, nil if it was not given.
    fileprivate func given<Value>(
        _ option: Option,
        expected: String,
        parse: (String) -> Value?
    ) throws(UsageError) -> Value? {
        guard let text = values[option] else { return nil }
        guard let value = parse(text) else {
            throw .badValue(
                option: "--" + option.rawValue,
                value: displayText(text),
                expected: expected
            )
        }
        return value
    }
}
