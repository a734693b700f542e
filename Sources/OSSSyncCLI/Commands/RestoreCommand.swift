internal import OSSSync
internal import Synchronization

/// `osssync restore`, and `osssync undo`, which restores everything of one run.
struct RestoreCommand: Sendable {
    let context: CommandContext

    func run() async throws -> ExitCode {
        let isUndo = context.arguments.command == .undo
        let paths = isUndo ? ["."] : context.paths
        if context.arguments.has(.list) { return try await list(paths) }
        let (target, outside) = try target()
        if context.place?.target != nil, paths.count > 1 {
            throw UsageError.badArgument(
                String(terminalSafe: paths[1]),
                expected: "with --to, only one PATH can be restored"
            )
        }
        var request = RestoreRequest(
            paths: paths,
            version: isUndo ? try await runToUndo() : try version(),
            target: target,
            replaces: context.arguments.has(.force)
        )
        request.isDryRun = context.arguments.has(.dryRun)
        (request.isUndo, request.outside) = (isUndo, outside)
        request.properties = try context.options(of: .push).properties
        if isUndo, request.version == .lastRun { request.version = try await lastRun() }
        let report = try await restore(request, isUndo: isUndo)
        await explain(report.missing, request)
        if context.output.isJSON {
            context.say([
                "event": "restore",
                "restored": report.restored,
                "bytes": report.bytes,
                "unchanged": report.unchanged,
                "kept": report.kept,
                "later": report.later,
                "failed": report.failed,
                "directories": report.directories,
                "removed": report.removed,
                "missing": report.missing.count,
                "dry_run": request.isDryRun,
                "run": isUndo ? request.version.number : nil,
            ])
        } else if !context.output.isQuiet {
            if report.missing.isEmpty || report.restored > 0 {
                context.say(Self.text(report, isDryRun: request.isDryRun))
            }
            if isUndo, report.missing.isEmpty, let number = request.version.number,
                let text = Self.nothing(in: report, ofRun: number)
            {
                context.say(text)
            }
            if isUndo, report.hasRestoredObjects, !request.isDryRun {
                let isSent = try context.localMirror().refusal(of: .pull) != nil
                let text =
                    isSent
                    ? "'osssync restore --to PATH DIR NAME' downloads what is there again"
                    : "'osssync pull DIR' downloads what is in the bucket again"
                context.say(context.named(text))
            }
        }
        return report.isComplete ? .success : .incomplete
    }

    /// What --to names: a path in DIR, or one outside of it.
    ///
    /// A path without ".." is relative to DIR, as PATH is; any other leads where it leads from the
    /// current directory.
    private func target() throws(UsageError) -> (inside: String?, outside: String?) {
        guard let text = context.place?.target else { return (nil, nil) }
        let names = text.utf8.split(separator: UInt8(ascii: "/"))
        let isOfSystem =
            text.utf8.first == UInt8(ascii: "/") || names.contains { $0.elementsEqual("..".utf8) }
        guard isOfSystem else { return (text, nil) }
        guard let path = MirrorPlace.realPath(text),
            let root = MirrorPlace.realPath(try context.directory()), path != root, path != ""
        else {
            throw .badValue(.to, text, "expected a path in DIR, or one outside of it")
        }
        guard path.utf8.starts(with: (root + "/").utf8) else { return (nil, path) }
        return (String(decoding: path.utf8.dropFirst(root.utf8.count + 1), as: UTF8.self), nil)
    }

    /// Restores each file from the place that has the version.
    private func restore(_ request: RestoreRequest, isUndo: Bool) async throws -> RestoreReport {
        guard isUndo else {
            let restoration = try restoration(request)
            do throws(TransferError) {
                return try await restoration.restore(request) { say($0) }
            } catch {
                if case .at = request.version, error.code != .cancelled {
                    context.complain("with --run N instead of --at, only the trash is searched")
                }
                throw error
            }
        }
        let local = try context.localMirror()
        guard try local.trash.hasRemote() else {
            return try await local.trash.restore(request) { say($0) }
        }
        return try await undo(request, local, context.mirror())
    }

    /// Of a run only the trash is asked.
    private func restoration(_ request: RestoreRequest?) throws -> MirrorRestoration {
        let local = try context.localMirror()
        let mirror: DirectoryMirror?
        switch request?.version {
        case .at: mirror = try context.mirror()
        case .run where try !local.trash.hasRemote(): mirror = nil
        default: mirror = try mirrorIfConnected()
        }
        return MirrorRestoration(
            local,
            mirror,
            options: try context.options(of: .pull)
        ) { [context] reason in context.complain(Self.notAsked(reason)) }
    }

    private static func notAsked(_ reason: String) -> String {
        "the bucket was not asked, only the trash here: \(reason)"
    }

    /// Shows what can be restored.
    private func list(_ paths: [String]) async throws -> ExitCode {
        for other in [Option.run, .at, .to, .force] where context.arguments.has(other) {
            throw UsageError.contradiction("--list", other.name)
        }
        let count = Counter()
        try await restoration(nil).versions(of: paths) { version in
            count.add()
            return say(version)
        }
        if context.output.isJSON {
            context.say(["event": "file_versions", "count": count.value])
        } else if count.value == 0 {
            context.complain("neither the bucket nor the trash has a version of it")
        } else if !context.output.isQuiet {
            context.say(
                "\(countText(count.value, "version", "versions")); \(CommandContext.zoneText)"
            )
        }
        return count.value == 0 ? .incomplete : .success
    }

    /// False if it could not be written.
    private func say(_ version: FileVersion) -> Bool {
        if context.output.isJSON {
            return context.say([
                "event": "file_version",
                "key": JSONKey(version.key, version.displayKey),
                "size": version.size,
                "at": version.time?.text,
                "place": version.place.rawValue,
                "run": version.run,
                "version_id": version.versionID,
            ])
        }
        let size = padded(String(version.size), to: 14, isNumber: true)
        let run = padded(version.run.map { "run \($0)" } ?? "-", to: 8)
        let place = padded(version.place.rawValue, to: 12)
        let time = context.timeText(version.time)
        return context.say("\(size)  \(time)  \(place)  \(run)  \(version.displayKey)")
    }

    private final class Counter: Sendable {
        private let count = Atomic(0)
        var value: Int { count.load(ordering: .relaxed) }
        func add() { count.add(1, ordering: .relaxed) }
    }

    /// Nil where nothing says how the bucket is reached, unless its trash is needed.
    private func mirrorIfConnected() throws -> DirectoryMirror? {
        do {
            return try context.mirror()
        } catch let error as TransferError
            where [.configuration, .credentials].contains(error.code)
        {
            let needsBucket = try context.localMirror().trash.hasRemote()
            if needsBucket || context.arguments.has(.profile) { throw error }
            context.complain(Self.notAsked(error.message))
            return nil
        }
    }

    /// Restores what one run removed, on both sides.
    private func undo(
        _ request: RestoreRequest,
        _ local: LocalMirror,
        _ mirror: DirectoryMirror
    ) async throws -> RestoreReport {
        var report = try await local.trash.restore(request) { say($0) }
        var found = try await mirror.restoreObjects(request, downloading: nil) { say($0) }
        if report.missing.isEmpty { found.missing = [] }
        report.missing = []
        report.add(found)
        return report
    }

    /// The run that is meant without RUN, which is said.
    private func lastRun() async throws -> TrashVersion {
        let local = try context.localMirror().trash
        var remote: (time: StoreTime, number: Int64)?
        if try local.hasRemote() {
            let mirror = try context.mirror()
            do throws(TransferError) {
                remote = try await mirror.remoteTrash().lastRun()
            } catch {
                // The manifest knows what its own runs did there.
                guard error.code == .remoteUnreachable else { throw error }
                context.complain("the trash in the bucket was not asked: \(error.message)")
            }
        }
        guard let last = try await local.lastRun(remote: remote) else { return .lastRun }
        if !context.output.isJSON, !context.output.isQuiet {
            let time = "\(last.time.localText) (\(CommandContext.zoneText))"
            context.say("undo of run \(last.number), which began at \(time)")
        }
        return .runOf(number: last.number, began: last.time)
    }

    /// What is to be said of an undo that found nothing to put back; nil for any other.
    private static func nothing(in report: RestoreReport, ofRun number: Int64) -> String? {
        guard report.restored == 0, report.removed == 0, report.failed == 0 else { return nil }
        if report.unchanged > 0 {
            return "everything that could be restored of run \(number) was restored before"
        }
        return report.kept == 0 && report.later == 0
            ? "run \(number) did nothing that undo brings back" : nil
    }

    private func runToUndo() async throws -> TrashVersion {
        guard let text = context.arguments.run else { return .lastRun }
        guard let number = parseCount(text, in: 1...Int.max) else {
            throw UsageError.badArgument(
                String(terminalSafe: text),
                expected: "RUN is the number of a run, as 'osssync log DIR' shows it; for a path, "
                    + "'osssync restore DIR \(String(terminalSafe: text))'"
            )
        }
        // As the log has it; a cut mirror has none.
        let overview = try? await context.localMirror().overview(.runs)
        let began = overview?.runs.first { $0.number == Int64(number) }?.started
        return .run(Int64(number), since: began)
    }

    private func version() throws -> TrashVersion {
        let run = try context.arguments.value(
            of: .run,
            Reading("the number of a run, as 'osssync trash' shows it") {
                parseCount($0, in: 1...Int.max)
            }
        )
        let time = try context.arguments.value(of: .at, .moment)
        if let time, time > WallClock.now().seconds {
            let text = context.arguments.values[.at] ?? ""
            throw UsageError.badValue(.at, text, RunOptions.future)
        }
        switch (run, time) {
        case (nil, nil): return .latest
        case (let run?, nil): return .run(Int64(run))
        case (nil, let time?): return .at(StoreTime(secondsSince1970: time))
        case (.some, .some): throw UsageError.contradiction("--run", "--at")
        }
    }

    static func text(_ report: RestoreReport, isDryRun: Bool) -> String {
        let files = countText(report.restored - report.directories, "file", "files")
        let verbs = isDryRun ? ("would restore", "would remove") : ("restored", "removed")
        var parts = ["\(verbs.0) \(files) (\(sizeText(report.bytes)))"]
        if report.directories > 0 {
            parts.append(countText(report.directories, "directory", "directories"))
        }
        if report.removed > 0 {
            parts.append("\(verbs.1) \(countText(report.removed, "directory", "directories"))")
        }
        if report.unchanged > 0 { parts.append("\(report.unchanged) unchanged") }
        if report.kept > 0 { parts.append("\(report.kept) kept") }
        if report.later > 0 { parts.append("\(report.later) left out") }
        if report.failed > 0 { parts.append("\(report.failed) failed") }
        return parts.joined(separator: ", ")
    }

    /// Where a version came from.
    private static func origin(of file: RestoredFile) -> String {
        let run = file.run.map { " (run \($0))" } ?? ""
        switch file.place {
        case .bucket: return " from the bucket"
        case .trash: return " from the trash" + run
        case .bucketTrash: return " from the trash in the bucket" + run
        case .versions: return " from the versions in the bucket"
        default: return ""
        }
    }

    /// What is or would be done with a file that does not stay as it is.
    private func verb(_ state: RestoredFile.State) -> String {
        guard context.arguments.has(.dryRun) else { return state.rawValue }
        return switch state {
        case .restored: "would restore"
        case .replaced: "would replace"
        case .removed: "would remove"
        default: state.rawValue
        }
    }

    private func say(_ file: RestoredFile) {
        let isDryRun = context.arguments.has(.dryRun)
        if context.output.isJSON {
            context.say([
                "event": "restored",
                "key": JSONKey(file.key, file.displayKey),
                "path": file.target,
                "size": file.size,
                "run": file.run,
                "state": file.state.rawValue,
                "reason": file.message,
                "remote": file.isRemote,
                "place": file.place?.rawValue,
            ])
            return
        }
        switch file.state {
        case .restored, .replaced, .unchanged:
            guard !context.output.isQuiet else { return }
            let name =
                file.displayKey == file.displayTarget
                ? file.displayKey : "\(file.displayKey) to \(file.displayTarget)"
            let place = context.arguments.command == .undo ? "" : Self.origin(of: file)
            let mark = file.isRemote && place.isEmpty ? " (in the bucket)" : ""
            let fate = isDryRun ? "would go to" : "is in"
            // Outside of DIR there is none.
            let isKept = file.state == .replaced && file.target.utf8.first != UInt8(ascii: "/")
            let kept = isKept ? "; the version that was there \(fate) the trash" : ""
            context.say(
                "\(verb(file.state)) \(name)\(place)\(mark)"
                    + (context.arguments.command == .undo ? "" : kept)
            )
        case .later:
            context.complain("left out \(file.displayKey): \(file.message ?? "")")
        case .kept where isDryRun:
            context.complain("would not replace \(file.displayTarget): \(file.message ?? "")")
        case .removed:
            guard !context.output.isQuiet else { return }
            context.say("\(verb(file.state)) \(file.displayKey)")
        case .kept, .failed:
            context.complain("\(file.state.rawValue) \(file.displayTarget): \(file.message ?? "")")
        }
    }
}

extension TrashVersion {
    /// Nil if no run is meant.
    var number: Int64? {
        switch self {
        case .run(let number, _), .runOf(let number, _): number
        default: nil
        }
    }
}
