package import SyncModel
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Where the bytes of a GET go: written at `fileOffset` plus what was received, with the CRC-64
/// continued.
///
/// Shared by the transport's thread and the engine, over all attempts of one call. Reception pauses
/// while more than `maximumUnacknowledged` bytes are not checkpointed.
package final class FileSink: Sendable {
    package let descriptor: Int32
    package let fileOffset: Int64
    package let expectedLength: Int64
    private let checkpointInterval: Int64
    private let maximumUnacknowledged: Int64
    private let onCheckpoint: @Sendable (_ received: Int64, _ checksum: CRC64) -> Void
    private let onProgress: @Sendable (_ newBytes: Int) -> Void

    private struct State {
        var received: Int64 = 0
        var acknowledged: Int64 = 0
        /// What the last checkpoint reported.
        var reported: Int64 = 0
        var checksum: CRC64
        /// Set while an exchange feeds the sink: makes its thread look at the sink again.
        var resume: (@Sendable () -> Void)?
        var isPaused = false
    }
    private let state: Mutex<State>

    /// Makes a sink that has received nothing; sizes are in bytes.
    ///
    /// Both closures are called on the transport's thread and must not block: `onCheckpoint` after
    /// each interval, before a pause, and at the end or the failure of each attempt.
    package init(
        descriptor: Int32,
        fileOffset: Int64,
        expectedLength: Int64,
        initialChecksum: CRC64,
        checkpointInterval: Int64,
        maximumUnacknowledged: Int64,
        onCheckpoint: @escaping @Sendable (_ received: Int64, _ checksum: CRC64) -> Void,
        onProgress: @escaping @Sendable (_ newBytes: Int) -> Void
    ) {
        precondition(fileOffset >= 0 && expectedLength >= 0, "a sink has no negative bounds")
        precondition(
            checkpointInterval > 0 && maximumUnacknowledged > 0,
            "a sink takes at least one byte at a time"
        )
        self.descriptor = descriptor
        self.fileOffset = fileOffset
        self.expectedLength = expectedLength
        self.checkpointInterval = checkpointInterval
        self.maximumUnacknowledged = maximumUnacknowledged
        self.onCheckpoint = onCheckpoint
        self.onProgress = onProgress
        state = Mutex(State(checksum: initialChecksum))
    }

    /// Bytes written by this sink so far, over all attempts.
    package var received: Int64 { state.withLock { $0.received } }

    /// Of the bytes of the initial checksum and the received ones.
    package var checksum: CRC64 { state.withLock { $0.checksum } }

    /// The first `received` bytes are checkpointed; reception goes on if it waited for that.
    package func acknowledge(upTo received: Int64) {
        let resume: (@Sendable () -> Void)? = state.withLock { state in
            state.acknowledged = max(state.acknowledged, min(received, state.received))
            guard state.isPaused, !isFull(state) else { return nil }
            state.isPaused = false
            return state.resume
        }
        resume?()
    }

    private func isFull(_ state: borrowing State) -> Bool {
        state.received - state.acknowledged >= maximumUnacknowledged
    }
}

// MARK: - The transport's side

extension FileSink {
    /// What became of one buffer.
    enum Outcome {
        case written
        /// Nothing of it was taken; `resume` is called when it can be.
        case paused
        case tooLong
        case failed(errno: Int32)
    }

    /// An exchange begins to feed the sink.
    func begin(resume: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.resume = resume
            state.isPaused = false
        }
    }

    /// Takes all of `buffer`, or nothing.
    ///
    /// Only the one thread that feeds the sink calls this, so that between the two critical
    /// sections nobody else moves `received`; the lock is not held while the file is written.
    func write(_ buffer: UnsafeRawBufferPointer) -> Outcome {
        let (start, isFull) = state.withLock { state in
            state.isPaused = self.isFull(state)
            return (state.received, state.isPaused)
        }
        if isFull {
            // Without a checkpoint of what is there, nobody could acknowledge it.
            report(force: true)
            let staysFull = state.withLock { $0.isPaused }
            if staysFull { return .paused }
        }
        guard Int64(buffer.count) <= expectedLength - start else { return .tooLong }
        var written = 0
        while written < buffer.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[written...])
            let count = unsafe pwrite(
                descriptor,
                rest.baseAddress,
                rest.count,
                off_t(fileOffset + start + Int64(written))
            )
            if count < 0 {
                if errno == EINTR { continue }
                return .failed(errno: errno)
            }
            written += count
        }
        state.withLock { state in
            unsafe state.checksum.update(buffer)
            state.received += Int64(written)
        }
        onProgress(written)
        report(force: false)
        return .written
    }

    /// The exchange has ended, well or not: what is there is reported, and nothing is touched any
    /// more.
    func end() {
        report(force: true)
        state.withLock { state in
            state.resume = nil
            state.isPaused = false
        }
    }

    private func report(force: Bool) {
        let due: (received: Int64, checksum: CRC64)? = state.withLock { state in
            let unreported = state.received - state.reported
            guard force ? unreported > 0 : unreported >= checkpointInterval else { return nil }
            state.reported = state.received
            return (state.received, state.checksum)
        }
        if let due { onCheckpoint(due.received, due.checksum) }
    }
}
