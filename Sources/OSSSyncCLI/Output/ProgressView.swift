internal import OSSSync

/// The texts of a running run: pure functions of its progress, of what was measured and of the
/// terminal's size.
struct ProgressView: Sendable {
    /// What runs, in one word.
    var title: String
    var progress: RunProgress
    var rate: Double?
    /// By key; keys without a measured rate are absent.
    var activeRates: [String: Double]
    var elapsed: Duration
    /// False for a command that has one item only.
    var showsItems = true
    /// Why requests wait; nil if they do not.
    var waiting: String?

    /// The bar of the whole and a line for each active transfer, none wider than `width`, in
    /// at most `height` lines.
    func bar(width: Int, height: Int) -> [String] {
        let active = progress.active.prefix(max(0, height - 1))
        var lines = [wholeLine(width: width)] + active.map { activeLine($0, width: width) }
        if let waiting, height > 1 {
            lines = Array(lines.prefix(height - 1))
            lines.insert(fitted("  waiting: " + waiting, to: width), at: 1)
        }
        let hidden = progress.active.count - active.count
        if hidden > 0, lines.count > 1 {
            lines[lines.count - 1] = fitted("  and \(hidden + 1) more", to: width)
        }
        return Array(lines.prefix(max(0, height)))
    }

    /// One line for a log.
    var plain: String {
        "\(title): " + (pieces + (waiting.map { ["waiting: " + $0] } ?? [])).joined(separator: ", ")
    }

    private func wholeLine(width: Int) -> String {
        let head = title + "  "
        var tail = pieces
        func text() -> String { "  " + tail.joined(separator: "  ") }
        func room() -> Int { width - head.count - text().count - 2 }
        // A bar of ten marks is worth more than the less important pieces.
        while (tail.count > 3 && room() < 10) || (tail.count > 1 && room() < 0) {
            tail.removeLast()
        }
        let marked = min(30, room())
        let bar = marked >= 5 ? "[" + marks(marked) + "]" : ""
        return fitted(head + bar + text(), to: width)
    }

    private func marks(_ count: Int) -> String {
        let done = fraction.map { Int(($0 * Double(count)).rounded(.down)) } ?? 0
        return String(repeating: "#", count: done) + String(repeating: "-", count: count - done)
    }

    /// From 0 to 1 by bytes, by items where no bytes are to move; nil while nothing is planned.
    private var fraction: Double? {
        if progress.bytesPlanned > 0 {
            return bounded(Double(progress.bytesFinished) / Double(progress.bytesPlanned))
        }
        guard progress.itemsPlanned > 0 else { return progress.isPlanComplete ? 1 : nil }
        return bounded(Double(progress.itemsFinished) / Double(progress.itemsPlanned))
    }

    private func bounded(_ value: Double) -> Double { min(1, max(0, value)) }

    /// The most important first.
    private var pieces: [String] {
        let more = progress.isPlanComplete ? "" : "+"
        var result: [String] = []
        if progress.isPlanComplete, let fraction { result.append(percentText(fraction)) }
        result.append(
            "\(sizeText(progress.bytesFinished)) of \(sizeText(progress.bytesPlanned))\(more)"
        )
        if let rate { result.append(rateText(rate)) }
        if let remaining { result.append("ETA " + clockText(remaining)) }
        if showsItems {
            result.append("\(progress.itemsFinished)/\(progress.itemsPlanned)\(more) items")
        }
        if progress.bytesResumed > 0 {
            result.append("\(sizeText(progress.bytesResumed)) resumed")
        }
        result.append(clockText(elapsed) + " elapsed")
        return result
    }

    /// Nil while the plan is not complete or nothing moves: a guess would mislead.
    private var remaining: Duration? {
        guard progress.isPlanComplete else { return nil }
        return Self.remaining(progress.bytesPlanned - progress.bytesFinished, at: rate)
    }

    private static func remaining(_ bytes: Int64, at rate: Double?) -> Duration? {
        guard bytes > 0, let rate, rate >= 1 else { return nil }
        return .seconds(Int64(min(Double(bytes) / rate, 9e9).rounded(.up)))
    }

    private func percentText(_ fraction: Double) -> String {
        // Rounded down: 100 % means done.
        "\(Int((fraction * 100).rounded(.down)))%"
    }

    private func activeLine(_ transfer: ActiveTransfer, width: Int) -> String {
        let fraction =
            transfer.size > 0 ? bounded(Double(transfer.bytesFinished) / Double(transfer.size)) : 0
        let rate = activeRates[transfer.key]
        var tail = [percentText(fraction), "of " + sizeText(transfer.size)]
        if let rate { tail.append(rateText(rate)) }
        let rest = transfer.size - transfer.bytesFinished
        if let remaining = Self.remaining(rest, at: rate) {
            tail.append("ETA " + clockText(remaining))
        }
        if transfer.bytesResumed > 0 {
            tail.append("\(sizeText(transfer.bytesResumed)) resumed")
        }
        let head = transfer.action.arrow
        var text = tail.joined(separator: "  ")
        while tail.count > 1, head.count + text.count + 14 > width {
            tail.removeLast()
            text = tail.joined(separator: "  ")
        }
        let room = width - head.count - text.count - 2
        guard room >= 4 else { return fitted(head + transfer.key, to: width) }
        let key = fitted(transfer.key, to: room)
        let gap = String(repeating: " ", count: room - displayWidth(key) + 2)
        return head + key + gap + text
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
