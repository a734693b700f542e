import ObjectTransfer
import Testing

@testable import SyncEngine

@Suite("Errors that end a run")
struct FailureMappingTests {
    @Test func `an item's failure is what it is of a single transfer`() {
        let answer = ItemFailure.ServiceAnswer(requestID: "R", status: 503)
        let failures: [ItemFailure] = [
            .storage(message: "busy", answer: answer, cause: .passing),
            .storage(message: "no", cause: .forbidden), .vanished(answer),
            .manifest(message: "full"), .local(message: "bad", stops: true),
        ]
        for failure in failures {
            let error = TransferError(any: failure)
            #expect(error.code == TransferError(failure, of: "k").code)
            #expect(error.message == failure.message)
            #expect(error.requestID == failure.requestID)
            #expect(error.isRetryable == failure.isPassing)
        }
    }

    @Test func `an item that was interrupted is a run that was`() {
        let error = TransferError(any: ItemFailure.cancelled)
        #expect(error.code == .cancelled)
        #expect(error.message == TransferError.interrupted.message)
    }
}
