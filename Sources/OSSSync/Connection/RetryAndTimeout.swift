internal import ObjectStorage

/// How long and how often a request is tried.
struct RetryAndTimeout: Sendable {
    /// The longest time in which nothing, or next to nothing, moves.
    var timeout = Duration.seconds(30)
    var retry = RetryPolicy(
        attempts: 8,
        base: .milliseconds(200),
        throttleBase: .seconds(1),
        cap: .seconds(30),
        retryAfterCap: .seconds(120),
        runBudget: 1_000
    )

    /// Attempts while a user waits for the first response.
    private static let hastyAttempts = 3

    private var longestConnecting = Duration.seconds(10)

    /// No connection takes as long as a slow answer may.
    var connectTimeout: Duration { min(timeout, longestConnecting) }

    init(_ options: ConnectionOptions) {
        if let given = options.timeout { timeout = given }
        if let retries = options.retries { retry.attempts = retries + 1 }
        if options.givesUpSoon { retry.firstAttempts = Self.hastyAttempts }
        if let longest = options.retryWait {
            retry.cap = longest
            retry.retryAfterCap = longest
        }
    }

    init(_ settings: ConnectionSettings) {
        timeout = settings.stallTimeout
        longestConnecting = settings.connectTimeout
        retry.attempts = settings.retries + 1
        retry.cap = settings.longestRetryPause
    }
}
