import SyncModel
import Testing

@testable import SyncEngine

/// What items leave behind for the end of a run.
@Suite("The ledger of a run")
struct RunLedgerTests {
    private let ledger = RunLedger(waitingLimit: 10)

    @Test func `counts each name once, also those that are too many to be kept`() {
        for _ in 0..<3 {
            for index in 0..<1_000 { ledger.countSkippedName(ObjectKey("k\(index)")) }
        }
        #expect((ledger.skippedNames.count, ledger.skippedItems) == (1_000, 0))
        for _ in 0..<3 {
            for index in 0..<1_500 { ledger.countSkippedName(ObjectKey("k\(index)")) }
        }
        #expect((ledger.skippedNames.count, ledger.skippedItems) == (1_000, 1_500))
        ledger.countSkipped()
        #expect(ledger.skippedItems == 1_501)
    }

    @Test func `counts files that were not sent with those that are kept`() {
        for inode in 0..<100_000 { ledger.noteUnsent(inode: UInt64(inode), at: "k") }
        #expect(ledger.skippedItems == 0)
        for inode in 99_990..<100_010 { ledger.noteUnsent(inode: UInt64(inode), at: "k") }
        #expect(ledger.skippedItems == 100_010)
    }
}
