internal import CLibrary
internal import Synchronization

/// One of the two standard outputs.
struct OutputStream: Sendable {
    let descriptor: Int32

    static let standardOutput = OutputStream(descriptor: 1)
    static let standardError = OutputStream(descriptor: 2)

    /// Why standard output did not take something first; 0 if it took all.
    private static let firstError = Atomic<Int32>(0)

    /// Why results are missing on standard output; nil if none is, or if the reader of a pipe has
    /// gone, which wants to hear nothing.
    static var lossOfOutput: String? {
        let code = firstError.load(ordering: .relaxed)
        guard code != 0, code != EPIPE else { return nil }
        let reason = unsafe String(cString: strerror(code))
        return "standard output cannot be written: \(reason); the output is not complete"
    }

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Writes all of it; false if the reader is gone or the disk is full.
    func write(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var offset = 0
            while offset < bytes.count {
                let rest = unsafe UnsafeRawBufferPointer(
                    rebasing: UnsafeRawBufferPointer(bytes)[offset...]
                )
                let count = unsafe sendSome(rest)
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
