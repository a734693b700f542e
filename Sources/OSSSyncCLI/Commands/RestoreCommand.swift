internal import OSSSync

/// `osssync restore`, and `osssync undo`, which restores everything of one run.
struct RestoreCommand: Sendable {
    let context: CommandContext

    func run() async throws -> ExitCode {
        let isUndo = context.arguments.command == .undo
        let paths = isUndo ? ["."] : context.paths
        let target = context.place?.target
        if target != nil, paths.count > 1 {
            throw UsageError.badArgument(
                String(terminalSafe: paths[1]),
                expected: "with --to, only one PATH can be restored"
            )
        }
        var request = RestoreRequest(
            paths: paths,
            version: isUndo ? try runToUndo() : try version(),
            target: target,
            replaces: context.arguments.has(.force)
        )
        request.isDryRun = context.arguments.has(.dryRun)
        let report = try await restore(request, isUndo: isUndo)
        if request.version == .lastRun, !report.missing.isEmpty {
            context.complain("no run left anything in the trash")
        }
        for path in report.missing where request.version != .lastRun {
            let subject =
                isUndo
                ? "what run \(context.arguments.run ?? "") removed"
                : "'\(String(terminalSafe: path))'"
            var places = "in the trash"
            if case .at = request.version { places = "there at that time, nor in the trash" }
            context.complain("\(subject) is not \(places); 'osssync trash DIR' lists what is")
        }
        if context.output.isJSON {
            var line = EventJSON.line("restore", time: WallClock.text())
            line.add("restored", report.restored)
            line.add("bytes", report.bytes)
            line.add("unchanged", report.unchanged)
            line.add("kept", report.kept)
            line.add("failed", report.failed)
            line.add("missing", report.missing.count)
            line.add("dry_run", request.isDryRun)
            context.say(line)
        } else if !context.output.isQuiet {
            context.say((request.isDryRun ? "would have " : "") + Self.text(report))
            if isUndo, report.hasRestoredObjects, !request.isDryRun {
                context.say("'osssync pull DIR' downloads what is in the bucket again")
            }
        }
        return report.isComplete ? .success : .incomplete
    }

    /// Restores each file from the trash that has the version, here or in the bucket.
    private func restore(_ request: RestoreRequest, isUndo: Bool) async throws -> RestoreReport {
        let local = try context.localMirror()
        if !isUndo, case .at(let time) = request.version,
            let report = try await restoreVersions(request, at: time)
        {
            return report
        }
        guard try local.hasRemoteTrash() else {
            return try await local.restore(request) { say($0) }
        }
        let mirror = try context.mirror()
        if isUndo { return try await undo(request, local, mirror) }
        let options = try context.options(of: .pull)
        var report = try await mirror.restoreObjects(request, downloading: options) { say($0) }
        var rest = request
        rest.settledKeys = report.settledKeys
        var found = try await local.restore(rest) { say($0) }
        report.missing.removeAll { !found.missing.contains($0) }
        found.missing = []
        report.add(found)
        return report
    }

    /// Restores what a bucket with versions had at a time, which no trash knows as well; nil if the
    /// bucket keeps none.
    private func restoreVersions(
        _ request: RestoreRequest,
        at time: StoreTime
    ) async throws -> RestoreReport? {
        let options = try context.options(of: .pull)
        do {
            let mirror = try context.mirror()
            // Copying versions back needs one manifest; what a round deleted here is in the trash.
            if try mirror.shards() != nil { return nil }
            guard try await mirror.keepsVersions() else { return nil }
            return try await mirror.restoreVersions(request, at: time, downloading: options) {
                say($0)
            }
        } catch let error as SyncError where error.code != .cancelled {
            context.complain(
                "whether the bucket has versions of then is not known; with --run N instead of "
                    + "--at, only the trash is searched"
            )
            throw error
        }
    }

    /// Restores what one run removed, on both sides.
    private func undo(
        _ request: RestoreRequest,
        _ local: LocalMirror,
        _ mirror: DirectoryMirror
    ) async throws -> RestoreReport {
        var request = request
        if request.version == .lastRun {
            let here = try await local.lastRunInTrash()
            let there = try await mirror.lastRunInRemoteTrash()
            if let last = [here, there].compactMap({ $0 }).max(by: { $0 < $1 }) {
                request.version = .runOf(number: last.number, began: last.time)
            }
        }
        var report = try await local.restore(request) { say($0) }
        report.missing = []
        let isFound = report != RestoreReport()
        var found = try await mirror.restoreObjects(request, downloading: nil) { say($0) }
        if isFound { found.missing = [] }
        report.add(found)
        return report
    }

    private func runToUndo() throws -> TrashVersion {
        guard let text = context.arguments.run else { return .lastRun }
        guard let number = parseCount(text, in: 1...Int.max) else {
            throw UsageError.badArgument(
                String(terminalSafe: text),
                expected: "RUN is the number of a run, as 'osssync log DIR' shows it"
            )
        }
        return .run(Int64(number))
    }

    private func version() throws -> TrashVersion {
        let run = try context.arguments.given(
            .run,
            expected: "expected the number of a run, as 'osssync trash' shows it",
            parse: { parseCount($0, in: 1...Int.max) }
        )
        let time = try context.arguments.given(
            .at,
            expected: "expected a time, such as 2026-01-31, 2026-01-31T20:15:00Z or '3d ago'",
            parse: { parseTime($0, now: WallClock.now().seconds) }
        )
        if let time, time > WallClock.now().seconds {
            throw UsageError.badValue(
                option: "--at",
                value: String(terminalSafe: context.arguments.values[.at] ?? ""),
                expected: RunOptions.future
            )
        }
        switch (run, time) {
        case (nil, nil): return .latest
        case (let run?, nil): return .run(Int64(run))
        case (nil, let time?): return .at(StoreTime(secondsSince1970: time))
        case (.some, .some): throw UsageError.contradiction("--run", "--at")
        }
    }

    static func text(_ report: RestoreReport) -> String {
        let files = countText(report.restored, "file", "files")
        var parts = ["restored \(files) (\(sizeText(report.bytes)))"]
        if report.unchanged > 0 { parts.append("\(report.unchanged) unchanged") }
        if report.kept > 0 { parts.append("\(report.kept) kept") }
        if report.failed > 0 { parts.append("\(report.failed) failed") }
        return parts.joined(separator: ", ")
    }

    private func say(_ file: RestoredFile) {
        let isDryRun = context.arguments.has(.dryRun)
        if context.output.isJSON {
            var line = EventJSON.line("restored", time: WallClock.text())
            line.add(key: file.key, shown: file.displayKey)
            line.add("path", file.target)
            line.add("size", file.size)
            if let run = file.run { line.add("run", run) }
            line.add("state", file.state.rawValue)
            line.add("reason", ifPresent: file.message)
            line.add("remote", file.isRemote)
            context.say(line)
            return
        }
        switch file.state {
        case .restored, .replaced, .unchanged:
            guard !context.output.isQuiet else { return }
            let name =
                file.displayKey == file.displayTarget
                ? file.displayKey : "\(file.displayKey) to \(file.displayTarget)"
            let place = file.isRemote ? " (in the bucket)" : ""
            context.say("\(isDryRun ? "would be " : "")\(file.state.rawValue) \(name)\(place)")
        case .kept, .failed:
            let state = (isDryRun ? "would be " : "") + file.state.rawValue
            context.complain("\(state) \(file.displayTarget): \(file.message ?? "")")
        @unknown default:
            context.complain("\(file.state.rawValue) \(file.displayTarget): \(file.message ?? "")")
        }
    }
}
