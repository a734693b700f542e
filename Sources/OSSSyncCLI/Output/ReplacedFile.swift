internal import OSSSync

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A file that is replaced at once, so that a reader never meets half of it.
struct ReplacedFile: Sendable {
    /// What every file of figures begins with, and so far nothing else.
    private static let beginningOfFigures = "# HELP osssync_"

    private let path: String
    private let beginning: String
    private let mode: UInt32

    /// The file of `--metrics-file`, which everyone can read, because the collector is another
    /// user.
    init(metrics path: String) throws(UsageError) {
        try self.init(path, .metricsFile, Self.beginningOfFigures, mode: 0o644)
    }

    /// The page of `log --html`, which has names of files.
    init(page path: String) throws(UsageError) {
        try self.init(path, .html, HTMLLog.beginning, mode: 0o600)
    }

    /// Checks that the file can be replaced, and is none of the user's.
    private init(
        _ path: String,
        _ option: Option,
        _ beginning: String,
        mode: UInt32
    ) throws(UsageError) {
        (self.path, self.beginning, self.mode) = (path, beginning, mode)
        if let problem {
            throw .badValue(option, path, problem)
        }
    }

    /// Why it must not be replaced; nil if it can.
    private var problem: String? {
        guard unsafe access(Self.folder(of: path), W_OK | X_OK) == 0 else {
            return "it cannot be replaced: \(systemErrorText())"
        }
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            return errno == ENOENT ? nil : "it cannot be replaced: \(systemErrorText())"
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: return "it is a directory; specify a file"
        case S_IFLNK: return "it is a symbolic link, which would be replaced; specify a file"
        default: return "it is a special file, which would be replaced; specify a regular one"
        }
        if status.st_size == 0 { return nil }
        let file = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return "it cannot be read: \(systemErrorText())" }
        defer { _ = close(file) }
        var bytes = [UInt8](repeating: 0, count: beginning.utf8.count)
        let count = unsafe read(file, &bytes, bytes.count)
        if count == bytes.count, bytes.elementsEqual(beginning.utf8) { return nil }
        return "it would be replaced, but its content is not from osssync; specify another "
            + "file, or delete this one"
    }

    /// As messages show it.
    var shown: String { "'\(String(terminalSafe: path))'" }

    private static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Replaces the content; what went wrong, nil if nothing did.
    func replace(with text: String) -> String? {
        problem ?? replaceFile(path, with: text, mode: mode)
    }
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
    /// What is in the trash here; nil if that is not known.
    var trash: TrashReport?
    /// What is recorded in all; nil if that is not known.
    var totals: MirrorTotals?

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
        figures += [
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
                name: "last_run_skipped_items",
                help: "Items that the last run had to skip.",
                value: String(summary.skipped)
            ),
            Figure(
                name: "last_run_not_mirrored_items",
                help: "Links, special files, reserved names and tagged files that no run mirrors.",
                value: String(summary.notMirrored)
            ),
            Figure(
                name: "last_run_deleted_files",
                help: "Files and objects that the last run deleted.",
                value: String(summary.deleted)
            ),
            Figure(
                name: "last_run_retried_requests",
                help: "Requests of the last run that were repeated.",
                value: String(summary.retries)
            ),
            Figure(
                name: "last_run_throttled_requests",
                help: "Requests of the last run that the service refused because of their rate.",
                value: String(summary.throttled)
            ),
        ]
        if let trash {
            figures += [
                Figure(
                    name: "trash_files",
                    help: "Files in the trash of the directory.",
                    value: String(trash.files)
                ),
                Figure(
                    name: "trash_bytes",
                    help: "Bytes of the files in the trash of the directory.",
                    value: String(trash.bytes)
                ),
            ]
        }
        if let totals { figures += Self.figures(totals) }
        // A run limited to paths has not compared the rest.
        if summary.paths.isEmpty {
            figures.append(
                Figure(
                    name: "in_step",
                    help: "1 if both sides were equal after the last run, else 0.",
                    value: exit == .success && summary.isInStep ? "1" : "0"
                )
            )
        }
        return figures
    }

    private static func figures(_ totals: MirrorTotals) -> [Figure] {
        var figures = [
            Figure(
                name: "recorded_files",
                help: "Files that both sides had at the end of a run.",
                value: String(totals.files)
            ),
            Figure(
                name: "recorded_bytes",
                help: "Bytes of those files.",
                value: String(totals.bytes)
            ),
            Figure(
                name: "damaged_files",
                help: "Files that were found damaged and are not repaired.",
                value: String(totals.damagedFiles)
            ),
        ]
        if let time = totals.lastVerification?.secondsSince1970 {
            figures.append(
                Figure(
                    name: "last_verify_timestamp_seconds",
                    help: "When 'osssync verify' last came to the end of all files.",
                    value: String(time)
                )
            )
        }
        return figures
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
