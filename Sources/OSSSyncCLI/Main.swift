internal import CLibrary
internal import Dispatch
internal import OSSSync

@main
enum Main {
    static func main() async {
        StandardDescriptors.occupy()
        ThreadMemory.limit()
        let environment = ProcessEnvironment.variables()
        CrashPrivacy.begin(environment: environment)
        let invocation: Invocation
        do throws(UsageError) {
            invocation = try ArgumentParser.parse(ProcessEnvironment.arguments())
        } catch {
            complain(error.message)
            exit(ExitCode.usage.rawValue)
        }
        switch invocation {
        case .version:
            // Scripts read the first line.
            let lines = ["osssync \(OSSSyncVersion.text)"] + OSSSyncVersion.libraries
            say(lines.joined(separator: "\n") + "\n")
        case .help(let subject):
            say(HelpText(width: HelpText.width(of: .standardOutput)).text(subject))
        case .run(let arguments):
            if let problem = DescriptorLimit.raised().problem ?? ThreadLimit.tried().problem {
                complain(problem)
                exit(ExitCode.localState.rawValue)
            }
            // The one unstructured task: a signal cancels it, and it is awaited at once.
            let task = namingOptions {
                Task { await CommandRunner.run(arguments, environment: environment) }
            }
            StopSignals.install { task.cancel() }
            // Threads of libcurl may still run, and `exit` would pull their libraries from under
            // them. Nothing is buffered that it would write.
            let code = await task.value
            _exit((OutputStream.signalWithoutReader?.exitCode ?? code).rawValue)
        }
    }

    /// Writes a short text and ends the process.
    private static func say(_ text: String) -> Never {
        let isWritten = OutputStream.standardOutput.write(text)
        if let loss = OutputStream.lossOfOutput { complain(loss) }
        exit((isWritten ? ExitCode.success : .incomplete).rawValue)
    }

    private static func complain(_ message: String) {
        _ = OutputStream.standardError.write("osssync: \(message)\n")
    }
}
