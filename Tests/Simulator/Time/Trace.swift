/// What a simulation did, as one number: two runs of a seed must give the same.
///
/// With lines kept, also as text to read.
struct Trace {
    private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    private let keepsLines: Bool
    private(set) var lines: [String] = []

    /// Beyond it, the oldest lines are forgotten.
    private static let lineLimit = 1_000_000

    init(keepsLines: Bool) {
        self.keepsLines = keepsLines
    }

    mutating func note(_ number: UInt64) {
        hash = (hash ^ number) &* 0x0000_0100_0000_01B3
        hash ^= hash >> 29
    }

    mutating func note(_ text: String) {
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        guard keepsLines else { return }
        lines.append(text)
        if lines.count > Self.lineLimit { lines.removeFirst(Self.lineLimit / 2) }
    }

    /// Says something that costs to say, and is for people only.
    mutating func say(_ text: @autoclosure () -> String) {
        if keepsLines { lines.append(text()) }
    }
}
