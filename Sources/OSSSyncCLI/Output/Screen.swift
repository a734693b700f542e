internal import OSSSync

/// Everything outside that a reporter needs; made at the entry point, fake in tests.
struct Screen: Sendable {
    /// Takes whole lines for stdout; false if they could not be written.
    var output: @Sendable (String) -> Bool
    /// Takes text for stderr; false if it could not be written.
    var errors: @Sendable (String) -> Bool
    /// True if stderr is a terminal that can move its cursor.
    var canDraw: Bool
    /// True if stdout and stderr are terminals that show colours, and the user wants them.
    var hasColors: (output: Bool, errors: Bool) = (false, false)
    /// Columns and lines of the terminal, now.
    var size: @Sendable () -> (columns: Int, lines: Int)
    /// The time of day, as JSON lines show it.
    var time: @Sendable () -> String
    /// The time since the program started.
    var monotonic: @Sendable () -> Duration
    /// What commands in messages name in place of DIR; nil to leave that.
    var directory: String?

    /// The same, for messages about that directory.
    func naming(_ directory: String?) -> Screen {
        var screen = self
        screen.directory = directory
        return screen
    }

    /// The process's own outputs and clocks.
    static func standard(_ environment: [String: String] = [:]) -> Screen {
        let start = ContinuousClock.now
        let (output, errors) = (OutputStream.standardOutput, OutputStream.standardError)
        let isDumb = environment["TERM"] == "dumb"
        let colors = !isDumb && environment["NO_COLOR", default: ""].isEmpty
        return Screen(
            output: { output.write($0) },
            errors: { errors.write($0) },
            canDraw: errors.isTerminal && !isDumb,
            hasColors: (output.isTerminal && colors, errors.isTerminal && colors),
            size: { errors.size },
            time: { WallClock.text() },
            monotonic: { ContinuousClock.now - start }
        )
    }
}
