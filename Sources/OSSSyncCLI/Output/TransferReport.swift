internal import OSSSync
internal import Synchronization

/// Says how one transfer goes, in the forms in which runs are reported.
final class TransferReport: Sendable {
    private struct Amounts {
        var size: Int64 = 0
        var moved: Int64 = 0
        var resumed: Int64 = 0
    }

    private let isJSON: Bool
    private let action: ItemAction
    /// What is transferred, as the user types it.
    private let subject: String
    private let reporter: Reporter
    private let amounts = Mutex(Amounts())
    /// When the last progress of a stream was reported.
    private let lastNote = Mutex<ContinuousClock.Instant?>(nil)
    private static let interval = Duration.milliseconds(250)

    init(_ context: CommandContext, _ action: ItemAction, of subject: String) {
        isJSON = context.output.isJSON
        self.action = action
        self.subject = subject
        reporter = context.reporter
    }

    /// `12.0 MiB, 5.0 MiB resumed`.
    var text: String {
        let amounts = amounts.withLock { $0 }
        let resumed = amounts.resumed > 0 ? ", \(sizeText(amounts.resumed)) resumed" : ""
        return sizeText(amounts.size) + resumed
    }

    /// Takes what is no failure but worth telling.
    @Sendable func note(_ notice: TransferNotice) {
        switch notice {
        case .resumed: return
        case .startedOver(let reason): warn("\(String(terminalSafe: subject)): \(reason.text)")
        case .waiting(_, let message) where reporter.hasTold(of: message): return
        case .waiting(let pause, let message):
            warn("\(message); retrying in \(elapsedText(pause / .seconds(1)))")
        case .warning(let message): warn(message)
        }
    }

    func warn(_ message: String) {
        reporter.handle(.warning(message: message))
    }

    /// Shows the progress while `transfer` does its work.
    func following<Outcome: Sendable>(
        _ progress: TransferProgress.Updates,
        _ transfer: @Sendable () async throws(TransferError) -> Outcome
    ) async throws(TransferError) -> Outcome {
        reporter.startTicking()
        defer { reporter.finish() }
        async let listening: Void = listen(to: progress)
        do throws(TransferError) {
            let outcome = try await transfer()
            await listening
            item(.done)
            return outcome
        } catch {
            // On a terminal the error itself says it all.
            if isJSON { item(.failed, error) }
            throw error
        }
    }

    /// Shows a stream, which reports by ``note(moved:of:)``, while `transfer` does its work.
    func streaming<Outcome: Sendable>(
        showsItem: Bool,
        _ transfer: () async throws(TransferError) -> Outcome
    ) async throws(TransferError) -> Outcome {
        reporter.startTicking()
        defer { reporter.finish() }
        if showsItem { item(.started) }
        do throws(TransferError) {
            let outcome = try await transfer()
            if showsItem { item(.done) }
            return outcome
        } catch {
            if isJSON { item(.failed, error) }
            throw error
        }
    }

    /// Adds to the progress of a stream of unknown length.
    @Sendable func note(sent count: Int) {
        let sum = amounts.withLock { amounts in
            amounts.moved += Int64(count)
            return amounts.moved
        }
        note(moved: sum, of: nil)
    }

    /// Takes the progress of a stream; `total` is nil while its length is unknown.
    @Sendable func note(moved: Int64, of total: Int64?) {
        amounts.withLock { amounts in
            amounts.moved = moved
            amounts.size = total ?? moved
        }
        let now = ContinuousClock.now
        let isDue = lastNote.withLock { last in
            if let last, now - last < Self.interval { return false }
            last = now
            return true
        }
        guard isDue else { return }
        reporter.handle(
            .progress(
                RunProgress(
                    isPlanComplete: total != nil,
                    itemsPlanned: 1,
                    itemsFinished: 0,
                    bytesPlanned: total ?? moved,
                    bytesFinished: moved,
                    bytesResumed: 0,
                    active: []
                )
            )
        )
    }

    private func listen(to sequence: TransferProgress.Updates) async {
        var hasBegun = false
        for await progress in sequence {
            amounts.withLock { amounts in
                amounts.size = progress.totalBytes
                amounts.moved += progress.stepBytes
                // Bytes that were not transferred were there already.
                if !hasBegun {
                    amounts.resumed = max(0, progress.completedBytes - progress.stepBytes)
                }
            }
            if !hasBegun { item(amounts.withLock(\.resumed) > 0 ? .resumed : .started) }
            hasBegun = true
            reporter.handle(.progress(runProgress(progress)))
        }
    }

    private func runProgress(_ progress: TransferProgress) -> RunProgress {
        RunProgress(
            isPlanComplete: true,
            itemsPlanned: 1,
            itemsFinished: progress.completedBytes < progress.totalBytes ? 0 : 1,
            bytesPlanned: progress.totalBytes,
            bytesFinished: progress.completedBytes,
            bytesResumed: amounts.withLock(\.resumed),
            active: []
        )
    }

    private func item(_ state: ItemState, _ error: TransferError? = nil) {
        let amounts = amounts.withLock { $0 }
        reporter.handle(
            .item(
                ItemEvent(
                    action: action,
                    state: state,
                    key: subject,
                    size: amounts.size,
                    bytesTransferred: amounts.moved,
                    bytesResumed: amounts.resumed,
                    message: error?.message,
                    requestID: error?.requestID
                )
            )
        )
    }
}

extension StartOverReason {
    /// Why a transfer did not resume where it stopped.
    fileprivate var text: String {
        switch self {
        case .objectChanged: "the object was replaced, so the download starts over"
        case .damaged(let bytes):
            "\(sizeText(bytes)) of the received data are damaged and are fetched again"
        case .wrongContent:
            "the content does not match the store's checksum, so it is fetched "
                + "again"
        default: "the data of an earlier attempt cannot be used, so the transfer starts over"
        }
    }
}
