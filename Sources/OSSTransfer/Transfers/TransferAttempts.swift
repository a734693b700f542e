internal import ObjectTransfer
internal import SyncModel

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
        let result = await Reconnection(
            policy: reconnects,
            environment: environment,
            progressState: progressState,
            network: network,
            onNotice: onNotice
        ).run(gate, attempt)
        return try result.mapError { SyncError($0, of: subject) }.get()
    }

    /// Reports failures of what is done between attempts as those of the transfer.
    func reporting<Value>(
        _ body: () async throws(ItemFailure) -> Value
    ) async throws(SyncError) -> Value {
        do throws(ItemFailure) {
            return try await body()
        } catch {
            throw SyncError(error, of: subject)
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
