internal import OSSSync

/// How long transfers take with the limits of a timetable.
struct TransferTime: Sendable {
    private static let minutesPerDay = 1_440
    /// Above this part of the limit, a rate says nothing of what is possible without it.
    private static let atLimit = 0.7

    let timetable: BandwidthTimetable
    /// Minutes since midnight, local time.
    let minute: Double

    private func limit(_ minute: Int) -> Double? {
        timetable.limit(atMinute: minute % Self.minutesPerDay).map(Double.init)
    }

    /// How long the bytes take from now on, at `rate` bytes per second as measured, which is nil if
    /// nothing has moved yet; nil if it cannot be told.
    func duration(of bytes: Int64, at rate: Double?) -> Duration? {
        let first = Int(minute)
        let now = limit(first)
        let isAtLimit = now.flatMap { now in rate.map { $0 > now * Self.atLimit } } ?? false
        let possible = isAtLimit ? nil : rate
        let rates = (0..<Self.minutesPerDay).map { offset -> Double? in
            let limit = limit(first + offset)
            if limit == now, let rate { return rate }
            return [limit, possible].compactMap(\.self).min() ?? rate
        }
        let amounts = rates.compactMap { $0.map { $0 * 60 } }
        let day = amounts.reduce(0, +)
        guard amounts.count == rates.count, day >= 1 else { return nil }
        let wholeDays = (Double(bytes) / day).rounded(.down)
        var left = Double(bytes) - wholeDays * day
        // Of the first minute, some has passed.
        var minutes = wholeDays * Double(Self.minutesPerDay)
        var share = 1 - (minute - Double(first))
        for amount in amounts where left > 0 {
            let part = min(share, amount > 0 ? left / amount : share)
            minutes += part
            left -= part * amount
            share = 1
        }
        return .seconds(Int64(min(minutes * 60, 9e9).rounded(.up)))
    }

    /// `about 4 days at 2.0 MiB/s`; nil without a limit.
    func text(of bytes: Int64) -> String? {
        guard bytes > 0, let duration = duration(of: bytes, at: nil) else { return nil }
        let limits = Set((0..<Self.minutesPerDay).map(limit))
        let only = limits.count == 1 ? limits.first.flatMap(\.self) : nil
        let how = only.map { "at " + rateText($0) } ?? "by the timetable of --bwlimit"
        return "about \(roughText(max(60, duration.components.seconds))) \(how)"
    }
}

extension TransferTime {
    /// From this minute on; nil without a timetable.
    init?(_ timetable: BandwidthTimetable?) {
        guard let timetable else { return nil }
        let now = WallClock.now().seconds
        let (_, hour, minute) = WallClock.civil(now)
        self.init(timetable: timetable, minute: Double(hour * 60 + minute) + Double(now % 60) / 60)
    }
}
