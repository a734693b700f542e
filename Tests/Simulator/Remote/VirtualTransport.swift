internal import ObjectStorage
internal import SyncModel

/// Carries requests to the bucket in memory, and loses, spoils and delays them as a plan says.
///
/// Unchecked, because a simulation has one thread.
final class VirtualTransport: HTTPSending, @unchecked Sendable {
    let world: World
    private let run: RunState

    init(world: World, run: RunState) {
        self.world = world
        self.run = run
    }

    /// How often it looks whether a body may go on.
    private static let longPatience = 9_800

    private var scheduler: Scheduler { world.scheduler }
    var dice: FaultDice { run.dice }

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

    /// Nil when the answer came whole, or the exchange itself knows why it did not.
    private func carryOut(_ exchange: Exchange) async -> TransportError? {
        let call = ServiceCall(
            exchange.request,
            headerPrefix: world.service.dialect.headerPrefix
        )
        run.requests += 1
        let number = run.requests
        world.judgeSecrets(in: exchange.request)
        guard await wait(latency()) else { return .cancelled }
        world.trace("request \(number) \(call.operation.rawValue) \(call.key.display)")
        world.requestArrives(number)
        guard !run.isDead, !exchange.isCancelled else { return .cancelled }
        world.judgeCondition(of: call)
        if let path = World.relative(call.key) { run.askedLast = path }
        if dice.rolls(.connectFailed) { return .connectFailed(reason: "refused") }
        if dice.rolls(.lostRequest) { return .connectionLost }
        guard exchange.willSend() else { return nil }
        switch await receiveBody(of: exchange, call) {
        case .whole(let body): return await answer(exchange, call, body, number)
        case .failed(let error): return error
        }
    }

    private func answer(
        _ exchange: Exchange,
        _ call: ServiceCall,
        _ body: [UInt8],
        _ number: Int
    ) async -> TransportError? {
        run.answering = number
        var delivery = delivery(call, body)
        world.requestWasCarriedOut(number, call)
        guard !run.isDead, await wait(latency()) else { return .cancelled }
        if dice.rolls(.lostAnswer) { return .connectionLost }
        if dice.rolls(.stalled) {
            guard await wait(exchange.request.stallLimits.idleLimit) else { return .cancelled }
            return .stalled
        }
        if call.changes, dice.rolls(.errorAfterwards) {
            delivery.answer = .error(500, "InternalError")
        }
        let failure = await deliver(delivery.answer, exchange, call)
        if failure == nil { world.wasDelivered(delivery.listing) }
        return failure
    }

    private func latency() -> Duration {
        .microseconds(Int(scheduler.randomUnit() * 30_000))
    }

    /// False if the task was cancelled meanwhile.
    private func wait(_ duration: Duration) async -> Bool {
        do {
            try await scheduler.sleep(duration)
            return !run.isDead
        } catch {
            return false
        }
    }

    // MARK: - The request

    private enum Reception {
        case whole([UInt8])
        case failed(TransportError?)
    }

    private func receiveBody(of exchange: Exchange, _ call: ServiceCall) async -> Reception {
        var received: [UInt8] = []
        // Also of what is cut off, the service has the beginning.
        defer { world.judgeNonce(of: received, call) }
        var piece = [UInt8](repeating: 0, count: world.setup.pieceSize)
        while true {
            let count = unsafe piece.withUnsafeMutableBytes { unsafe exchange.send(into: $0) }
            guard let count else { return .failed(nil) }
            guard count > 0 else { break }
            received += piece.prefix(count)
            world.heard(count, of: call)
            guard exchange.request.body.length > Int64(piece.count) else { continue }
            await scheduler.pause()
            if run.isDead || exchange.isCancelled { return .failed(.cancelled) }
            if dice.rolls(.cutUpload) { return .failed(.connectionLost) }
        }
        return .whole(received)
    }

    // MARK: - The answer

    private func deliver(
        _ answer: ServiceAnswer,
        _ exchange: Exchange,
        _ call: ServiceCall
    ) async -> TransportError? {
        let mayResume = Resumption()
        let resume: @Sendable () -> Void = { mayResume.resume() }
        guard answer.deliverHead(to: exchange, at: world.now, resume: resume) else { return nil }
        guard call.operation != .head else { return nil }
        var rest = answer.body[...]
        // What an error says is no content.
        let read = answer.status < 300 ? call : nil
        let cut =
            answer.body.count > 1 && dice.rolls(.cutBody)
            ? Int(dice.choice(.cutBody) % UInt64(answer.body.count)) : nil
        while !rest.isEmpty {
            if run.isDead || exchange.isCancelled { return .cancelled }
            var piece = rest.prefix(world.setup.pieceSize)
            if let cut { piece = piece.prefix(max(0, cut - piece.startIndex)) }
            if !piece.isEmpty {
                switch await hand(piece, exchange, mayResume, read) {
                case .taken: break
                case .ended: return nil
                case .paused: return .cancelled
                }
            }
            if let cut, piece.endIndex >= cut { return .connectionLost }
            rest = rest[piece.endIndex...]
            if !rest.isEmpty { await scheduler.pause() }
        }
        return nil
    }

    /// Hands over one piece, waiting while it is not wanted yet; `paused` if the wait was in vain.
    private func hand(
        _ piece: ArraySlice<UInt8>,
        _ exchange: Exchange,
        _ mayResume: Resumption,
        _ call: ServiceCall?
    ) async -> Exchange.Reception {
        while true {
            mayResume.arm()
            let reception = unsafe piece.withUnsafeBytes { unsafe exchange.receive($0) }
            guard case .paused = reception else {
                if case .taken = reception, let call {
                    world.sent(call, from: call.start + piece.startIndex, count: piece.count)
                }
                return reception
            }
            var patience = Self.longPatience + 200
            while !mayResume.isResumed {
                if run.isDead || exchange.isCancelled { return .paused }
                patience -= 1
                guard patience > 0 else {
                    world.report(.termination, "a body waits for a checkpoint that never comes")
                    return .paused
                }
                // What runs newest first lets nobody else run while it only pauses.
                if patience > Self.longPatience {
                    await scheduler.pause()
                } else if await !wait(.milliseconds(1)) {
                    return .paused
                }
            }
            exchange.resumed()
        }
    }
}

/// Set when a sink that was full takes bytes again.
///
/// Unchecked, because a simulation has one thread.
private final class Resumption: @unchecked Sendable {
    private(set) var isResumed = false

    func arm() { isResumed = false }
    func resume() { isResumed = true }
}

extension ServiceAnswer {
    /// Hands over the status and the headers; false if the exchange wants no more.
    func deliverHead(
        to exchange: Exchange,
        at now: Timestamp,
        resume: @escaping @Sendable () -> Void
    ) -> Bool {
        var lines = ["HTTP/1.1 \(status) Said\r\n"]
        if !headers.contains(where: { $0.name == "content-length" }) {
            lines.append("content-length: \(body.count)\r\n")
        }
        lines.append("date: \(CivilTime(now).httpText)\r\n")
        for (name, value) in headers { lines.append("\(name): \(value)\r\n") }
        lines.append("\r\n")
        return lines.map { [UInt8]($0.utf8) }
            .allSatisfy { exchange.receive(headerLine: $0.span, resume: resume) }
    }
}
