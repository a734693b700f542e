internal import OSSSync

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A file that is replaced at once, so that a reader never meets half of it.
struct MetricsFile: Sendable {
    private let path: String

    /// Checks that the file can be replaced.
    init(path: String) throws(UsageError) {
        self.path = path
        guard unsafe access(Self.folder(of: path), W_OK | X_OK) == 0, !isDirectory(path) else {
            let reason = isDirectory(path) ? "it is a directory" : systemErrorText()
            throw .badValue(
                option: "--metrics-file",
                value: displayText(path),
                expected: "it cannot be replaced: \(reason)"
            )
        }
    }

    /// As messages show it.
    var shown: String { "'\(displayText(path))'" }

    private static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Replaces the content; what went wrong, nil if nothing did.
    ///
    /// Everyone can read the file, because the collector is another user.
    func replace(with text: String) -> String? { replaceFile(path, with: text) }
}

/// What a metrics file says of a run.
struct RunFigures: Sendable {
    var directory: String
    var remote: String
    var summary: RunSummary
    var exit: ExitCode
    /// When the run ended, in seconds since 1970 UTC.
    var ended: Int64
    /// When the last complete run ended; nil if there is none, or it is not known.
    var lastSuccess: Int64?

    private struct Figure {
        let name: String
        let help: String
        let value: String
    }

    private var figures: [Figure] {
        var figures = [
            Figure(
                name: "last_run_timestamp_seconds",
                help: "When the last run ended, in seconds since 1970.",
                value: String(ended)
            )
        ]
        if let lastSuccess {
            figures.append(
                Figure(
                    name: "last_success_timestamp_seconds",
                    help: "When the last complete run ended, in seconds since 1970.",
                    value: String(lastSuccess)
                )
            )
        }
        return figures + [
            Figure(
                name: "last_run_exit_code",
                help: "Exit status of the last run.",
                value: String(exit.rawValue)
            ),
            Figure(
                name: "last_run_duration_seconds",
                help: "How long the last run took, in seconds.",
                value: String(summary.seconds)
            ),
            Figure(
                name: "last_run_transferred_files",
                help: "Files that the last run transferred.",
                value: String(summary.transferred)
            ),
            Figure(
                name: "last_run_transferred_bytes",
                help: "Bytes of content that the last run transferred.",
                value: String(summary.bytes)
            ),
            Figure(
                name: "last_run_failed_items",
                help: "Items that failed in the last run.",
                value: String(summary.failed)
            ),
            Figure(
                name: "last_run_deleted_files",
                help: "Files and objects that the last run deleted.",
                value: String(summary.deleted)
            ),
            Figure(
                name: "in_step",
                help: "1 if both sides were equal after the last run, else 0.",
                value: exit == .success && summary.isInStep ? "1" : "0"
            ),
        ]
    }

    /// In the text format of Prometheus.
    var text: String {
        let labels =
            "dir=\"\(Self.escaped(directory))\",remote=\"\(Self.escaped(remote))\","
            + "direction=\"\(summary.direction.rawValue)\""
        return figures.map { figure in
            let name = "osssync_" + figure.name
            return """
                # HELP \(name) \(figure.help)
                # TYPE \(name) gauge
                \(name){\(labels)} \(figure.value)

                """
        }.joined()
    }

    private static func escaped(_ label: String) -> String {
        var text = ""
        for character in label.unicodeScalars {
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }
}
