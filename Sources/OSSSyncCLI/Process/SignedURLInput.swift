internal import CLibrary
internal import OSSSync

/// Signed URLs from standard input or a file, because other users can see arguments.
///
/// The first line is signed for GET; a second one, if there is one, for HEAD.
struct SignedURLInput: Equatable {
    private static let longest = 1 << 16

    let get: String
    let head: String?

    /// Reads what `-` or `@FILE` stands for; nil for any other argument.
    static func reading(_ argument: String) throws(UsageError) -> SignedURLInput? {
        if argument == "-" {
            let bytes = try content(argument) { input throws(InputFile.Failure) in
                try input.content(of: STDIN_FILENO)
            }
            return try parse(bytes, argument)
        }
        guard argument.utf8.first == UInt8(ascii: "@") else { return nil }
        let bytes = try content(argument) { input throws(InputFile.Failure) in
            try input.content(of: String(argument.dropFirst()))
        }
        return try parse(bytes, argument)
    }

    /// The lines, without the white space around each and without empty ones.
    static func parse(_ bytes: [UInt8], _ argument: String) throws(UsageError) -> SignedURLInput {
        let lines = bytes.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
            .compactMap { line -> String? in
                let text = line.drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 }.reversed()
                return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
            }
        guard (1...2).contains(lines.count), lines.allSatisfy(isURL) else {
            // The text may contain a secret, so the message does not quote it.
            throw .badArgument(
                String(terminalSafe: argument),
                expected: "expected one line, a signed URL for GET, and optionally a second "
                    + "one, for HEAD"
            )
        }
        return SignedURLInput(get: lines[0], head: lines.count == 2 ? lines[1] : nil)
    }

    static func isURL(_ text: String) -> Bool {
        text.hasPrefix("https://") || text.hasPrefix("http://")
    }

    private static func content(
        _ argument: String,
        _ read: (InputFile) throws(InputFile.Failure) -> [UInt8]
    ) throws(UsageError) -> [UInt8] {
        func refusal(_ expected: String) -> UsageError {
            .badArgument(String(terminalSafe: argument), expected: expected)
        }
        do throws(InputFile.Failure) {
            return try read(InputFile(limit: longest))
        } catch {
            switch error {
            case .unreadable(let reason): throw refusal("it cannot be read: \(reason)")
            case .tooLarge:
                throw refusal("it has more than \(longest) bytes, too long for a URL")
            case .silent, .stopped: throw .interrupted
            }
        }
    }
}
