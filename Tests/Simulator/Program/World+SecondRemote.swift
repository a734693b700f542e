internal import CVirtualFiles
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncEngine
internal import SyncModel

/// A second remote for the same directory, with a state of its own.
extension World {
    static let secondState = "/virtual/second-state"

    /// Where the other state is if it is on another disk.
    private static let distantState = "/virtual/distant-state"

    /// Sends everything with a state on another disk: the first one's trash and what it has of
    /// unfinished transfers are not this one's.
    func runElsewhere(_ seed: UInt64, trashDays: Int) {
        guard run == nil, lastRun != nil else { return }
        DiskEdits.makeDirectory([UInt8](VirtualDisk.volumes.utf8))
        let source = VirtualDisk.volumes + "/distant"
        if DiskEdits.makeDirectory([UInt8](source.utf8)) {
            DiskEdits.makeDirectory([UInt8](Self.distantState.utf8))
            _ = unsafe virtual_files_mount(source, Self.distantState, true)
            DiskEdits.synchronizeAll(VIRTUAL_FILES_ROOT)
        }
        tree.scan(model.contents)
        let (trash, partials) = (tree.trash, tree.partials)
        let bucket = secondService?.bucket
        pushElsewhere(seed, state: Self.distantState, trashDays: trashDays)
        tree.scan(model.contents)
        judgeFreedElsewhere(before: bucket)
        for content in trash.subtracting(tree.trash).sorted() {
            report(.trash, "content \(content.number) left the trash by a run with another state")
        }
        if tree.partials < partials {
            report(.boundedWaste, "a run with another state swept what was under way")
        }
    }

    /// Sends everything there, unseen by the oracles of the first one.
    func pushElsewhere(_ seed: UInt64, state: String = World.secondState, trashDays: Int = 7) {
        guard run == nil, let known = lastRun else { return }
        let service =
            secondService
            ?? VirtualService(
                dialect: service.dialect,
                bucketName: Self.bucketName,
                pageSize: setup.pageSize
            )
        let transport = PlainTransport(service, now: { self.now })
        var options = ToolRun(direction: .push, seed: seed, faults: .none)
        options.deletesKnown = true
        options.trashDays = trashDays
        let run = RunState(options, number: 0, isStatus: false)
        var settings = settings(client(transport, known.storeObserver), run)
        settings.stateDirectory = state
        settings.identity = RemoteIdentity(
            dialect: service.dialect.name,
            endpointHost: "second.test",
            bucket: Self.bucketName,
            prefix: "mirror/"
        )
        let engine = MirrorEngine(settings: settings)
        let engineOptions = options.engineOptions(setup)
        scheduler.begin(seed: seed, order: .random)
        let task = Task(executorPreference: scheduler) {
            do {
                run.summary = try await engine.run(.push, options: engineOptions) { event in
                    if case .warning(let message) = event { run.warnings.append(message) }
                }
            } catch let error as TransferError {
                run.failure = error
            } catch {
                preconditionFailure("a run throws nothing else: \(error)")
            }
            run.isFinished = true
        }
        let end = scheduler.run(limit: 200_000) { run.isFinished }
        if case .finished = end { scheduler.settle() } else { task.cancel() }
        trace("elsewhere \(run.outcome)")
        for warning in run.warnings { scheduler.trace.say("    elsewhere warning: \(warning)") }
        secondService = transport.service
        judgeIdentity(run)
    }
}

/// A network that loses nothing and takes no time.
///
/// Unchecked, because a simulation has one thread.
final class PlainTransport: HTTPSending, @unchecked Sendable {
    var service: VirtualService
    private let now: () -> Timestamp

    init(_ service: VirtualService, now: @escaping () -> Timestamp) {
        self.service = service
        self.now = now
    }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let exchange = Exchange(request)
        return try exchange.finish(carryOut(exchange)).get()
    }

    private func carryOut(_ exchange: Exchange) -> TransportError? {
        guard exchange.willSend() else { return nil }
        let call = ServiceCall(exchange.request, headerPrefix: service.dialect.headerPrefix)
        var body: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = unsafe piece.withUnsafeMutableBytes { unsafe exchange.send(into: $0) }
            guard let count else { return nil }
            guard count > 0 else { break }
            body += piece.prefix(count)
        }
        service.now = now()
        let answer = service.answer(call, body: body)
        _ = service.takeEffects()
        return deliver(answer, exchange, hasBody: call.operation != .head)
    }

    private func deliver(
        _ answer: ServiceAnswer,
        _ exchange: Exchange,
        hasBody: Bool
    ) -> TransportError? {
        var lines = ["HTTP/1.1 \(answer.status) Said\r\n"]
        if !answer.headers.contains(where: { $0.name == "content-length" }) {
            lines.append("content-length: \(answer.body.count)\r\n")
        }
        for (name, value) in answer.headers { lines.append("\(name): \(value)\r\n") }
        lines.append("\r\n")
        for line in lines.map({ [UInt8]($0.utf8) })
        where !exchange.receive(headerLine: line.span, resume: {}) {
            return nil
        }
        guard hasBody, !answer.body.isEmpty else { return nil }
        var rest = answer.body[...]
        while !rest.isEmpty {
            let piece = rest.prefix(512)
            guard case .taken = unsafe piece.withUnsafeBytes({ unsafe exchange.receive($0) }) else {
                return nil
            }
            rest = rest[piece.endIndex...]
        }
        return nil
    }
}
