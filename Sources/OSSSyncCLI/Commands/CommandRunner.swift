internal import OSSSync

/// Runs one command and says how it ended.
enum CommandRunner {
    static func run(
        _ arguments: ParsedArguments,
        environment: [String: String]
    ) async -> ExitCode {
        let context: CommandContext
        do {
            let applied = arguments.command == .apply ? try ApplyCommand(arguments) : nil
            context = try CommandContext(
                applied?.arguments ?? arguments,
                environment: environment,
                plan: applied?.plan
            )
        } catch {
            await tell(error, arguments, environment)
            return report(error, isJSON: arguments.has(.json))
        }
        do {
            defer { if let loss = OutputStream.lossOfOutput { context.complain(loss) } }
            let code = try await run(context)
            // The reader of stdout has not received all results.
            return code == .success && context.hasLostOutput ? .incomplete : code
        } catch {
            return report(error, isJSON: context.output.isJSON, context.place?.directory)
        }
    }

    /// Tells of a run that its configuration did not let begin, as far as that can be read.
    private static func tell(
        _ error: any Error,
        _ arguments: ParsedArguments,
        _ environment: [String: String]
    ) async {
        guard
            let context = try? CommandContext(
                arguments,
                environment: environment,
                skipsErrors: true
            )
        else { return }
        switch arguments.command {
        case .pull: await RunCommand(context: context, direction: .pull).tell(error)
        case .push, .watch: await RunCommand(context: context, direction: .push).tell(error)
        case .sync: await RunCommand(context: context, direction: .sync).tell(error)
        case .verify: await VerifyCommand(context: context).tell(error)
        default: break
        }
    }

    private static func run(_ context: CommandContext) async throws -> ExitCode {
        if context.arguments.has(.allMirrors) {
            return try await AllMirrors(context: context).run { try await run($0) }
        }
        return try await runOne(context)
    }

    private static func runOne(_ context: CommandContext) async throws -> ExitCode {
        switch context.arguments.command {
        case .`init`: try await InitCommand(context: context).run()
        case .pull: try await RunCommand(context: context, direction: .pull).run()
        case .push: try await RunCommand(context: context, direction: .push).run()
        case .sync: try await RunCommand(context: context, direction: .sync).run()
        case .watch: try await WatchCommand(context: context).run()
        case .shard: try await ShardCommand(context: context).run()
        case .finish: try await FinishCommand(context: context).run()
        case .status: try await StatusCommand(context: context).run()
        case .free: try await FreeCommand(context: context).run()
        case .explain: try await ExplainCommand(context: context).run()
        case .ls: try await ListCommand(context: context).run()
        case .get: try await GetCommand(context: context).run()
        case .put: try await PutCommand(context: context).run()
        case .presign: try await PresignCommand(context: context).run()
        case .uploads: try await UploadsCommand(context: context).run()
        case .cancel: try await CancelCommand(context: context).run()
        case .trash: try await TrashCommand(context: context).run()
        case .restore: try await RestoreCommand(context: context).run()
        case .undo: try await RestoreCommand(context: context).run()
        case .verify: try await VerifyCommand(context: context).run()
        case .log: try await LogCommand(context: context).run()
        case .doctor: try await DoctorCommand(context: context).run()
        case .mirrors: try await MirrorsCommand(context: context).run()
        case .schedule:
            try await ScheduleCommand(context: context, environment: context.sources.environment)
                .run()
        case .keygen: try KeygenCommand(context: context).run()
        case .completions: try await CompletionsCommand(context: context).run()
        // The first is the run of its plan.
        case .apply, .help: .success
        }
    }

    private static func report(
        _ error: any Error,
        isJSON: Bool,
        _ directory: String? = nil
    ) -> ExitCode {
        let code = ExitCode(ending: error)
        if isJSON, let error = error as? TransferError {
            let line = EventJSON.failure(error, exit: code)
            _ = OutputStream.standardOutput.write(line.line(at: WallClock.text()))
        }
        let text = namingDirectory(directory, in: EventText.failure(error))
        _ = OutputStream.standardError.write("osssync: \(text)\n")
        return code
    }
}
