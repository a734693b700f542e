internal import Synchronization

/// Credentials that a program of the user's prints.
///
/// It is started without a shell, with what it needs of the environment and no input; it has a
/// limited time and may print 64 KiB. Of its messages only the last line is kept, for an error.
package struct CredentialsProcess: CredentialsProvider {
    private let words: [String]
    private let environment: [String]
    private let timeLimit: Duration

    package let name = "the credentials process"

    package static let maximumOutput = 64 << 10
    /// What a program usually needs to run, to reach its service, and to find who is signed in;
    /// anything else could carry secrets.
    private static let inherited: Set<String> = [
        "HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER", "XDG_CONFIG_HOME",
        "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
        "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE",
        "NODE_EXTRA_CA_CERTS", "http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY",
        "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
    ]
    /// Those that are keys themselves.
    private static let keys: Set<String> = [
        "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN",
    ]

    /// True for a variable that the program gets.
    static func isInherited(_ name: String) -> Bool {
        inherited.contains(name) || name.hasPrefix("AWS_") && !keys.contains(name)
    }

    package init(
        command: String,
        environment: [String: String],
        timeLimit: Duration
    ) throws(CredentialsError) {
        words = try commandWords(command)
        self.environment = environment.filter { Self.isInherited($0.key) }
            .map { $0.key + "=" + $0.value }.sorted()
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
        return try CredentialsAnswer.credentials(of: output, source: "the credentials process")
    }

    private final class Cancellation: Sendable {
        let flag = Atomic(false)
    }

    /// What the program prints; blocks until it has ended.
    ///
    /// Without `quotesMessages`, no error has a word of what it says.
    func output(
        quotesMessages: Bool = true,
        isCancelled: () -> Bool
    ) throws(CredentialsError) -> [UInt8] {
        var child = try ChildProcess(words: words, environment: environment)
        child.quotesMessages = quotesMessages
        return try child.output(
            timeLimit: timeLimit,
            limit: Self.maximumOutput,
            isCancelled: isCancelled
        )
    }

    /// Waits on a thread of its own: the cooperative ones must not.
    private func run(_ cancellation: Cancellation) async -> Result<[UInt8], CredentialsError> {
        await withCheckedContinuation { continuation in
            do throws(TransportError) {
                try startThread {
                    let result = Result { () throws(CredentialsError) in
                        try output { cancellation.flag.load(ordering: .relaxed) }
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
