internal import OSSSync

/// What people read about items and summaries; keys and messages come escaped from the engine.
enum EventText {
    /// Nil if this is not said at this verbosity.
    static func item(_ item: ItemEvent, verbosity: Int) -> String? {
        let resumed =
            item.bytesResumed > 0 ? ", \(sizeText(item.bytesResumed)) resumed" : ""
        switch item.state {
        case .planned:
            let amount = size(item, resumed)
            if let name = newName(item.message) { return "would rename \(item.displayKey) \(name)" }
            return "would \(item.action.verb) \(item.displayKey)\(amount)\(reason(item))"
        case .done where item.action == .adopt || item.action == .forget:
            return verbosity >= 2 ? item.action.done(item.displayKey) : nil
        case .done where item.action == .mode:
            return verbosity >= 1 ? item.action.done(item.displayKey) : nil
        case .done:
            guard verbosity >= 1 || item.keptAs != nil else { return nil }
            if let rename = rename(item.action, item.displayKey, item.message) { return rename }
            return item.action.done(item.displayKey) + "\(size(item))\(resumed)\(reason(item))"
        case .started where item.message != nil:
            return verbosity >= 1 ? "\(item.displayKey)\(size(item))\(reason(item))" : nil
        case .started:
            return verbosity >= 2
                ? "started \(item.action.rawValue) \(item.displayKey)\(size(item))" : nil
        case .resumed:
            guard verbosity >= 1 else { return nil }
            return "resumed \(item.action.rawValue) \(item.displayKey)\(size(item))\(resumed)"
        case .skipped where item.isNeverMirrored: return verbosity >= 1 ? item.message : nil
        case .failed, .skipped: return nil
        }
    }

    /// What goes to stderr about an item: failures, conflicts and what was skipped as unsafe; nil
    /// if there is nothing to report.
    static func complaint(_ item: ItemEvent) -> String? {
        let request = item.requestID.map { " (request \($0))" } ?? ""
        let what = item.message ?? "no reason was given"
        return switch item.state {
        case .failed: "failed: \(item.action.verb) \(item.displayKey): \(what)\(request)"
        case .skipped where item.action == .conflict: "conflict: \(item.displayKey): \(what)"
        case .skipped where item.isNeverMirrored: nil
        case .skipped: "skipped: \(item.displayKey): \(what)"
        case .done where item.action == .conflict: "conflict: \(item.displayKey): \(what)"
        case .planned, .started, .resumed, .done: nil
        }
    }

    /// What an item's complaint has in common with others: all but names and numbers.
    static func kind(of item: ItemEvent) -> String {
        let parts = (item.message ?? "").split(separator: "'", omittingEmptySubsequences: false)
        let words = parts.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
        return "\(item.state) \(item.action) " + words.joined().filter { !$0.isNumber }
    }

    /// A name that a filter leaves out, and the rule.
    static func excluded(_ key: String, _ rule: String) -> String { "excluded: \(key) (\(rule))" }

    /// Why a command ended.
    static func failure(_ error: any Error) -> String {
        switch error {
        case let error as UsageError: error.message
        case let error as TransferError:
            error.message + (error.requestID.map { " (request \($0))" } ?? "")
        default: String(terminalSafe: String(describing: error))
        }
    }

    /// A run that did nothing because another one holds its directory.
    static func skipped(_ name: String, _ error: TransferError) -> String {
        "\(name) skipped: \(error.message)"
    }

    /// What failed, and when it is tried again.
    static func retry(_ retry: RetryEvent) -> String {
        let what = retry.operation + (retry.displayKey.map { " of \($0)" } ?? "") + ": "
        return (retry.isOutage ? "" : what) + waiting(retry, retry.wait / .seconds(1))
    }

    /// Why requests wait, and until when.
    static func waiting(_ retry: RetryEvent, _ seconds: Double) -> String {
        "\(retry.cause): try \(retry.attempt) of \(retry.limit) in \(elapsedText(seconds))"
    }

    private static let listedShards = 10

    /// How far a round over shards has come.
    private static func text(of shards: ShardCounts, _ summary: RunSummary) -> String {
        var text =
            "round '\(shards.round)': \(shards.complete) of "
            + countText(shards.count, "shard", "shards") + " done"
        if !shards.missing.isEmpty {
            let names = shards.missing.prefix(listedShards).map(String.init).joined(separator: ", ")
            let more = shards.missing.count > listedShards ? ", …" : ""
            text += shards.missing.count == 1 ? ", shard " : ", shards "
            text += names + more + (shards.missing.count == 1 ? " has" : " have") + " no result"
        }
        // Of a task, or of a run over all shards, the summary has said it.
        if shards.transferred > 0, summary.transferred == 0 {
            text += ", \(shards.transferred) transferred (\(sizeText(shards.bytes)))"
        }
        if shards.deletionsWaiting > 0 {
            let count = countText(shards.deletionsWaiting, "deletion waits", "deletions wait")
            text += ", \(count) for 'osssync finish'"
        }
        return text
    }

    /// What a run did.
    private static func outcome(_ summary: RunSummary) -> String {
        var done: [String] = []
        func add(_ count: Int, _ text: String) {
            if count > 0 { done.append("\(count) \(text)") }
        }
        if summary.transferred > 0 {
            done.append("\(summary.transferred) transferred \(amountText(summary))")
        }
        add(summary.deleted, "deleted")
        add(summary.renamed, "renamed")
        add(summary.adopted, "already the same")
        add(summary.modes, "permissions changed")
        add(summary.unchanged, "unchanged")
        let isStopped = summary.stopped != nil
        if done.isEmpty {
            let isHeld = isStopped || summary.deletionsHeldBack != nil
            let isOpen = isHeld || !notDone(summary).isEmpty
            let nothing = summary.bytesKept > 0 ? "nothing was completed" : "nothing was done"
            done.append(isOpen ? nothing : "nothing to do")
        }
        let ending = isStopped ? "stopped after" : "finished in"
        return "\(summary.direction.rawValue) \(ending) \(elapsedText(summary.seconds)): "
            + done.joined(separator: ", ")
    }

    /// What a run would do.
    private static func outlook(_ summary: RunSummary, _ time: String?) -> String {
        let direction = summary.direction.rawValue
        var work: [String] = []
        func add(_ verb: String, _ count: Int, _ more: String = "") {
            if count > 0 { work.append("\(verb) \(count)\(more)") }
        }
        add("transfer", summary.transferred, " \(amountText(summary, time, isDryRun: true))")
        add("delete", summary.deleted)
        add("rename", summary.renamed)
        add("change the permissions of", summary.modes)
        var rest: [String] = []
        if summary.adopted > 0 { rest.append("\(summary.adopted) already the same") }
        if summary.unchanged > 0 { rest.append("\(summary.unchanged) unchanged") }
        let beginning =
            work.isEmpty
            ? "nothing to \(direction)" : "\(direction) would " + work.joined(separator: ", ")
        return beginning + (rest.isEmpty ? "" : "; " + rest.joined(separator: ", "))
    }

    /// The lines of a summary; `time` is how long a dry run estimates.
    static func summary(
        _ summary: RunSummary,
        isDryRun: Bool,
        verbosity: Int = 0,
        time: String? = nil,
        _ paint: Paint = Paint(isOn: false)
    ) -> [String] {
        let limit = limit(summary.paths).map { " (\($0))" } ?? ""
        var lines = [(isDryRun ? outlook(summary, time) : outcome(summary)) + limit]
        if let shards = summary.shards { lines.append(text(of: shards, summary)) }
        let open = notDone(summary)
        if !open.isEmpty {
            lines.append(paint.failure("incomplete: " + open.joined(separator: ", ")))
        }
        if summary.bytesKept > 0, !summary.isComplete {
            lines.append(
                "kept \(sizeText(summary.bytesKept)) of unfinished transfers, which the next run "
                    + "resumes"
            )
        }
        if let limit = summary.reachedLimit {
            lines.append("stopped by --\(limit.rawValue); run the same command to continue")
        }
        if summary.directoryChanged {
            lines.append(
                "files disappeared while the directory was read; the next run checks "
                    + "again"
            )
        }
        if let throttling = throttling(summary) { lines.append(throttling) }
        if summary.vanished > 0 {
            let objects = countText(summary.vanished, "object", "objects")
            lines.append(
                "\(objects) disappeared from the remote during the run; the next run "
                    + "checks again"
            )
        }
        if summary.localChanges > 0 { lines.append(localChanges(summary)) }
        return lines + differences(summary, verbosity: verbosity)
    }

    /// That the service asked for fewer requests, and what that cost; nil if it did not.
    private static func throttling(_ summary: RunSummary) -> String? {
        guard summary.throttled > 0 else { return nil }
        let requests = countText(summary.throttled, "request was", "requests were")
        return "\(requests) throttled by the service (429 or 503) and waited "
            + "\(elapsedText(summary.throttledSeconds)) in all"
    }

    /// What a pull kept, and the command that replaces it.
    private static func localChanges(_ summary: RunSummary) -> String {
        let changes = countText(summary.localChanges, "local change", "local changes")
        guard summary.direction == .pull else {
            return "kept \(changes) of permissions: those of archived objects, of directories that "
                + "another user made, and of what may not be copied in the bucket are not sent"
        }
        let them = summary.localChanges == 1 ? "it" : "them"
        let path = summary.paths.count == 1 ? summary.paths.first : nil
        if let path {
            return
                "kept \(changes); 'osssync restore --force DIR \(String(terminalSafe: path))' gets "
                + "the bucket's version, and moves \(them) to the trash"
        }
        return "kept \(changes); 'osssync \(summary.direction.rawValue) --force DIR' "
            + "moves \(them) to the trash and fetches what the bucket has"
    }

    /// What was asked for and is not done, each with its number.
    private static func notDone(_ summary: RunSummary) -> [String] {
        var open: [String] = []
        if summary.failed > 0 { open.append("\(summary.failed) failed") }
        if summary.conflicts > 0 {
            open.append(countText(summary.conflicts, "conflict", "conflicts"))
        }
        if summary.skipped > 0 { open.append("\(summary.skipped) skipped") }
        if summary.damaged > 0 { open.append("\(summary.damaged) damaged") }
        if summary.interrupted > 0 { open.append("\(summary.interrupted) interrupted") }
        if summary.notTried > 0 {
            let least = summary.isPlanComplete ? "" : "at least "
            open.append("\(least)\(summary.notTried) not tried")
        }
        return open
    }

    /// Which paths a command was limited to; nil if it was not.
    static func limit(_ paths: [String]) -> String? {
        guard !paths.isEmpty else { return nil }
        let named = paths.prefix(limitNames).map { "'\(String(terminalSafe: $0))'" }.joined(
            separator: ", "
        )
        let rest = paths.count - limitNames
        return "only \(named)"
            + (rest > 0 ? " and " + countText(rest, "other path", "other paths") : "")
    }

    private static let limitNames = 3

    /// What differs and was not changed, each with the option that would change it.
    private static func differences(_ summary: RunSummary, verbosity: Int) -> [String] {
        var lines: [String] = []
        func add(_ count: Int, _ ending: (_ them: String) -> String) {
            guard count > 0 else { return }
            let what = ending(count == 1 ? "it" : "them")
            lines.append("\(countText(count, "item", "items")) \(what)")
        }
        add(summary.deletedHere) {
            "deleted here and kept in the bucket; --delete removes \($0) there"
        }
        add(summary.deletedThere) {
            "deleted in the bucket and kept here; --delete removes \($0) here"
        }
        add(summary.onlyRemote) { "only in the bucket; a pull or sync fetches \($0)" }
        add(summary.onlyLocal) { "only here; a push or sync sends \($0)" }
        // Of a run that failed, the error is what counts.
        let hasFailed = summary.stopped != nil && summary.reachedLimit == nil
        if !hasFailed, let line = notMirrored(summary, verbosity) { lines.append(line) }
        add(summary.notInPlan) { _ in "not in the plan and left" }
        if summary.excluded > 0, !hasFailed {
            let names = countText(summary.excluded, "name", "names")
            let hint = verbosity < 2 ? "; -vv shows which, and by what" : ""
            lines.append("\(names) here and in the bucket left out by filters and options\(hint)")
        }
        return lines
    }

    /// What no run mirrors, by the one kind there is, or by all that there are.
    private static func notMirrored(_ summary: RunSummary, _ verbosity: Int) -> String? {
        let count = summary.notMirrored
        guard count > 0 else { return nil }
        let verb = count == 1 ? "is" : "are"
        let kinds = NotMirroredKind.allCases.filter { summary.notMirroredKinds.contains($0) }
        let hint = verbosity < 1 ? "-v names them" : nil
        guard kinds.count == 1, let kind = kinds.first else {
            let notes = kinds.map { $0.nouns } + [hint].compactMap(\.self)
            let why = notes.isEmpty ? "" : " (" + notes.joined(separator: ", ") + ")"
            return countText(count, "item", "items") + " \(verb) not mirrored\(why)"
        }
        return countText(count, kind.noun, kind.nouns) + " \(verb) not mirrored (\(kind.remedy))"
    }

    private static func size(_ item: ItemEvent, _ more: String = "") -> String {
        switch item.action {
        case .download, .upload, .copyLocal, .copyRemote: " (\(sizeText(item.size))\(more))"
        case .deleteLocal, .deleteRemote, .adopt, .mode, .forget, .conflict, .skip: ""
        }
    }

    private static func reason(_ item: ItemEvent) -> String {
        item.message.map { ": " + $0 } ?? ""
    }
}

extension NotMirroredKind {
    fileprivate var noun: String {
        switch self {
        case .symbolicLink: "symbolic link"
        case .specialFile: "special file"
        case .reservedName: "file with a reserved name"
        case .reservedObject: "object with a reserved name"
        case .tagged: "recorded file in a tagged directory"
        case .copiedTag: "directory with a copied tag"
        }
    }

    fileprivate var nouns: String {
        switch self {
        case .symbolicLink: "symbolic links"
        case .specialFile: "special files"
        case .reservedName: "files with reserved names"
        case .reservedObject: "objects with reserved names"
        case .tagged: "recorded files in tagged directories"
        case .copiedTag: "directories with copied tags"
        }
    }

    /// The option that changes it, or that leaves it out.
    fileprivate var remedy: String {
        switch self {
        case .symbolicLink: "--links"
        case .specialFile, .reservedName, .reservedObject, .tagged, .copiedTag: "--exclude"
        }
    }
}

extension ItemAction {
    /// What was done, for the log of a run; nil for what no log has.
    var past: String? {
        switch self {
        case .download: "downloaded"
        case .upload: "uploaded"
        case .deleteLocal: "deleted here"
        case .deleteRemote: "deleted in the bucket"
        case .copyLocal: "copied here"
        case .copyRemote: "copied in the bucket"
        case .adopt: "already the same"
        case .mode: "permissions changed"
        case .forget, .conflict, .skip: nil
        }
    }

    /// The line of an item with which this was done.
    func done(_ key: String) -> String {
        switch self {
        case .download, .upload: "\(rawValue) \(key)"
        default: (past ?? rawValue) + ": \(key)"
        }
    }

    /// Continues "would …".
    var verb: String {
        switch self {
        case .download: "download"
        case .upload: "upload"
        case .deleteLocal: "delete the file"
        case .deleteRemote: "delete the object"
        case .copyLocal: "copy locally"
        case .copyRemote: "copy in the bucket"
        case .adopt: "record as the same on both sides:"
        case .mode: "carry the permissions of"
        case .forget: "forget"
        case .conflict: "report the conflict of"
        case .skip: "skip"
        }
    }
}
