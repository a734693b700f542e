internal import ObjectStorage
internal import ObjectTransfer
internal import SyncEngine

/// A second start of the program, while a run goes on.
///
/// Unchecked, because a simulation has one thread.
final class RivalRun: @unchecked Sendable {
    var isFinished = false
    var requests = 0
    var task: Task<Void, Never>?
}

/// Another process on the same directory: it is told that the directory is taken, and does nothing.
extension World {
    func startRival(_ run: RunState) {
        guard !run.isLooking, run.options.tool == nil, run.rival == nil,
            let direction = run.options.rival?.direction
        else { return }
        let rival = RivalRun()
        run.rival = rival
        trace("a second run begins")
        var options = quietOptions(isForced: true)
        options.direction = direction
        let engine = MirrorEngine(settings: settings(client(RivalTransport(rival)), run))
        let engineOptions = options.engineOptions(setup)
        rival.task = Task(executorPreference: scheduler) {
            var failure: TransferError?
            do {
                _ = try await engine.run(options.engineDirection, options: engineOptions) { event in
                    // Where the first has ended before, this is a run like any other.
                    if case .warning = event { self.heard(event, run) }
                }
            } catch let error as TransferError {
                failure = error
            } catch {
                preconditionFailure("a run throws nothing else: \(error)")
            }
            self.judge(failure, of: rival, beside: run)
            rival.isFinished = true
        }
    }

    private func judge(_ failure: TransferError?, of rival: RivalRun, beside run: RunState) {
        trace("the second run ended by \(failure.map { "\($0.code)" } ?? "itself")")
        guard !run.isDead, !run.isFinished else { return }
        if rival.requests > 0 {
            report(.singleWriter, "a second run asked the remote while the first went on")
        }
        guard let failure else {
            report(.singleWriter, "a second run was done while the first went on")
            return
        }
        if run.options.faults.isEmpty, failure.code != .locked {
            report(.singleWriter, "a second run was told \(failure.code): \(failure.message)")
        }
    }

    /// Waits for the second run's end; where the first has ended, it has nothing to do.
    func finishRival(_ run: RunState) {
        guard let rival = run.rival, !rival.isFinished else { return }
        rival.task?.cancel()
        let end = scheduler.run(limit: 100_000) { rival.isFinished }
        if case .finished = end { return }
        report(.termination, "a second run does not end")
    }
}

/// The network of the second run, which leads nowhere.
private struct RivalTransport: HTTPSending {
    let rival: RivalRun

    init(_ rival: RivalRun) { self.rival = rival }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        rival.requests += 1
        throw .connectFailed(reason: "refused")
    }
}
