internal import OSSSync

/// What was measured of one transfer under way.
struct TransferActivity: Sendable {
    /// Without a byte for this long, it waits: from its start, and later.
    private static let (firstPatience, patience) = (Duration.seconds(2), Duration.seconds(5))

    let since: Duration
    private var meter = RateMeter()
    private var bytes: Int64?
    private var lastMove: Duration
    private var hasMoved = false
    private var retryEnd = Duration.zero

    init(since: Duration) { (self.since, lastMove) = (since, since) }

    var bytesPerSecond: Double? { meter.bytesPerSecond }

    /// Notes how far it is; while there is no connection, time does not count.
    mutating func record(_ bytes: Int64, at now: Duration, isPaused: Bool) {
        if let before = self.bytes, before != bytes { (lastMove, hasMoved) = (now, true) }
        self.bytes = bytes
        meter.note(bytes, at: now, isPaused)
    }

    /// Notes when one of its requests is repeated.
    mutating func note(retryAt time: Duration) { retryEnd = time }

    /// What it waits for, in at most 12 columns; nil while its bytes move.
    ///
    /// With `othersMove`, those of other transfers do.
    func waiting(_ transfer: ActiveTransfer, at now: Duration, othersMove: Bool) -> String? {
        let idle = now - lastMove
        if retryEnd > now, idle >= .seconds(1) { return "retry " + clockText(retryEnd - now) }
        guard idle >= (hasMoved ? Self.patience : Self.firstPatience) else { return nil }
        if transfer.size > 0, transfer.bytesFinished >= transfer.size {
            // A download is compared and published then.
            return transfer.action == .upload && idle >= Self.patience ? "no answer" : nil
        }
        return !hasMoved && othersMove ? "queued" : "waiting"
    }
}
