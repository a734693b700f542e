internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import Synchronization

/// What all attempts at one transfer share, in either direction.
struct TransferAttempts: Sendable {
    /// What messages call it, safe to print.
    let subject: String
    let streams: Int
    /// Bytes that a pause may cost.
    var pauseLoss: Int64 = 0
    let reconnects: ReconnectPolicy?
    let progressInterval: Duration
    let onNotice: @Sendable (TransferNotice) -> Void
    /// The same for waits of single requests, which a monitor hears of by itself.
    var onWait: @Sendable (TransferNotice) -> Void
    let progressState = ProgressState()
    /// Raised when there may be a network again.
    let network = Condition()
    let environment = SystemClocks.engine(hostName: "")

    var progress: TransferProgressSequence {
        TransferProgressSequence(
            progressState: progressState,
            interval: progressInterval,
            sleep: environment.sleep
        )
    }

    /// Runs an attempt, again after a lost connection if the options ask for it.
    ///
    /// - Throws: `SyncError` of code `cancelled` after a pause.
    func run<Value: Sendable>(
        _ gate: PauseGate,
        _ attempt: @escaping @Sendable () async throws(ItemFailure) -> Value
    ) async throws(SyncError) -> Value {
        let reconnection = Reconnection(
            policy: reconnects,
            environment: environment,
            progressState: progressState,
            network: network,
            onNotice: onNotice
        )
        let result = await ConnectionWatch.$current.withValue(makeWatch()) {
            await reconnection.run(gate, attempt)
        }
        return try result.mapError { SyncError($0, of: subject) }.get()
    }

    /// Reports failures of what is done between attempts as those of the transfer.
    func reporting<Value>(
        _ body: () async throws(ItemFailure) -> Value
    ) async throws(SyncError) -> Value {
        let result = await ConnectionWatch.$current.withValue(makeWatch()) {
            () async -> Result<Value, ItemFailure> in
            do throws(ItemFailure) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
        return try result.mapError { SyncError($0, of: subject) }.get()
    }

    /// Tells that requests wait for a connection, once for all that lose it at the same time.
    private func makeWatch() -> ConnectionWatch {
        let told = Mutex<(moved: Int64, pause: Duration)?>(nil)
        return ConnectionWatch(network: network) { [progressState, onWait] wait in
            let moved = progressState.snapshot.moved
            let isNew = told.withLock { told in
                if let told, told.moved == moved, wait.pause <= told.pause { return false }
                told = (moved, wait.pause)
                return true
            }
            guard isNew else { return }
            onWait(.waiting(pause: wait.pause, message: wait.error.message))
        }
    }
}

extension SingleTransfer {
    /// Services that report progress to `progressState` and everything else to the caller's
    /// closure.
    init(
        subject: String,
        place: RecordPlace?,
        partSize: Int64,
        attempts: TransferAttempts
    ) {
        let (progressState, onNotice) = (attempts.progressState, attempts.onNotice)
        self.init(
            subject: subject,
            place: place,
            partSize: partSize,
            streams: attempts.streams,
            environment: attempts.environment,
            observer: TransferObserver(
                began: { transfer, _ in
                    progressState.begin(transfer)
                    if transfer.bytesResumed > 0 {
                        onNotice(.resumed(bytes: transfer.bytesResumed))
                    }
                },
                startedOver: { onNotice(.startedOver($0)) },
                warned: { onNotice(.warning(message: $0)) }
            )
        )
    }
}
