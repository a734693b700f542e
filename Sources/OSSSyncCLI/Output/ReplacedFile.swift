internal import CLibrary
internal import OSSSync

/// A file that is replaced at once, so that a reader never meets half of it.
struct ReplacedFile: Sendable {
    /// What every file of figures begins with, and so far nothing else.
    private static let beginningOfFigures = "# HELP osssync_"

    private let path: String
    private let beginning: String
    /// What tells the pages of mirrors apart; nil where nothing does.
    private var owner: String?
    private let mode: UInt32

    /// The file of `--metrics-file`, which everyone can read, because the collector is another
    /// user.
    init(metrics path: String) throws(UsageError) {
        try self.init(path, .metricsFile, Self.beginningOfFigures, mode: 0o644)
    }

    /// The page of `--html`, which has names of files: private, until its user gives it other
    /// rights, which it keeps.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - page: What is to be there.
    /// - Throws: For a file that is no such page, or the page of another mirror.
    init(page path: String, for page: RunPage) throws(UsageError) {
        try self.init(path, .html, RunPage.beginning, of: page.owner, mode: 0o600)
    }

    /// Checks that the file can be replaced, and is none of the user's.
    private init(
        _ path: String,
        _ option: Option,
        _ beginning: String,
        of owner: String? = nil,
        mode: UInt32
    ) throws(UsageError) {
        (self.path, self.beginning, self.owner, self.mode) = (path, beginning, owner, mode)
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
        let wanted = [UInt8]((beginning + (owner ?? "")).utf8)
        var bytes = [UInt8](repeating: 0, count: wanted.count)
        let count = unsafe read(file, &bytes, bytes.count)
        guard count >= 0, bytes.prefix(count).starts(with: beginning.utf8) else {
            return "it would be replaced, but its content is not from osssync; specify another "
                + "file, or delete this one"
        }
        if bytes == wanted { return nil }
        return "it is the page of another mirror, or of this one at another place; specify "
            + "another file, or delete this one"
    }

    /// As messages show it.
    var shown: String { "'\(String(terminalSafe: path))'" }

    static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Replaces the content; what went wrong, nil if nothing did.
    func replace(with text: String) -> String? {
        if let problem { return problem }
        var status = stat()
        let isThere = unsafe lstat(path, &status) == 0
        return replaceFile(path, with: text, mode: mode, keeping: isThere ? status : nil)
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

    /// Each with its name, without those that are not known.
    private var figures: [(name: String, help: String, value: String)] {
        var figures: [(name: String, help: String, value: String)] = []
        func add(_ name: String, _ value: (some CustomStringConvertible)?, _ help: String) {
            if let value { figures.append((name, help, value.description)) }
        }
        func addRun(_ name: String, _ value: some CustomStringConvertible, _ help: String) {
            add("last_run_" + name, value, help)
        }
        addRun("timestamp_seconds", ended, "When the last run ended, in seconds since 1970.")
        add(
            "last_success_timestamp_seconds",
            lastSuccess,
            "When the last complete run ended, in seconds since 1970."
        )
        addRun("exit_code", exit.rawValue, "Exit status of the last run.")
        addRun("duration_seconds", summary.seconds, "How long the last run took, in seconds.")
        addRun("transferred_files", summary.transferred, "Files that the last run transferred.")
        addRun(
            "transferred_bytes",
            summary.bytes,
            "Bytes of content that the last run transferred."
        )
        addRun("failed_items", summary.failed, "Items that failed in the last run.")
        addRun("skipped_items", summary.skipped, "Items that the last run had to skip.")
        addRun(
            "not_mirrored_items",
            summary.notMirrored,
            "Links, special files, reserved names and tagged files that no run mirrors."
        )
        addRun("conflicts", summary.conflicts, "Conflicts that the last run left or resolved.")
        addRun("deleted_files", summary.deleted, "Files and objects that the last run deleted.")
        addRun(
            "retried_requests",
            summary.retries,
            "Requests of the last run that were repeated."
        )
        addRun(
            "throttled_requests",
            summary.throttled,
            "Requests of the last run that the service refused because of their rate."
        )
        add("trash_files", trash?.files, "Files in the trash of the directory.")
        add("trash_bytes", trash?.bytes, "Bytes of the files in the trash of the directory.")
        // A run limited to paths has not counted the rest.
        let isWhole = summary.paths.isEmpty && [.success, .incomplete].contains(exit)
        add(
            "only_local_files",
            isWhole ? summary.onlyLocal : nil,
            "Files that only the directory had after the last run."
        )
        add(
            "only_remote_files",
            isWhole ? summary.onlyRemote : nil,
            "Objects that only the bucket had after the last run."
        )
        add("recorded_files", totals?.files, "Files that both sides had at the end of a run.")
        add("recorded_bytes", totals?.bytes, "Bytes of those files.")
        add(
            "damaged_files",
            totals?.damagedFiles,
            "Files that were found damaged and are not repaired."
        )
        add(
            "last_verify_timestamp_seconds",
            totals?.lastVerification?.secondsSince1970,
            "When 'osssync verify' last came to the end of all files."
        )
        // A run limited to paths has not compared the rest.
        let isInStep = exit == .success && summary.isInStep ? 1 : 0
        add(
            "in_step",
            summary.paths.isEmpty ? isInStep : nil,
            "1 if both sides were equal after the last run, else 0."
        )
        return figures
    }

    var text: String {
        let labels = [
            ("dir", directory), ("remote", remote), ("direction", summary.direction.rawValue),
        ]
        return Metrics.text(figures, labels)
    }
}

/// What a metrics file says of a verification.
struct VerifyFigures: Sendable {
    var directory: String
    var remote: String
    var exit: ExitCode
    /// Nil if it came to no end.
    var report: VerifyReport?
    var seconds: Double
    var ended: Int64
    /// What is recorded in all; nil if that is not known.
    var totals: MirrorTotals?

    private var figures: [(name: String, help: String, value: String)] {
        var figures: [(name: String, help: String, value: String)] = []
        func add(_ name: String, _ value: (some CustomStringConvertible)?, _ help: String) {
            if let value { figures.append(("verify_" + name, help, value.description)) }
        }
        add("timestamp_seconds", ended, "When verify last ended, in seconds since 1970.")
        add("exit_code", exit.rawValue, "Exit status of the last verify.")
        add("duration_seconds", seconds, "How long the last verify took, in seconds.")
        add("files", report?.verified, "Files that the last verify read.")
        add("bytes", report?.bytes, "Bytes that the last verify read.")
        add("recorded_files", totals?.files, "Files that there are to verify.")
        add("damaged_files", report?.damaged, "Damaged files that the last verify found.")
        add("repaired_files", report?.repaired, "Files that the last verify repaired.")
        add(
            "remote_damaged_objects",
            report.map { $0.remoteDamaged + $0.remoteMissing },
            "Objects that the last verify found damaged or missing."
        )
        add("failed_files", report?.failed, "Files that the last verify could not read.")
        add(
            "finished",
            report.map { $0.isFinished ? 1 : 0 },
            "0 if the budget ended the last verify before the last file, else 1."
        )
        add(
            "complete_timestamp_seconds",
            totals?.lastVerification?.secondsSince1970,
            "When verify last came to the end of all files."
        )
        return figures
    }

    var text: String { Metrics.text(figures, [("dir", directory), ("remote", remote)]) }
}

/// The text format of Prometheus.
private enum Metrics {
    static func text(
        _ figures: [(name: String, help: String, value: String)],
        _ labels: [(name: String, value: String)]
    ) -> String {
        let labels = labels.map { "\($0.name)=\"\(escaped($0.value))\"" }.joined(separator: ",")
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
