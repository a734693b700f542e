internal import OSSSync

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Signed URLs from standard input or a file, because other users can see arguments.
///
/// The first line is signed for GET; a second one, if there is one, for HEAD.
struct SignedURLInput: Equatable {
    private static let longest = 1 << 16

    let get: String
    let head: String?

    /// Reads what `-` or `@FILE` stands for; nil for any other argument.
    static func reading(_ argument: String) throws -> SignedURLInput? {
        if argument == "-" { return try parse(content(of: STDIN_FILENO, argument), argument) }
        guard argument.utf8.first == UInt8(ascii: "@") else { return nil }
        let file = unsafe open(String(argument.dropFirst()), O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw unreadable(argument) }
        defer { _ = close(file) }
        return try parse(content(of: file, argument), argument)
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

    private static func unreadable(_ argument: String) -> UsageError {
        let reason = unsafe String(cString: strerror(errno))
        return .badArgument(
            String(terminalSafe: argument),
            expected: "it cannot be read: \(reason)"
        )
    }

    private static func content(of file: Int32, _ argument: String) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while bytes.count <= longest {
            // Ctrl-C must work while waiting for input.
            var waiting = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
            let isReady = unsafe poll(&waiting, 1, 200)
            if StopSignals.received != nil {
                throw SyncError(code: .cancelled, message: "interrupted before anything was done")
            }
            if isReady == 0 || isReady < 0 && errno == EINTR { continue }
            let count = unsafe read(file, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(argument) }
            if count == 0 { return bytes }
            bytes += buffer.prefix(count)
        }
        throw UsageError.badArgument(
            String(terminalSafe: argument),
            expected: "it has more than \(longest) bytes, too long for a URL"
        )
    }
}
