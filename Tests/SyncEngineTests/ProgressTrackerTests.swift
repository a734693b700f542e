import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

@Suite("Counting what a run does")
struct ProgressTrackerTests {
    private let tracker = ProgressTracker(direction: .push)

    @Test func `sizes that sum up beyond all numbers are the largest number`() {
        for _ in 0..<2 {
            tracker.planned(bytes: .max)
            tracker.finishedItem(bytes: .max)
            tracker.wouldTransfer("a", bytes: .max, resumed: 0)
        }
        let progress = tracker.snapshot()
        #expect(progress.bytesPlanned == .max)
        #expect(progress.bytesFinished == .max)
        #expect(progress.itemsFinished == 2)
        #expect(tracker.summary.bytes == .max)
        #expect(tracker.summary.transferred == 2)
    }

    @Test func `what is fetched again counts as traffic and not as progress`() {
        let transfer = tracker.begin(.download, key: "f", size: 100)
        transfer.setResumed(40)
        transfer.add(30)
        #expect(tracker.snapshot().bytesFinished == 70)
        transfer.startOver()
        #expect(tracker.snapshot().bytesFinished == 0)
        transfer.add(90)
        #expect(tracker.snapshot().bytesFinished == 90)
        transfer.add(20)
        #expect(tracker.snapshot().bytesFinished == 100)
        transfer.addCopied(7)
        #expect(tracker.snapshot().bytesCopied == 7)
        tracker.end(transfer)
        tracker.end(transfer)
        #expect(tracker.snapshot().bytesFinished == 100)
        #expect(tracker.snapshot().bytesCopied == 7)
        #expect(tracker.summary.bytes == 140)
        #expect(tracker.summary.bytesResumed == 0)
    }
}
