internal import OSSSync

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A file to which a run appends lines, each with its time.
final class LogFile: Sendable {
    private let path: String
    private let stream: OutputStream

    /// Opens the file, and makes it if it is missing, for its user only: it names files.
    init(path: String) throws(UsageError) {
        self.path = path
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC
        let descriptor = unsafe open(path, flags, mode_t(0o600))
        guard descriptor >= 0 else {
            throw .badValue(
                option: "--log-file",
                value: displayText(path),
                expected: "it cannot be opened for writing: \(systemErrorText())"
            )
        }
        stream = OutputStream(descriptor: descriptor)
    }

    deinit { _ = close(stream.descriptor) }

    /// As messages show it.
    var shown: String { "'\(displayText(path))'" }

    /// Appends lines; false if they could not be written.
    func append(_ text: String) -> Bool {
        let time = WallClock.text()
        let lines = text.split(separator: "\n")
        return stream.write(lines.map { "\(time) \($0)\n" }.joined())
    }

    /// Takes both outputs of a run.
    var screen: Screen {
        var screen = Screen.standard()
        screen.output = { self.append($0) }
        screen.errors = { self.append($0) }
        screen.canDraw = false
        return screen
    }
}

/// What the last system call of this thread that failed says.
func systemErrorText() -> String { unsafe String(cString: strerror(errno)) }
