/// How fast a transfer of a manager moves, by its last seconds.
struct TransferPace: Sendable {
    /// The time over which it is measured.
    private static let span = Duration.seconds(5)
    /// The time between two notes; what less time says is chance.
    private static let step = Duration.milliseconds(500)

    /// What had moved by when.
    private var notes: [(time: Duration, moved: Int64)] = []

    /// Notes how many bytes have moved in all.
    mutating func note(_ moved: Int64, at time: Duration) {
        if let last = notes.last, time - last.time < Self.step { return }
        notes.removeAll { time - $0.time > Self.span }
        notes.append((time, moved))
    }

    /// Bytes a second; nil if that cannot be said yet.
    func bytesPerSecond(_ moved: Int64, at time: Duration) -> Int64? {
        guard let first = notes.first(where: { time - $0.time <= Self.span }) ?? notes.last,
            time - first.time >= Self.step
        else { return nil }
        return Int64(Double(moved - first.moved) / ((time - first.time) / .seconds(1)))
    }
}
