internal import OSSSync

/// `12.3 MiB/s`.
func rateText(_ bytesPerSecond: Double) -> String { sizeText(wholeRate(bytesPerSecond)) + "/s" }

/// The whole bytes of a measured rate.
func wholeRate(_ bytesPerSecond: Double) -> Int64 {
    let bounded = min(max(0, bytesPerSecond), 9e15)
    return bounded.isFinite ? Int64(bounded) : 0
}

/// `0:07`, `12:34`, `1:02:03`, `3d 04h`: whole seconds, for a clock that runs.
func clockText(_ duration: Duration) -> String {
    let seconds = max(0, duration.components.seconds)
    func padded(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
    if seconds >= 86_400 { return "\(seconds / 86_400)d \(padded(seconds % 86_400 / 3_600))h" }
    let minutes = padded(seconds % 3_600 / 60)
    if seconds >= 3_600 { return "\(seconds / 3_600):\(minutes):\(padded(seconds % 60))" }
    return "\(seconds / 60):\(padded(seconds % 60))"
}

/// `0.4 s`, `59.9 s`, `12:34`: for a duration that is over.
func elapsedText(_ seconds: Double) -> String {
    guard seconds < 59.95 else { return clockText(.seconds(Int64(min(seconds, 9e15).rounded()))) }
    return decimalText(max(0, seconds), fractionDigits: 1) + " s"
}

/// `5 min`, `3 h`, `12 days`.
func roughText(_ seconds: Int64) -> String {
    switch max(0, seconds) {
    case ..<3_600: "\(max(0, seconds) / 60) min"
    case ..<172_800: "\(seconds / 3_600) h"
    default: "\(seconds / 86_400) days"
    }
}

/// `1 item`, `2 items`.
func countText(_ count: Int, _ singular: String, _ plural: String) -> String {
    "\(count) \(count == 1 ? singular : plural)"
}

/// `99.8 GiB copied in the bucket`.
func copiedText(_ bytes: Int64) -> String { "\(sizeText(bytes)) copied in the bucket" }

/// The bytes of what is transferred, and what is special about it.
func amountText(
    _ summary: RunSummary,
    _ time: String? = nil,
    isDryRun: Bool = false
) -> String {
    let isPartly = summary.bytesCopied > 0
    var parts = [sizeText(summary.bytes) + (isPartly && !isDryRun ? " sent" : "")]
    if isPartly {
        let copied = copiedText(summary.bytesCopied)
        parts.append((isDryRun ? "up to " : "") + copied)
    }
    if summary.bytesResumed > 0 { parts.append("\(sizeText(summary.bytesResumed)) resumed") }
    if summary.conflictCopies > 0 {
        parts.append(countText(summary.conflictCopies, "conflict copy", "conflict copies"))
    }
    if let time { parts.append(time) }
    return "(\(parts.joined(separator: ", ")))"
}
