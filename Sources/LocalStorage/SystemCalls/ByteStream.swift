internal import CLibrary
internal import Synchronization

/// A pipe, a terminal or a file that is read or written from where it stands, such as standard
/// input and output.
///
/// Calls block their thread until the other end is ready or `interrupt` was called. The descriptor
/// belongs to the caller, and its flags, which other processes share, stay as they are.
package final class ByteStream: Sendable {
    /// What a pipe takes without blocking once it is ready for anything.
    private static let pipeBlock = 4_096
    private static let otherBlock = 256 << 10

    private let descriptor: Int32
    private let name: String
    private let calls: SystemCalls
    /// Readable once the stream was interrupted.
    private let wakeUp: (read: Int32, write: Int32)
    private let isInterrupted = Atomic(false)

    /// Uses an open descriptor; `name` is what messages call it.
    package init(_ descriptor: Int32, name: String, calls: SystemCalls) throws(LocalError) {
        var ends: [Int32] = [-1, -1]
        try calls.check("pipe") { unsafe pipe(&ends) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        self.descriptor = descriptor
        self.name = name
        self.calls = calls
        wakeUp = (ends[0], ends[1])
    }

    deinit {
        SystemCalls.close(wakeUp.read)
        SystemCalls.close(wakeUp.write)
    }

    /// Lets the call under way and all later ones throw `interrupted`.
    package func interrupt() {
        guard !isInterrupted.exchange(true, ordering: .acquiringAndReleasing) else { return }
        var byte: UInt8 = 0
        _ = unsafe platformWrite(wakeUp.write, &byte, 1)
    }

    /// Reads `count` bytes; fewer only at the end.
    package func read(_ count: Int) throws(LocalError) -> [UInt8] {
        var failure: LocalError?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(LocalError) {
                while filled < count {
                    let rest = unsafe UnsafeMutableRawBufferPointer(
                        UnsafeMutableBufferPointer(rebasing: buffer[filled...])
                    )
                    let taken = try unsafe readSome(into: rest)
                    if taken == 0 { return }
                    filled += taken
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    private func readSome(into buffer: UnsafeMutableRawBufferPointer) throws(LocalError) -> Int {
        while true {
            try wait(for: POLLIN)
            let (count, code) = calls.attempt("read") {
                unsafe platformRead(descriptor, buffer.baseAddress, buffer.count)
            }
            if code == 0 { return count }
            // Another process made it non-blocking and was faster.
            guard code == EAGAIN else { throw failure("read", code) }
        }
    }

    /// Writes all of `bytes`.
    package func write(_ bytes: RawSpan) throws(LocalError) {
        let block = isPipe ? Self.pipeBlock : Self.otherBlock
        let result = unsafe bytes.withUnsafeBytes { buffer in
            Result { () throws(LocalError) in
                var done = 0
                while done < buffer.count {
                    let end = min(buffer.count, done + block)
                    done += try unsafe writeSome(
                        UnsafeRawBufferPointer(rebasing: buffer[done..<end])
                    )
                }
            }
        }
        try result.get()
    }

    private func writeSome(_ buffer: UnsafeRawBufferPointer) throws(LocalError) -> Int {
        while true {
            try wait(for: POLLOUT)
            let (count, code) = calls.attempt("write") {
                unsafe platformWrite(descriptor, buffer.baseAddress, buffer.count)
            }
            if code == 0 { return count }
            guard code == EAGAIN else { throw failure("write", code) }
        }
    }

    private var isPipe: Bool {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }

    /// Returns when the descriptor is ready, at its end or broken, which the call itself then says.
    private func wait(for events: Int32) throws(LocalError) {
        var waited = [
            pollfd(fd: descriptor, events: Int16(events), revents: 0),
            pollfd(fd: wakeUp.read, events: Int16(POLLIN), revents: 0),
        ]
        try calls.check("poll") { unsafe poll(&waited, nfds_t(waited.count), -1) }
        if isInterrupted.load(ordering: .acquiring) { throw .interrupted }
    }

    private func failure(_ call: String, _ code: Int32) -> LocalError {
        .systemCall(SystemCallError(call: call, errno: code, path: name))
    }
}

extension LocalError {
    /// True if the program that should read a pipe has closed it.
    package var isClosedPipe: Bool { errno == EPIPE }
}

func platformRead(
    _ descriptor: Int32,
    _ buffer: UnsafeMutableRawPointer?,
    _ count: Int
) -> Int {
    unsafe CLibrary.read(descriptor, buffer, count)
}

private func platformWrite(
    _ descriptor: Int32,
    _ buffer: UnsafeRawPointer?,
    _ count: Int
) -> Int {
    unsafe CLibrary.write(descriptor, buffer, count)
}
