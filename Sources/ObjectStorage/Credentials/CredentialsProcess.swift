internal import Synchronization

/// Credentials that a program of the user's prints.
///
/// It is started without a shell, with a clean environment, no input, and its messages discarded;
/// it has a limited time and may print 64 KiB.
package struct CredentialsProcess: CredentialsProvider {
    private let words: [String]
    private let environment: [String]
    private let timeLimit: Duration

    package let name = "the credentials process"

    package static let maximumOutput = 64 << 10
    /// What a program usually needs to run; anything else could carry secrets.
    private static let inherited = [
        "HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER", "XDG_CONFIG_HOME",
    ]

    package init(
        command: String,
        environment: [String: String],
        timeLimit: Duration
    ) throws(CredentialsError) {
        words = try commandWords(command)
        self.environment = Self.inherited.compactMap { name in
            environment[name].map { name + "=" + $0 }
        }
        self.timeLimit = timeLimit
    }

    package func credentials() async throws(CredentialsError) -> Credentials {
        let isCancelled = Cancellation()
        let result = await withTaskCancellationHandler {
            await run(isCancelled)
        } onCancel: {
            isCancelled.flag.store(true, ordering: .relaxed)
        }
        let output = try result.get()
        return try CredentialsJSON.credentials(of: output, source: "the credentials process")
    }

    private final class Cancellation: Sendable {
        let flag = Atomic(false)
    }

    /// Waits on a thread of its own: the cooperative ones must not.
    private func run(_ cancellation: Cancellation) async -> Result<[UInt8], CredentialsError> {
        let (words, environment, timeLimit) = (words, environment, timeLimit)
        return await withCheckedContinuation { continuation in
            do throws(TransportError) {
                try startThread {
                    let result = Result { () throws(CredentialsError) in
                        var child = try ChildProcess(words: words, environment: environment)
                        return try child.output(
                            timeLimit: timeLimit,
                            limit: Self.maximumOutput,
                            isCancelled: { cancellation.flag.load(ordering: .relaxed) }
                        )
                    }
                    continuation.resume(returning: result)
                }
            } catch {
                continuation.resume(
                    returning: .failure(.processFailed(reason: "was not started: no thread"))
                )
            }
        }
    }
}
