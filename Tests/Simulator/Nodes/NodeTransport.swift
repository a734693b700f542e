internal import ObjectStorage

/// What the service says to a request of a node; nil for a connection that broke.
struct NodeAnswer: Sendable {
    let answer: ServiceAnswer?
}

/// Carries a process's requests to the bucket.
///
/// Whatever was sent arrives, also if its process is frozen or dead by then.
///
/// Unchecked, because of all fibers only one runs at a time.
final class NodeTransport: HTTPSending, @unchecked Sendable {
    private let process: NodeProcess
    private let simulation: NodeSimulation
    /// Of so many requests one fails; 0: none.
    private let failures: Int

    private static let pieceSize = 700
    private static let patience = 10_000
    /// In milliseconds.
    private let longestWay: Int

    init(_ process: NodeProcess, _ simulation: NodeSimulation, failures: Int, longestWay: Int) {
        (self.process, self.simulation, self.failures) = (process, simulation, failures)
        self.longestWay = longestWay
    }

    private var cluster: Cluster { process.cluster }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let exchange = Exchange(request)
        let result = await withTaskCancellationHandler {
            let failure = await carryOut(exchange)
            return exchange.finish(failure)
        } onCancel: {
            exchange.cancel()
        }
        return try result.get()
    }

    private func fails() -> Bool { failures > 0 && cluster.oneIn(failures * 3) }

    private func way() -> Duration { .microseconds(cluster.below(longestWay * 1_000)) }

    /// Nil when the answer came whole, or the exchange itself knows why it did not.
    private func carryOut(_ exchange: Exchange) async -> TransportError? {
        guard !process.isDead else { return .cancelled }
        let world = simulation.world
        world.judgeSecrets(in: exchange.request)
        if fails() { return .connectFailed(reason: "refused") }
        guard exchange.willSend() else { return nil }
        let headerPrefix = world.service.dialect.headerPrefix
        let call = ServiceCall(exchange.request, headerPrefix: headerPrefix)
        var body: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: Self.pieceSize)
        while true {
            let count = unsafe piece.withUnsafeMutableBytes { unsafe exchange.send(into: $0) }
            guard let count else { return nil }
            guard count > 0 else { break }
            body += piece.prefix(count)
        }
        simulation.judgeSending(call, process)
        let isLost = fails()
        let (sent, simulation, process) = (body, simulation, process)
        let (there, back) = (way(), way())
        let breaksAfterwards = fails()
        let answer = await process.answer { ticket in
            process.cluster.arrive(after: there) {
                var answer: ServiceAnswer?
                if !isLost { answer = simulation.carryOut(call, sent, of: process) }
                if breaksAfterwards { answer = nil }
                let found = NodeAnswer(answer: answer)
                process.cluster.arrive(after: back) { process.receive(found, ticket) }
            }
        }
        guard let answer, !process.isDead else { return .cancelled }
        guard let answer = answer.answer else { return .connectionLost }
        return await deliver(answer, exchange, hasBody: call.operation != .head)
    }

    private func deliver(
        _ answer: ServiceAnswer,
        _ exchange: Exchange,
        hasBody: Bool
    ) async -> TransportError? {
        let wish = Wish()
        let resume: @Sendable () -> Void = { wish.isThere = true }
        let now = simulation.world.now
        guard answer.deliverHead(to: exchange, at: now, resume: resume) else { return nil }
        guard hasBody else { return nil }
        var rest = answer.body[...]
        let breaks = rest.count > 1 && fails()
        while !rest.isEmpty {
            if process.isDead || exchange.isCancelled { return .cancelled }
            let piece = rest.prefix(Self.pieceSize)
            wish.isThere = false
            switch unsafe piece.withUnsafeBytes({ unsafe exchange.receive($0) }) {
            case .taken:
                rest = rest[piece.endIndex...]
                if breaks { return .connectionLost }
                if !rest.isEmpty { await process.pause() }
            case .ended: return nil
            case .paused:
                guard await waits(for: wish, exchange) else { return .cancelled }
                exchange.resumed()
            }
        }
        return nil
    }

    /// False if nobody wants more.
    private func waits(for wish: Wish, _ exchange: Exchange) async -> Bool {
        for attempt in 0..<Self.patience {
            if process.isDead || exchange.isCancelled { return false }
            if wish.isThere { return true }
            // Where the newest goes first, what it waits for would never have its turn.
            if attempt % 16 == 15 {
                try? await process.sleep(.milliseconds(20))
            } else {
                await process.pause()
            }
        }
        simulation.world.report(.termination, "a body waits for a checkpoint that never comes")
        return false
    }
}

/// Set when a sink that was full takes bytes again.
///
/// Unchecked, because of all fibers only one runs at a time.
private final class Wish: @unchecked Sendable {
    var isThere = false
}
