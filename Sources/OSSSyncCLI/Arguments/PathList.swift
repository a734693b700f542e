internal import CLibrary
internal import OSSSync

/// The paths of `--files-from`: one a line, "#" and a space before a comment.
///
/// Names begin with "#", too: Emacs' copies, titles of songs. One with a space after it is written
/// with "./" before it.
struct PathList: Sendable, Hashable {
    /// More than a million paths; all are in memory.
    private static let longestFile = 256 << 20

    let paths: [String]

    /// Reads a file, or standard input for "-".
    init(reading path: String) throws(UsageError) {
        let content = try Self.content(of: path, option: .filesFrom)
        do throws(Problem) {
            try self.init(content)
        } catch {
            throw UsageError.badValue(.filesFrom, path, error.reason)
        }
    }

    /// All of a file that an option names, or of standard input for "-".
    static func content(
        of path: String,
        option: Option
    ) throws(UsageError) -> [UInt8] {
        func refusal(_ reason: String) -> UsageError {
            .badValue(option, path, reason)
        }
        let input = InputFile(limit: Self.longestFile)
        do throws(InputFile.Failure) {
            return path == "-"
                ? try input.content(of: STDIN_FILENO) : try input.content(of: path)
        } catch {
            switch error {
            case .unreadable(let reason): throw refusal("it cannot be read: \(reason)")
            case .tooLarge: throw refusal("it is larger than 256 MiB")
            case .silent, .stopped: throw .interrupted
            }
        }
    }

    struct Problem: Error, Hashable {
        let reason: String
    }

    /// The paths in a text.
    ///
    /// None is a problem: a run without paths would be one of all.
    init(_ text: [UInt8]) throws(Problem) {
        let comment = [UInt8]("# ".utf8)[...]
        var paths: [String] = []
        var number = 0
        for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            guard !line.isEmpty, line != comment.dropLast(), !line.starts(with: comment) else {
                continue
            }
            guard let path = String(validating: line, as: UTF8.self), !line.contains(0) else {
                throw Problem(reason: "line \(number): it is not text in UTF-8")
            }
            paths.append(path)
        }
        guard !paths.isEmpty else { throw Problem(reason: "it has no path") }
        self.paths = paths
    }
}
