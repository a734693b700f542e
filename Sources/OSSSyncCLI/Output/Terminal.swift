internal import CLibrary
internal import Synchronization

/// One of the two standard outputs.
struct OutputStream: Sendable {
    let descriptor: Int32

    static let standardOutput = OutputStream(descriptor: 1)
    static let standardError = OutputStream(descriptor: 2)

    /// Why standard output did not take something first; 0 if it took all.
    private static let firstError = Atomic<Int32>(0)
    /// The outputs whose readers were given up because they do not read, a bit for each.
    private static let givenUp = Atomic<Int32>(0)

    /// Why results are missing on standard output; nil if none is, or if the reader of a pipe has
    /// gone, which wants to hear nothing.
    static var lossOfOutput: String? {
        let code = firstError.load(ordering: .relaxed)
        guard code != 0, code != EPIPE else { return nil }
        let reason = unsafe String(cString: strerror(code))
        return "standard output cannot be written: \(reason); the output is not complete"
    }

    /// The signal on which a reader was given up that did not read; nil if none was.
    static var signalWithoutReader: StopSignal? {
        givenUp.load(ordering: .relaxed) == 0 ? nil : StopSignals.received
    }

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// What a pipe takes without blocking once it is ready for anything.
    private static let pipeBlock = 4_096
    /// How often, and how many times after a signal to stop, a reader that does not read is waited
    /// for, in milliseconds.
    private static let patience: (interval: Int32, times: Int) = (100, 5)

    /// Writes all of it; false if the reader is gone, or does not read and the program is to stop,
    /// or if the disk is full.
    func write(_ text: String) -> Bool {
        var text = text
        let isPipe = isPipe
        return text.withUTF8 { bytes in
            var offset = 0
            while offset < bytes.count {
                let end = isPipe ? min(bytes.count, offset + Self.pipeBlock) : bytes.count
                let rest = unsafe UnsafeRawBufferPointer(
                    rebasing: UnsafeRawBufferPointer(bytes)[offset..<end]
                )
                let count = isPipe && !isReady() ? -1 : unsafe sendSome(rest)
                guard count > 0 else {
                    if descriptor == Self.standardOutput.descriptor {
                        _ = Self.firstError.compareExchange(
                            expected: 0,
                            desired: errno,
                            ordering: .relaxed
                        )
                    }
                    return false
                }
                offset += count
            }
            return true
        }
    }

    private var isPipe: Bool {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return false }
        return [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
    }

    /// Waits until something can be written; false, as of a reader that has gone, if that lasts
    /// after a signal to stop.
    private func isReady() -> Bool {
        let isGivenUp = Self.givenUp.load(ordering: .relaxed) & (1 << descriptor) != 0
        var left = isGivenUp ? 1 : Self.patience.times
        while left > 0 {
            var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            let time = isGivenUp ? 0 : Self.patience.interval
            if unsafe poll(&wait, 1, time) > 0 { return true }
            if isGivenUp || StopSignals.received != nil { left -= 1 }
        }
        Self.givenUp.bitwiseOr(1 << descriptor, ordering: .relaxed)
        errno = EPIPE
        return false
    }

    /// The number of bytes taken, negative for an error.
    private func sendSome(_ bytes: UnsafeRawBufferPointer) -> Int {
        while true {
            let count = unsafe CLibrary.write(descriptor, bytes.baseAddress, bytes.count)
            if count >= 0 { return count }
            // Another process that shares the terminal may have made it non-blocking.
            if errno == EAGAIN {
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&wait, 1, -1)
            } else if errno != EINTR {
                return count
            }
        }
    }
}
