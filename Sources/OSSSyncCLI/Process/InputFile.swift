internal import CLibrary

/// Reads whole what an option or an argument names: a file, a pipe or standard input.
///
/// A pipe may have no writer yet, or a silent one. Ctrl-C and `kill` must work until it has, so
/// that every wait here ends soon after the first stop signal.
struct InputFile {
    enum Failure: Error, Hashable {
        case unreadable(String)
        /// Larger than ``InputFile/limit``.
        case tooLarge
        /// Nothing came for ``InputFile/patience``.
        case silent
        /// A stop signal came first.
        case stopped
    }

    private static let step: Int32 = 200

    /// Bytes.
    let limit: Int
    /// How long a pipe may be silent; nil for as long as the user likes to wait.
    var patience: Duration?

    func content(of path: String) throws(Failure) -> [UInt8] {
        // Otherwise, opening a FIFO waits for a writer, whatever signals come.
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { throw .unreadable(systemErrorText()) }
        defer { _ = close(file) }
        return try content(of: file)
    }

    func content(of file: Int32) throws(Failure) -> [UInt8] {
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            try waitForInput(file)
            let count = unsafe read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count >= 0 else { throw .unreadable(systemErrorText()) }
            if count == 0 { return content }
            content += buffer.prefix(count)
            guard content.count <= limit else { throw .tooLarge }
        }
    }

    private func waitForInput(_ file: Int32) throws(Failure) {
        let start = ContinuousClock.now
        while true {
            var waiting = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&waiting, 1, Self.step)
            guard StopSignals.received == nil else { throw .stopped }
            if ready > 0 { return }
            if ready < 0, errno != EINTR { throw .unreadable(systemErrorText()) }
            if let patience, ContinuousClock.now - start >= patience { throw .silent }
        }
    }
}
