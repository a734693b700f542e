internal import CLibrary
internal import OSSSync

/// A file to which a run appends lines, each with its time.
final class LogFile: Sendable {
    private let path: String
    private let stream: OutputStream

    /// Takes an open file.
    init(adopting descriptor: Int32, path: String) {
        self.path = path
        stream = OutputStream(descriptor: descriptor)
    }

    /// Opens the file, and makes it if it is missing, for its user only: it names files.
    convenience init(path: String) throws(UsageError) {
        func refusal(_ reason: String) -> UsageError {
            .badValue(.logFile, path, reason)
        }
        var status = stat()
        // Opening some devices does something already, or waits for a reader.
        if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw refusal("it is not a regular file; specify one, or one that does not exist")
        }
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_CLOEXEC
        let descriptor = unsafe open(path, flags, mode_t(0o600))
        guard descriptor >= 0 else {
            throw refusal("it cannot be opened for writing: \(systemErrorText())")
        }
        self.init(adopting: descriptor, path: path)
    }

    deinit { _ = close(stream.descriptor) }

    /// True if `other` leads to the same file.
    func isSame(as other: String) -> Bool {
        var (mine, its) = (stat(), stat())
        guard unsafe fstat(stream.descriptor, &mine) == 0, unsafe stat(other, &its) == 0 else {
            return false
        }
        return mine.st_dev == its.st_dev && mine.st_ino == its.st_ino
    }

    /// As messages show it.
    var shown: String { "'\(String(terminalSafe: path))'" }

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
        // Each line has its time already.
        screen.time = { "" }
        screen.canDraw = false
        return screen
    }
}

/// What the last system call of this thread that failed says.
func systemErrorText() -> String { unsafe String(cString: strerror(errno)) }
