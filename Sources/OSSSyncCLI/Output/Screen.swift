internal import OSSSync

/// Everything outside that a reporter needs; made at the entry point, fake in tests.
struct Screen: Sendable {
    /// Takes whole lines for stdout; false if they could not be written.
    var output: @Sendable (String) -> Bool
    /// Takes text for stderr; false if it could not be written.
    var errors: @Sendable (String) -> Bool
    /// True if stderr is a terminal that can move its cursor.
    var canDraw: Bool
    /// Columns and lines of the terminal, now.
    var size: @Sendable () -> (columns: Int, lines: Int)
    /// The time of day, as JSON lines show it.
    var time: @Sendable () -> String
    /// The time since the program started.
    var monotonic: @Sendable () -> Duration

    /// The process's own outputs and clocks.
    static func standard() -> Screen {
        let start = ContinuousClock.now
        let errors = OutputStream.standardError
        return Screen(
            output: { OutputStream.standardOutput.write($0) },
            errors: { errors.write($0) },
            canDraw: errors.isTerminal,
            size: { errors.size },
            time: { WallClock.text() },
            monotonic: { ContinuousClock.now - start }
        )
    }
}
