/// The bytes that draw a block of lines over the one drawn before.
enum BarFrame {
    /// Draws `lines` where the last `previous` lines are.
    static func draw(_ lines: [String], over previous: Int) -> String {
        // Each line is overwritten and only its rest cleared, so that nothing flickers.
        up(previous) + lines.map { $0 + "\u{1B}[K\n" }.joined()
            + (lines.count < previous ? "\u{1B}[J" : "")
    }

    /// Removes the last `previous` lines.
    static func erase(_ previous: Int) -> String {
        previous > 0 ? up(previous) + "\u{1B}[J" : ""
    }

    private static func up(_ lines: Int) -> String {
        lines > 0 ? "\r\u{1B}[\(lines)A" : ""
    }
}
