internal import Dispatch
internal import OSSSync

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

@main
enum Main {
    static func main() {
        let invocation: Invocation
        do throws(UsageError) {
            invocation = try ArgumentParser.parse(ProcessEnvironment.arguments())
        } catch {
            complain(error.message)
            exit(ExitCode.usage.rawValue)
        }
        switch invocation {
        case .version: say("osssync \(Version.text)\n")
        case .help(let name):
            say(name.flatMap(CommandTable.row).map(HelpText.command) ?? HelpText.overview())
        case .run:
            complain("this build has no commands yet")
            exit(ExitCode.usage.rawValue)
        }
    }

    /// Writes a short text and ends the process.
    private static func say(_ text: String) -> Never {
        let isWritten = OutputStream.standardOutput.write(text)
        exit((isWritten ? ExitCode.inStep : .incomplete).rawValue)
    }

    private static func complain(_ message: String) {
        _ = OutputStream.standardError.write("osssync: \(message)\n")
    }
}
