internal import OSSSync

/// Runs one command and says how it ended.
enum CommandRunner {
    static func run(
        _ arguments: ParsedArguments,
        environment: [String: String]
    ) async -> ExitCode {
        let context: CommandContext
        do throws(UsageError) {
            context = try CommandContext(arguments, environment: environment)
        } catch {
            _ = OutputStream.standardError.write("osssync: \(error.message)\n")
            return .usage
        }
        do {
            let code = try await run(context)
            // Whoever reads the results has not seen all of them.
            return code == .success && context.hasLostOutput ? .incomplete : code
        } catch let error as UsageError {
            context.complain(error.message)
            return .usage
        } catch let error as SyncError {
            return report(error, context)
        } catch {
            context.complain(displayText(String(describing: error)))
            return .localState
        }
    }

    private static func run(_ context: CommandContext) async throws -> ExitCode {
        switch context.arguments.command {
        case .`init`: try await InitCommand(context: context).run()
        case .pull: try await RunCommand(context: context, direction: .pull).run()
        case .push: try await RunCommand(context: context, direction: .push).run()
        case .sync: try await RunCommand(context: context, direction: .sync).run()
        case .status: try await StatusCommand(context: context).run()
        case .ls: try await ListCommand(context: context).run()
        case .get: try await GetCommand(context: context).run()
        case .put: try await PutCommand(context: context).run()
        case .presign: try await PresignCommand(context: context).run()
        case .uploads: try await UploadsCommand(context: context).run()
        case .cancel: try await CancelCommand(context: context).run()
        case .doctor: await DoctorCommand(context: context).run()
        case .help: .success
        }
    }

    private static func report(_ error: SyncError, _ context: CommandContext) -> ExitCode {
        let code = ExitCode(error.code, signal: StopSignals.received)
        if context.output.isJSON {
            context.say(EventJSON.failure(error, exit: code, time: WallClock.text()))
        }
        let request = error.requestID.map { " (request \($0))" } ?? ""
        context.complain(error.message + request)
        return code
    }
}
