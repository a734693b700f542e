internal import OSSSync

/// `osssync mirrors`: the directories that were linked on this account.
///
/// It makes no request.
struct MirrorsCommand: Sendable {
    let context: CommandContext

    func run() async throws -> ExitCode {
        if let directory = context.arguments.values[.forget] { return try forget(directory) }
        let limit = try context.arguments.value(of: .maximumAge, .time("26h or 2d"))
        let now = WallClock.now().seconds
        var rows: [Row] = []
        for entry in context.mirrorList?.entries() ?? [] {
            rows.append(await row(entry, now))
        }
        let isOld = { (row: Row) in
            limit.map { limit in
                // What has the bucket as of a time does not change.
                guard row.time == nil else { return false }
                guard let age = row.age, !row.isInFuture else { return true }
                return age > limit.components.seconds
            } ?? false
        }
        if context.output.isJSON {
            for row in rows { context.say(row.json(isOld: limit == nil ? nil : isOld(row))) }
        } else if rows.isEmpty {
            context.say("no directory was linked on this account; 'osssync help init' shows how")
        } else {
            for line in Row.table(rows, isOld) { context.say(line) }
        }
        return rows.contains(where: isOld) ? .incomplete : .success
    }

    /// Removes all entries of a directory, with whatever state.
    private func forget(_ directory: String) throws -> ExitCode {
        if context.typed.has(.maximumAge) {
            throw UsageError.contradiction(Option.forget.name, Option.maximumAge.name)
        }
        // Of what is gone, only what was typed is known.
        let paths = [absolutePath(directory), MirrorPlace.realPath(directory)]
        let entries = (context.mirrorList?.entries() ?? []).filter { paths.contains($0.directory) }
        let shown = String(terminalSafe: directory)
        guard !entries.isEmpty else {
            throw TransferError(
                code: .notFound,
                message: "'\(shown)' is not in the list; 'osssync mirrors' shows it"
            )
        }
        for entry in entries { context.mirrorList?.remove(entry) }
        if !context.output.isJSON, !context.output.isQuiet {
            let isLinked = entries.contains {
                CommandContext.linkedRemote($0.directory, $0.stateDirectory) != nil
            }
            let rest = isLinked ? "; its next run adds it again" : ""
            context.say("forgot '\(shown)'\(rest)")
        }
        return .success
    }

    /// What is known of a mirror here.
    struct Row: Sendable {
        let entry: MirrorList.Entry
        /// In a word or two: how the last run ended, or why nothing is known.
        var state: String
        var remote: String?
        var lastSuccess: StoreTime?
        /// Seconds since then.
        var age: Int64?
        var isInFuture: Bool { lastSuccess?.isInFuture == true }
        /// The time of the bucket that the directory has; nil for the bucket as it is.
        var time: StoreTime?
        /// Whether both sides were equal after the last run of the whole mirror.
        var wasInStep: Bool?
        /// What starts runs of it.
        var timers: [ScheduleInstaller.Timer] = []

        func json(isOld: Bool?) -> JSONLine {
            [
                "event": "mirror",
                "directory": entry.directory,
                "state_directory": entry.stateDirectory,
                "remote": remote,
                "state": state,
                "last_success": lastSuccess?.text,
                "age": age,
                "in_step": wasInStep,
                "as_of": time?.text,
                "timers": timers.map { "\($0.direction.rawValue) by \($0.name)" },
                "too_old": isOld,
            ]
        }

        /// Columns, of which the last two can be long.
        static func table(_ rows: [Row], _ isOld: (Row) -> Bool) -> [String] {
            let titles = ["last run", "complete", "in step", "timer", "directory"]
            let lines = rows.map { row in
                let age = row.age.map { age in
                    (row.isInFuture ? "in the future" : roughText(max(age, 0)) + " ago")
                        + (isOld(row) ? " (old)" : "")
                }
                let timer = row.timers.map { timer in
                    timer.direction.rawValue + (timer.problem == nil ? "" : " (off)")
                }
                let state = row.entry.stateDirectory.map {
                    " (state in \(String(terminalSafe: $0)))"
                }
                let time = row.time.map { " as of " + $0.text } ?? ""
                let remote = (row.remote.map { " -> " + $0 } ?? "") + time + (state ?? "")
                return [
                    row.state, age ?? "never", row.wasInStep.map { $0 ? "yes" : "no" } ?? "-",
                    timer.isEmpty ? "none" : timer.joined(separator: ","),
                    String(terminalSafe: row.entry.directory) + remote,
                ]
            }
            let widths = titles.indices.map { column in
                ([titles] + lines).map { $0[column].count }.max() ?? 0
            }
            return ([titles] + lines).map { fields in
                fields.indices.dropLast().map { column in
                    let field = fields[column]
                    let blanks = widths[column] - field.count + 2
                    return field + String(repeating: " ", count: blanks)
                }.joined() + fields[fields.count - 1]
            }
        }
    }

    private func row(_ entry: MirrorList.Entry, _ now: Int64) async -> Row {
        var row = Row(entry: entry, state: "gone", timers: timers(entry))
        guard isDirectory(entry.directory) else { return row }
        row.remote = CommandContext.linkedRemote(entry.directory, entry.stateDirectory)
        guard row.remote != nil else {
            row.state = "not linked"
            return row
        }
        var sources = context.sources
        sources.options.stateDirectory = entry.stateDirectory
        do {
            let mirror = try DirectoryMirror(
                directory: entry.directory,
                remote: nil,
                allowsRebinding: false,
                sources: sources
            )
            let local = LocalMirror(
                directory: entry.directory,
                stateDirectory: entry.stateDirectory,
                homeDirectory: sources.homeDirectory,
                environment: SystemClocks.engine(hostName: sources.hostName)
            )
            let isSharded = try local.isSharded()
            let last = isSharded ? nil : try await mirror.history().runs(limit: 1).first
            row.state =
                last.map { $0.end?.outcome ?? ($0.isRunning ? "running" : "did not end") }
                ?? (isSharded ? "sharded" : "no run")
            row.lastSuccess = try await local.lastSuccess().values.max()
            // A run that was killed has recorded nothing of that.
            let isKnown = last.map { $0.end != nil || $0.isRunning } ?? true
            if !isSharded, isKnown { row.wasInStep = try await local.wasInStep() }
            row.time = local.recordedTime()
            row.age = row.lastSuccess.map { now - $0.secondsSince1970 }
        } catch {
            row.state = "unreadable"
            context.complain(
                "'\(String(terminalSafe: entry.directory))': \(EventText.failure(error))"
            )
        }
        return row
    }

    private func timers(_ entry: MirrorList.Entry) -> [ScheduleInstaller.Timer] {
        ScheduleFormat.allCases.flatMap { format in
            let installer = ScheduleInstaller(format, context)
            let schedules = Schedule.all(of: entry.directory, entry.stateDirectory)
            return (try? installer.timers(of: schedules)) ?? []
        }
    }
}

/// `--all`: a command on each mirror of this account, after a line with its directory.
struct AllMirrors: Sendable {
    let context: CommandContext

    /// The status: 1 if the command failed for one of them.
    func run(_ command: (CommandContext) async throws -> ExitCode) async throws -> ExitCode {
        if let directory = context.typed.positionals.first {
            throw UsageError.contradiction("--all", String(terminalSafe: directory))
        }
        if context.typed.has(.follow) { throw UsageError.contradiction("--all", "--follow") }
        var isGood = true
        for entry in context.mirrorList?.entries() ?? [] {
            let shown = String(terminalSafe: entry.directory)
            if context.output.isJSON {
                context.say(["event": "mirror", "directory": entry.directory])
            } else {
                context.say("\(shown):")
            }
            do {
                guard isDirectory(entry.directory) else {
                    throw TransferError(
                        code: .localState,
                        message: "'\(shown)' is gone; 'osssync mirrors --forget DIR' forgets it"
                    )
                }
                var typed = context.typed
                typed.counts[.allMirrors] = nil
                typed.positionals = [entry.directory]
                typed.values[.stateDirectory] = entry.stateDirectory
                let code = try await command(
                    CommandContext(typed, environment: context.sources.environment)
                )
                isGood = isGood && code == .success
            } catch let error where ExitCode(ending: error) != .interrupted {
                context.complain(EventText.failure(error))
                isGood = false
            }
        }
        return isGood ? .success : .incomplete
    }
}
