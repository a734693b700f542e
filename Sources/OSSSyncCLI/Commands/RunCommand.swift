internal import OSSSync

/// `osssync pull`, `osssync push` and `osssync sync`.
struct RunCommand: Sendable {
    let context: CommandContext
    let direction: SyncDirection
    /// Takes the events for `watch`, of which this run is a part; nil for a run of its own.
    var onEvent: (@Sendable (SyncEvent) -> Void)?
    /// False for a run that deletes nothing, whatever its options say.
    var deletes = true

    func run() async throws -> ExitCode {
        // First of all, so that they are told of every failure.
        let notification: RunNotification?
        let record: RunRecording
        do {
            notification = try RunNotification(context, direction)
            record = try RunRecording(context, direction)
        } catch {
            await tell(error)
            throw error
        }
        do {
            let (code, isSkipped) = try await run(record, notification)
            if !isSkipped { await notification?.finish(code) }
            return code
        } catch {
            _ = await record.finish(ExitCode(ending: error), error)
            await notification?.finish(ExitCode(ending: error), error)
            throw error
        }
    }

    /// Tells of a run that could not begin.
    func tell(_ error: any Error) async {
        let code = ExitCode(ending: error)
        _ = await (try? RunRecording(context, direction))?.finish(code, error)
        await (try? RunNotification(context, direction))?.finish(code, error)
    }

    /// The exit status; true beside it if another run has the directory, and this one was skipped.
    private func run(
        _ record: RunRecording,
        _ notification: RunNotification?
    ) async throws -> (ExitCode, Bool) {
        var options = try RunOptions(context.arguments)
        options.paths = try context.limitedPaths()
        // The paths of a watch are what changed.
        if onEvent != nil { (options.allowsMissingPaths, options.freed) = (true, .stay) }
        if !deletes { (options.deletesKnown, options.deletesExtra) = (false, false) }
        options.plan = try context.planUse(direction, options.paths)
        options.shard = try context.shardSelection(direction)
        notification?.note(paths: options.paths)
        record.note(paths: options.paths)
        options.connectionLimit = DescriptorLimit.raised().requests(of: options.connectionLimit)
        await record.readHistory()
        do {
            let code = ExitCode(try await run(options, record, notification))
            if case .save(let path, _)? = options.plan { say(saved: path) }
            return (await record.finish(code), false)
        } catch let error as TransferError where error.code == .locked && context.skipsIfLocked {
            record.note(skipped: error)
            context.say(skipped: error, direction.rawValue)
            return (.success, true)
        }
    }

    private func run(
        _ options: RunOptions,
        _ record: RunRecording,
        _ notification: RunNotification?
    ) async throws -> RunSummary {
        if options.shard != nil { try DirectoryMirror.requireMirror(in: context.directory()) }
        let mirror = try context.mirror()
        try context.requirePlain(mirror)
        let reporter = context.reporter
        reporter.startTicking()
        defer { reporter.finish() }
        return try await mirror.run(direction, options: options) { event in
            // Linked by now, and perhaps for the first time.
            if case .started = event, !options.isDryRun { context.list(mirror) }
            reporter.handle(event)
            record.handle(event)
            notification?.handle(event)
            onEvent?(event)
        }
    }

    private func say(saved path: String) {
        if context.output.isJSON {
            context.say(["event": "plan_saved", "path": path])
        } else if !context.output.isQuiet {
            let file = String(terminalSafe: path)
            context.say("the plan is saved in '\(file)'; 'osssync apply FILE' carries it out")
        }
    }
}

extension CommandContext {
    /// True if `--if-locked skip` was given.
    var skipsIfLocked: Bool {
        arguments.values[.ifLocked].flatMap(LockChoice.init) == .skip
    }

    /// Says that another run has the directory, and this one was skipped.
    func say(skipped error: TransferError, _ name: String) {
        if output.isJSON {
            say([
                "event": "skipped",
                "direction": SyncDirection(rawValue: name) == nil ? nil : name,
                "message": error.message,
            ])
        } else if !output.isQuiet {
            complain(EventText.skipped(name, error))
        }
    }
}
