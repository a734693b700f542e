#if SystemLibraries
internal import Synchronization

/// Sends requests and receives responses on a thread of its own, which owns all connections.
///
/// Freed, it ends its thread; requests under way are cancelled by their tasks only.
final class CurlTransport: HTTPSending {
    private let inbox: TransportInbox

    init(_ settings: NetworkSettings) throws(TransportError) {
        guard let multi = CurlMulti(connectionLimit: settings.connectionLimit) else {
            throw .connectFailed(reason: "libcurl could not be initialised")
        }
        inbox = TransportInbox(multi: multi)
        let loop = TransportLoop(multi: multi, inbox: inbox, settings: settings)
        try startThread { loop.run() }
    }

    deinit { inbox.post(.stop) }

    package func send(
        _ request: HTTPRequest
    ) async throws(TransportError) -> HTTPResponse {
        let exchange = Exchange(request)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                inbox.post(.start(exchange, continuation))
            }
        } onCancel: {
            exchange.cancel()
            inbox.post(.check(exchange))
        }
        return try result.get()
    }
}

/// What the transport's thread is told.
enum TransportCommand: Sendable {
    case start(Exchange, CheckedContinuation<Result<HTTPResponse, TransportError>, Never>)
    /// The exchange was cancelled or may go on.
    case check(Exchange)
    case stop
}

/// The commands that the transport's thread has not yet taken.
final class TransportInbox: Sendable {
    private struct State {
        var commands: [TransportCommand] = []
        /// True while the thread waits, so that it must be woken to see a command.
        var isWaitedFor = false
    }

    private let state = Mutex(State())
    private let multi: CurlMulti

    init(multi: CurlMulti) {
        self.multi = multi
    }

    func post(_ command: TransportCommand) {
        let mustWake = state.withLock { state in
            state.commands.append(command)
            defer { state.isWaitedFor = false }
            return state.isWaitedFor
        }
        if mustWake { multi.wakeUp() }
    }

    /// The thread is about to wait; false if there are commands, and it must not.
    func willWait() -> Bool {
        state.withLock { state in
            state.isWaitedFor = state.commands.isEmpty
            return state.isWaitedFor
        }
    }

    func take() -> [TransportCommand] {
        state.withLock { state in
            state.isWaitedFor = false
            let taken = state.commands
            state.commands = []
            return taken
        }
    }
}
#endif
