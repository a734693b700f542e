internal import CLibrary
internal import Synchronization

/// Waiting that the end of the server cuts short: a pipe that becomes readable.
final class Pause: Sendable {
    private let readEnd: Int32
    private let writeEnd: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else {
            throw ServerFailure.file(path: "pipe", call: "pipe", code: errno)
        }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Waits on the calling thread, which serves one connection only; false if the end came.
    @discardableResult
    func wait(seconds: Double) -> Bool {
        guard seconds > 0 else { return true }
        var entry = pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, Int32(min(seconds * 1_000, 86_400_000))) <= 0
    }

    /// Ends every wait, now and later.
    func end() {
        var byte: UInt8 = 0
        _ = unsafe write(writeEnd, &byte, 1)
    }
}

/// Holds requests until it is ended, and tells how many there are.
final class Hold: Sendable {
    private struct State {
        var count = 0
        var isOver = false
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.count } }

    /// Waits on the calling thread for the end of this or of the server.
    func wait(unless pause: Pause) {
        change { $0.count += 1 }
        while !state.withLock({ $0.isOver }), pause.wait(seconds: 0.002) {}
    }

    /// Lets go of all, now and later.
    func end() {
        change { $0.isOver = true }
    }

    /// Returns when so many requests have been held, or nothing is held any more.
    func until(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                guard state.count < count, !state.isOver else { return true }
                state.waiters.append((count, continuation))
                return false
            }
            if isReached { continuation.resume() }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let reached = state.withLock { state in
            body(&state)
            let count = state.isOver ? .max : state.count
            defer { state.waiters.removeAll { $0.count <= count } }
            return state.waiters.filter { $0.count <= count }
        }
        for waiter in reached { waiter.continuation.resume() }
    }
}
