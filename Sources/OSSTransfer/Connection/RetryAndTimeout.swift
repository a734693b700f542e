package import ObjectStorage

/// How long and how often a request is tried.
package struct RetryAndTimeout: Sendable {
    /// The longest time in which nothing, or next to nothing, moves.
    package var timeout = Duration.seconds(30)
    package var retry = RetryPolicy(
        attempts: 8,
        base: .milliseconds(200),
        throttleBase: .seconds(1),
        cap: .seconds(30),
        retryAfterCap: .seconds(120),
        runBudget: 1_000
    )

    private var longestConnecting = Duration.seconds(10)

    /// No connection takes as long as a slow answer may.
    var connectTimeout: Duration { min(timeout, longestConnecting) }

    package init() {}

    init(_ settings: ConnectionSettings) {
        timeout = settings.stallTimeout
        longestConnecting = settings.connectTimeout
        retry.attempts = settings.retries + 1
        retry.cap = settings.longestRetryPause
    }
}
