/// How fast bytes arrive, over the last seconds.
///
/// A value: the caller gives the time, so that tests need none.
struct RateMeter: Sendable {
    private let window: Duration
    /// At most one sample for each quarter of a second of the window.
    private static let spacing = Duration.milliseconds(250)

    private var samples: [(time: Duration, bytes: Int64)] = []
    /// All the time that does not count.
    private var paused = Duration.zero

    /// Measures over the last 8 seconds, or another time.
    init(over window: Duration = .seconds(8)) {
        self.window = window
    }

    /// Notes that `bytes` were there in all at `time`; time does not run backwards.
    ///
    /// A smaller number than before starts the measurement over: a transfer began again.
    mutating func record(bytes: Int64, at time: Duration) {
        let time = time - paused
        if let last = samples.last, bytes < last.bytes { samples = [] }
        if samples.count > 1, time - samples[samples.count - 2].time < Self.spacing {
            samples[samples.count - 1] = (time, bytes)
        } else {
            samples.append((time, bytes))
        }
        while samples.count > 2, time - samples[1].time >= window { samples.removeFirst() }
    }

    /// Notes that nothing can move at `time`: what passed since the last byte does not count.
    mutating func pause(at time: Duration) {
        while samples.count > 1, samples[samples.count - 2].bytes == samples.last?.bytes {
            samples.removeLast()
        }
        if let last = samples.last { paused = time - last.time }
    }

    /// As ``record(bytes:at:)``, or ``pause(at:)``.
    mutating func note(_ bytes: Int64, at time: Duration, _ isPaused: Bool) {
        if isPaused { pause(at: time) } else { record(bytes: bytes, at: time) }
    }

    /// Nil until there is something to measure.
    var bytesPerSecond: Double? {
        guard let first = samples.first, let last = samples.last, last.time > first.time else {
            return nil
        }
        return Double(last.bytes - first.bytes) / ((last.time - first.time) / .seconds(1))
    }
}
