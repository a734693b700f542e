/// Over what requests go, how long they may take, and how often they are tried.
package struct NetworkSettings: Sendable {
    /// How long a connection may take to be made.
    package var connectTimeout = Duration.seconds(10)
    /// The longest time in which nothing, or less than 1 KiB a second, moves.
    package var stallTimeout = Duration.seconds(30)
    package var retry = RetryPolicy(
        attempts: 8,
        base: .milliseconds(200),
        throttleBase: .seconds(1),
        cap: .seconds(30),
        retryAfterCap: .seconds(120),
        runBudget: 1_000
    )
    /// Idle connections that are kept.
    package var connectionLimit = 16
    /// A file of certificate authorities in PEM form; nil for the system's.
    package var caFile: String?
    /// Nil for none; the environment is not asked.
    package var proxy: String?
    /// What all requests together may move, both ways; nil for no limit.
    package var bandwidth: BandwidthLimit?
    package var userAgent = "osssync"

    package init() {}
}
