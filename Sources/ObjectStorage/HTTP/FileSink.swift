internal import CLibrary
package import SyncModel
internal import Synchronization

/// Where the bytes of a GET go: written at `fileOffset` plus what was received, with the CRC-64
/// continued; or held in memory, for a small object.
///
/// Shared by the transport's thread and the engine, over all attempts of one call. Reception pauses
/// while more than `maximumUnacknowledged` bytes are not checkpointed.
package final class FileSink: Sendable {
    package let fileOffset: Int64
    private let checkpointInterval: Int64
    /// Nil for a sink whose checkpoints go by bytes alone.
    private let monotonic: (@Sendable () -> Duration)?
    private let rangeLength: Int64
    private let maximumUnacknowledged: Int64
    private let onCheckpoint: @Sendable (_ received: Int64, _ checksum: CRC64) -> Void
    private let onProgress: @Sendable (_ newBytes: Int) -> Void
    /// Nil where no other machine can come to write the file.
    private let permission: WritePermission?

    private struct State {
        /// How many bytes are wanted.
        var wanted: Int64
        var isShortened = false
        /// Received bytes, with those of the buffer that is being received.
        var arrived: Int64 = 0
        var received: Int64 = 0
        /// Bytes that came after those and are not written yet.
        var staged = 0
        var acknowledged: Int64 = 0
        /// What the last checkpoint reported.
        var reported: Int64 = 0
        /// When the first bytes came that it did not.
        var unreportedSince: Duration?
        var checksum: CRC64
        /// Set while an exchange feeds the sink: makes its thread look at the sink again.
        var resume: (@Sendable () -> Void)?
        var isPaused = false
        /// Set to end reception when nothing more has arrived.
        var endsWhenDry = false
        /// True while it is asked whether the file may be written.
        var asks = false
        /// The file is not to be written any more.
        var isForbidden = false

        init(_ wanted: Int64, _ checksum: CRC64) {
            (self.wanted, self.checksum) = (wanted, checksum)
        }
    }
    private let state: Mutex<State>
    /// Touched by the feeding thread only.
    private let stage: WriteStage
    /// What was received, for a sink that writes nothing.
    private let held: HeldBody?
    /// What opens the body, for a sink that hands it on to another one.
    private let opener: BlockOpener?

    /// Files are written up to multiples of this offset.
    package static let blockSize = Int64(WriteStage.blockSize)

    /// Makes a sink that has received nothing; sizes are in bytes.
    ///
    /// The closures are called on the transport's thread and must not block: `onCheckpoint` after
    /// each interval, a second after bytes by the clock `monotonic` when others come, at the end of
    /// each range of `rangeLength`, which is a multiple of ``blockSize``, before a pause, and at
    /// the end or the failure of each attempt.
    package init(
        descriptor: Int32,
        fileOffset: Int64,
        expectedLength: Int64,
        initialChecksum: CRC64,
        checkpointInterval: Int64,
        monotonic: (@Sendable () -> Duration)? = nil,
        maximumUnacknowledged: Int64,
        rangeLength: Int64 = .max,
        permission: WritePermission? = nil,
        onCheckpoint: @escaping @Sendable (_ received: Int64, _ checksum: CRC64) -> Void,
        onProgress: @escaping @Sendable (_ newBytes: Int) -> Void
    ) {
        precondition(fileOffset >= 0 && expectedLength >= 0, "a sink has no negative bounds")
        precondition(
            checkpointInterval > 0 && maximumUnacknowledged > 0,
            "a sink takes at least one byte at a time"
        )
        precondition(
            rangeLength == .max || (rangeLength + fileOffset) % Self.blockSize == 0,
            "a range ends where a block does"
        )
        (self.fileOffset, self.rangeLength) = (fileOffset, rangeLength)
        (self.checkpointInterval, self.monotonic) = (checkpointInterval, monotonic)
        self.maximumUnacknowledged = maximumUnacknowledged
        (self.onCheckpoint, self.onProgress) = (onCheckpoint, onProgress)
        self.permission = permission
        state = Mutex(State(expectedLength, initialChecksum))
        stage = WriteStage(descriptor: descriptor)
        (held, opener) = (nil, nil)
    }

    /// Makes a sink that holds the whole of a small object.
    ///
    /// The closure is called on the transport's thread and must not block.
    package convenience init(
        holding length: Int64,
        onProgress: @escaping @Sendable (_ newBytes: Int) -> Void
    ) {
        precondition((0...Int64(64 << 20)).contains(length), "what is held is small")
        self.init(length, HeldBody(capacity: Int(length)), nil, onProgress)
    }

    /// One that writes nothing itself.
    private init(
        _ length: Int64,
        _ held: HeldBody?,
        _ opener: BlockOpener?,
        _ onProgress: @escaping @Sendable (_ newBytes: Int) -> Void
    ) {
        (fileOffset, rangeLength, monotonic) = (0, .max, nil)
        (checkpointInterval, maximumUnacknowledged) = (.max, .max)
        onCheckpoint = { _, _ in }
        self.onProgress = onProgress
        permission = nil
        state = Mutex(State(length, CRC64()))
        stage = WriteStage(descriptor: -1)
        (self.held, self.opener) = (held, opener)
    }

    /// Makes a sink for bytes as they are stored, whose content goes to another sink.
    convenience init(opening opener: BlockOpener, expectedLength: Int64) {
        self.init(expectedLength, nil, opener) { _ in }
    }

    /// Hands out what a sink holds once no exchange feeds it any more; empty for one that writes.
    package func withHeldBytes<Result, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bytes = unsafe held?.received ?? UnsafeRawBufferPointer(start: nil, count: 0)
        return try unsafe body(bytes.bytes)
    }

    /// Bytes in all; fewer after ``shorten()``.
    package var expectedLength: Int64 { state.withLock { $0.wanted } }

    /// Bytes written by this sink so far, over all attempts.
    package var received: Int64 { state.withLock { $0.received } }

    /// These, and those that are not written yet.
    var taken: Int64 { state.withLock { $0.received + Int64($0.staged) } }

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

    /// Ends reception after the range that is being received, which closes the connection.
    ///
    /// - Returns: By how many bytes the sink is shorter now.
    package func shorten() -> Int64 {
        state.withLock { state in
            // At least one more byte is taken, with which the exchange ends.
            let (ranges, overflow) = (state.arrived / rangeLength + 1)
                .multipliedReportingOverflow(by: rangeLength)
            guard !overflow, ranges < state.wanted else { return 0 }
            defer { state.wanted = ranges }
            state.isShortened = true
            return state.wanted - ranges
        }
    }

    /// Ends the exchange that feeds the sink, as if its task was cancelled, once it has all that
    /// has arrived at this machine: that would be lost with the connection.
    ///
    /// - Returns: False if nothing has arrived, or will be waited for: no exchange feeds it.
    package func endWhenDry() -> Bool {
        let resume = state.withLock { state in
            state.endsWhenDry = true
            return state.resume
        }
        resume?()
        return resume != nil
    }

    var endsWhenDry: Bool {
        if let opener { return opener.sink.endsWhenDry }
        return state.withLock { $0.endsWhenDry }
    }

    private func isFull(_ state: borrowing State) -> Bool {
        let unacknowledged = state.received - state.acknowledged
        return unacknowledged + Int64(state.staged) >= maximumUnacknowledged
    }
}

// MARK: - The transport's side

extension FileSink {
    /// What became of one buffer.
    enum Outcome {
        case written
        /// Nothing of it was taken; `resume` is called when it can be.
        case paused
        /// All that is wanted of a longer body is there.
        case enough
        case tooLong
        case failed(errno: Int32)
    }

    /// An exchange begins to feed the sink.
    func begin(resume: @escaping @Sendable () -> Void) {
        if let opener { return opener.sink.begin(resume: resume) }
        let endsWhenDry = state.withLock { state in
            state.resume = resume
            state.isPaused = false
            return state.endsWhenDry
        }
        if endsWhenDry { resume() }
    }

    /// Takes all of `buffer`, or nothing.
    ///
    /// libcurl hands out at most 16 KiB, at odd offsets; written like that, every page of the file
    /// would be touched twice and zeroed in between. Pieces are gathered to aligned blocks. Only
    /// the one thread that feeds the sink calls this, so that nobody else moves `received`; the
    /// lock is not held while the file is written.
    func write(_ buffer: UnsafeRawBufferPointer) -> Outcome {
        if let opener { return unsafe open(buffer, by: opener) }
        return unsafe pause() ?? accept(buffer)
    }

    /// Takes bytes as they are stored, unless the sink of their content waits.
    private func open(_ buffer: UnsafeRawBufferPointer, by opener: BlockOpener) -> Outcome {
        if let pause = opener.sink.pause() { return pause }
        let isTooLong = state.withLock { state in
            let isTooLong = Int64(buffer.count) > state.wanted - state.received
            if !isTooLong { state.received += Int64(buffer.count) }
            return isTooLong
        }
        return isTooLong ? .tooLong : unsafe opener.take(buffer)
    }

    /// Why nothing is taken now; nil if something is.
    private func pause() -> Outcome? {
        if let permission, !permission.isGiven() { return wait(for: permission) }
        let isFull = state.withLock { state in
            state.isPaused = self.isFull(state)
            return state.isPaused
        }
        if isFull {
            // Without a checkpoint of what is there, nobody could acknowledge it.
            if let errno = flush() { return .failed(errno: errno) }
            report(force: true)
            let staysFull = state.withLock { $0.isPaused }
            if staysFull { return .paused }
        }
        return nil
    }

    /// Takes all of `buffer`, also of one for which a sink would wait.
    func accept(_ buffer: UnsafeRawBufferPointer) -> Outcome {
        let (start, missing, isShortened) = state.withLock { state in
            let missing = state.wanted - state.received - Int64(state.staged)
            state.arrived = state.wanted - max(0, missing - Int64(buffer.count))
            return (state.received, missing, state.isShortened)
        }
        let isEnough = isShortened && Int64(buffer.count) >= missing
        guard isEnough || Int64(buffer.count) <= missing else { return .tooLong }
        let wanted = isEnough ? Int(missing) : buffer.count
        let buffer = unsafe UnsafeRawBufferPointer(rebasing: buffer.prefix(wanted))
        if let held {
            unsafe held.append(buffer)
            unsafe account(for: buffer)
        } else if let errno = unsafe write(buffer, from: start, missing) {
            return .failed(errno: errno)
        }
        onProgress(buffer.count)
        let isOld = isCheckpointOld
        // A kill takes what is not written yet, too.
        if isOld, let errno = flush() { return .failed(errno: errno) }
        report(force: isOld)
        return isEnough ? .enough : .written
    }

    /// Pauses until it is known whether the file may be written.
    private func wait(for permission: WritePermission) -> Outcome {
        let (isForbidden, asks) = state.withLock { state in
            let asks = state.asks
            if !state.isForbidden { (state.isPaused, state.asks) = (true, true) }
            return (state.isForbidden, asks)
        }
        if isForbidden { return .failed(errno: ESTALE) }
        guard !asks else { return .paused }
        permission.ask { [self] isGiven in
            let resume: (@Sendable () -> Void)? = state.withLock { state in
                (state.isPaused, state.asks, state.isForbidden) = (false, false, !isGiven)
                return state.resume
            }
            resume?()
        }
        return .paused
    }

    /// Writes or gathers `buffer`; the error of a call that failed.
    private func write(
        _ buffer: UnsafeRawBufferPointer,
        from start: Int64,
        _ missing: Int64
    ) -> Int32? {
        let end = start + Int64(stage.count) + missing
        let isOfOneRange = start / rangeLength == (end - 1) / rangeLength
        if stage.count == 0, Int64(buffer.count) == missing, isOfOneRange {
            // The whole of a small body, or the end of a large one: nothing to gather.
            if let errno = unsafe stage.write(buffer, at: fileOffset + start) { return errno }
            unsafe account(for: buffer)
            return nil
        }
        var rest = unsafe buffer
        while unsafe !rest.isEmpty {
            let received = state.withLock(\.received)
            let taken = unsafe stage.append(rest, at: fileOffset + received)
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[taken...])
            state.withLock { $0.staged = stage.count }
            if stage.isFull || Int64(stage.count) == end - received, let errno = flush() {
                return errno
            }
        }
        return nil
    }

    /// The exchange has ended, well or not: what is there is written and reported, and nothing is
    /// touched any more.
    func end() {
        if let opener {
            opener.flush()
            return opener.sink.end()
        }
        // What cannot be written now was not received: the next attempt asks for it again.
        _ = flush()
        stage.free()
        report(force: true)
        state.withLock { state in
            state.resume = nil
            state.isPaused = false
        }
    }

    /// Writes what was gathered; the error of the call if it failed, after which it is forgotten.
    private func flush() -> Int32? {
        guard stage.count > 0 else { return nil }
        defer {
            stage.clear()
            state.withLock { $0.staged = 0 }
        }
        if let permission, !permission.isGiven() { return ESTALE }
        let start = state.withLock(\.received)
        return unsafe stage.withBytes { bytes -> Int32? in
            if let errno = unsafe stage.write(bytes, at: fileOffset + start) { return errno }
            unsafe account(for: bytes)
            return nil
        }
    }

    private func account(for bytes: UnsafeRawBufferPointer) {
        let received = state.withLock { state in
            unsafe state.checksum.update(bytes)
            state.received += Int64(bytes.count)
            return state.received
        }
        if received % rangeLength == 0 { report(force: true) }
    }

    /// True if it is time for a checkpoint, however few bytes have come since the last one.
    private var isCheckpointOld: Bool {
        guard let now = monotonic?() else { return false }
        return state.withLock { state in
            let start = state.unreportedSince ?? now
            state.unreportedSince = start
            return now - start >= .seconds(1)
        }
    }

    private func report(force: Bool) {
        let due: (received: Int64, checksum: CRC64)? = state.withLock { state in
            let unreported = state.received - state.reported
            guard force ? unreported > 0 : unreported >= checkpointInterval else { return nil }
            state.reported = state.received
            state.unreportedSince = nil
            return (state.received, state.checksum)
        }
        if let due { onCheckpoint(due.received, due.checksum) }
    }
}
