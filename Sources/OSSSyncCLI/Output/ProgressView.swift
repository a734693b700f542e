internal import OSSSync

/// The texts of a running run: pure functions of its progress, of what was measured and of the
/// terminal's size.
///
/// Each piece has as many columns as it may ever need, so that nothing moves while figures change.
struct ProgressView: Sendable {
    /// What runs, in one word.
    var title: String
    var progress: RunProgress
    /// Over the last seconds.
    var rate: Double?
    /// Over half a minute, which one slow second does not change; nil while nothing moves.
    var steadyRate: Double?
    /// Those of `progress` that are worth a line.
    var active: [ActiveTransfer]
    /// By key; keys without a measured rate are absent.
    var activeRates: [String: Double]
    /// By key: what those wait for that do not move.
    var activeWaits: [String: String] = [:]
    /// Columns of the widest name that had a line so far.
    var nameWidth: Int
    var elapsed: Duration
    /// False for a command that has one item only.
    var showsItems = true
    /// The limits of the day; nil without any.
    var limits: TransferTime?
    /// Why requests wait; nil if they do not.
    var waiting: String?
    var paint = Paint(isOn: false)
    /// What another process shows, of which this is the view.
    var followed: LiveRun?
}

extension ProgressView {
    /// What a run of another process shows.
    init(_ live: LiveRun, nameWidth: Int = 0, paint: Paint = Paint(isOn: false)) {
        self.init(
            title: live.title,
            progress: live.progress,
            rate: live.rate.map(Double.init),
            steadyRate: live.steadyRate.map(Double.init),
            active: live.progress.active,
            activeRates: [:],
            nameWidth: nameWidth,
            elapsed: live.elapsed,
            waiting: live.waiting,
            paint: paint,
            followed: live
        )
        for transfer in active {
            activeRates[transfer.displayKey] = transfer.rate.map(Double.init)
            activeWaits[transfer.displayKey] = transfer.waiting
        }
    }

    /// What other processes are shown.
    var live: LiveRun {
        var live = LiveRun(
            title: title,
            progress: progress,
            rate: rate.map(wholeRate),
            steadyRate: steadyRate.map(wholeRate),
            remaining: remaining,
            elapsed: elapsed,
            waiting: waiting
        )
        live.progress.active = active.map { transfer in
            var transfer = transfer
            transfer.rate = activeRates[transfer.displayKey].map(wholeRate)
            transfer.waiting = activeWaits[transfer.displayKey]
            return transfer
        }
        return live
    }

    /// The bar of the whole and a line for each active transfer, none wider than `width`, in
    /// at most `height` lines.
    func bar(width: Int, height: Int) -> [String] {
        var lines = [wholeLine(width: width)]
        if let waiting, height > 1 {
            let reason = wrapped("waiting: " + waiting, to: width - 2).prefix(height - 1)
            lines += reason.map { paint.warning(fitted("  " + $0, to: width)) }
        }
        let room = max(0, height - lines.count)
        lines += activeLines(active.prefix(room), width: width)
        if active.count > room, room > 0 {
            lines[lines.count - 1] = fitted("  and \(active.count - room + 1) more", to: width)
        }
        return Array(lines.prefix(max(0, height)))
    }

    /// One line for a log.
    var plain: String {
        let texts = pieces.sorted { $0.place < $1.place }.map { $0.text.drop { $0 == " " } }
        return "\(title): "
            + (texts + (waiting.map { ["waiting: \($0)"] } ?? [])).joined(separator: ", ")
    }

    /// The seconds that are left; nil while that cannot be told: the plan is not complete, or
    /// nothing moves.
    var remaining: Duration? {
        if let followed { return followed.remaining }
        guard progress.isPlanComplete else { return nil }
        let bytes = progress.bytesPlanned - progress.bytesFinished
        guard let rest = Self.remaining(bytes, at: steadyRate) else { return nil }
        return limits?.duration(of: bytes, at: steadyRate) ?? rest
    }
}

// MARK: - The whole

extension ProgressView {
    /// One figure of the line of the whole.
    private struct Piece {
        /// Its place in the line; the order of the pieces is that of their importance.
        var place: Int
        var text: String
        /// The columns it may need.
        var width = 0
        var isNumber = false
        var isFailure = false
    }

    private func wholeLine(width: Int) -> String {
        let head = title + "  "
        var left = pieces
        func needed() -> Int {
            left.reduce(head.count - 2) { $0 + max($1.width, displayWidth($1.text)) + 2 }
        }
        while left.count > 1, needed() > width { left.removeLast() }
        let marked = min(30, width - needed() - 4)
        var texts = left.sorted { $0.place < $1.place }.map { piece in
            let text = padded(piece.text, to: piece.width, isNumber: piece.isNumber)
            return piece.isFailure ? paint.failure(text) : text
        }
        if marked >= 5 { texts.insert("[" + marks(marked) + "]", at: 0) }
        let line = head + texts.joined(separator: "  ")
        return needed() > width ? fitted(head + left[0].text, to: width) : line
    }

    private func marks(_ count: Int) -> String {
        let done = fraction.map { Int(($0 * Double(count)).rounded(.down)) } ?? 0
        return String(repeating: "#", count: done) + String(repeating: "-", count: count - done)
    }

    /// From 0 to 1 by bytes, by items where no bytes are to move; nil while nothing is planned.
    var fraction: Double? {
        let expected = expectedBytes ?? progress.bytesPlanned
        if expected > 0 { return bounded(Double(progress.bytesFinished) / Double(expected)) }
        guard progress.itemsPlanned > 0 else { return progress.isPlanComplete ? 1 : nil }
        return bounded(Double(progress.itemsFinished) / Double(progress.itemsPlanned))
    }

    /// What there will be to move, by the share of the recorded keys that the plan has passed; nil
    /// where that says nothing.
    private var expectedBytes: Int64? {
        guard !progress.isPlanComplete, progress.keysCompared > 0,
            progress.keysRecorded > progress.keysCompared
        else { return nil }
        let share = Double(progress.keysRecorded) / Double(progress.keysCompared)
        return Int64(min(Double(progress.bytesPlanned) * share, 9e15))
    }

    private func bounded(_ value: Double) -> Double { min(1, max(0, value)) }

    /// The most important first.
    private var pieces: [Piece] {
        let isComplete = progress.isPlanComplete
        let more = isComplete ? "" : "+"
        var result: [Piece] = []
        if isComplete, let fraction {
            result.append(Piece(place: 0, text: percentText(fraction), width: 4, isNumber: true))
        }
        if progress.failed > 0 {
            result.append(Piece(place: 5, text: "\(progress.failed) failed", isFailure: true))
        }
        let hasBytes = progress.bytesPlanned > 0
        if hasBytes || !isComplete { result.append(remainingPiece) }
        if showsItems {
            let total = "\(progress.itemsPlanned)\(more) items"
            let done = padded("\(progress.itemsFinished)", to: total.count - 6, isNumber: true)
            result.append(Piece(place: 4, text: done + "/" + total))
            if !isComplete, progress.keysCompared > 0 {
                let of =
                    progress.keysRecorded > progress.keysCompared
                    ? "/~\(progress.keysRecorded)" : ""
                result.append(Piece(place: 7, text: "\(progress.keysCompared)\(of) compared"))
            }
        }
        if let rate {
            result.append(Piece(place: 2, text: rateText(rate), width: 10, isNumber: true))
        }
        if hasBytes || !isComplete {
            let total =
                expectedBytes.map { "~" + sizeText($0) }
                ?? sizeText(progress.bytesPlanned) + more
            let text = padded(sizeText(progress.bytesFinished), to: 8, isNumber: true)
            result.append(Piece(place: 1, text: text + " of " + total, width: 21))
        }
        if progress.bytesResumed > 0 {
            result.append(Piece(place: 6, text: "\(sizeText(progress.bytesResumed)) resumed"))
        }
        result.append(Piece(place: 8, text: clockText(elapsed) + " elapsed"))
        return result
    }

    private var remainingPiece: Piece {
        Piece(place: 3, text: "ETA " + (remaining.map(clockText) ?? "--"), width: 12)
    }

    private static func remaining(_ bytes: Int64, at rate: Double?) -> Duration? {
        guard bytes > 0, let rate, rate >= 1 else { return nil }
        return .seconds(Int64(min(Double(bytes) / rate, 9e9).rounded(.up)))
    }

    private func percentText(_ fraction: Double) -> String {
        // Rounded down: 100 % means done.
        "\(Int((fraction * 100).rounded(.down)))%"
    }
}

// MARK: - One transfer

extension ProgressView {
    /// Columns that a name has at least before a figure is left out for its sake.
    private static let leastNameWidth = 14

    /// What is known of one transfer: `45% of 12.0 MiB, 3.0 MiB/s, ETA 0:07`.
    static func text(of transfer: ActiveTransfer) -> String {
        let done = transfer.size > 0 ? transfer.bytesFinished * 100 / transfer.size : 0
        var parts = ["\(done)% of \(sizeText(transfer.size))"]
        if transfer.size > 0, transfer.bytesFinished >= transfer.size {
            return parts[0] + ", " + (transfer.waiting ?? "finishing")
        }
        let rate = transfer.rate.map(Double.init)
        parts += rate.map { [rateText($0)] } ?? []
        let left = remaining(transfer.size - transfer.bytesFinished, at: rate)
        parts.append(transfer.waiting ?? "ETA " + (left.map(clockText) ?? "--"))
        return parts.joined(separator: ", ")
    }

    /// Columns of the arrow, and of the figures, the most important first.
    private static let (arrowWidth, figureWidths) = (4, [4, 12, 10, 8])

    private func activeLines(_ shown: ArraySlice<ActiveTransfer>, width: Int) -> [String] {
        let name = min(nameWidth, Self.leastNameWidth)
        var count = Self.figureWidths.count
        func needed() -> Int {
            Self.figureWidths.prefix(count).reduce(Self.arrowWidth) { $0 + $1 + 2 }
        }
        while count > 1, needed() + name > width { count -= 1 }
        let room = min(nameWidth, width - needed())
        guard room >= 4 else {
            return shown.map { fitted($0.action.arrow + $0.displayKey, to: width) }
        }
        let names = distinctNames(shown.map(\.displayKey), width: room)
        return zip(shown, names).map { transfer, name in
            let head = transfer.action.arrow + padded(name, to: room)
            return ([head] + figures(transfer, count)).joined(separator: "  ")
        }
    }

    /// The figures of one transfer, in the order of their places; `count` of them.
    private func figures(_ transfer: ActiveTransfer, _ count: Int) -> [String] {
        let fraction =
            transfer.size > 0 ? bounded(Double(transfer.bytesFinished) / Double(transfer.size)) : 0
        let rate = activeRates[transfer.displayKey]
        let isWhole = transfer.size > 0 && transfer.bytesFinished >= transfer.size
        let left = Self.remaining(transfer.size - transfer.bytesFinished, at: rate)
        // An upload waits for its answer with all its bytes sent.
        let state = activeWaits[transfer.displayKey] ?? (isWhole ? "finishing" : nil)
        let texts = [
            (place: 0, text: percentText(fraction)),
            (place: 3, text: state ?? "ETA " + (left.map(clockText) ?? "--")),
            (place: 2, text: state == nil ? rate.map(rateText) ?? "" : ""),
            (place: 1, text: sizeText(transfer.size)),
        ]
        return zip(texts, Self.figureWidths).prefix(count).sorted { $0.0.place < $1.0.place }
            .map { padded($0.0.text, to: $0.1, isNumber: $0.0.place != 3) }
    }
}

extension ItemAction {
    fileprivate var arrow: String {
        switch self {
        case .download: "  < "
        case .upload: "  > "
        default: "  = "
        }
    }
}
