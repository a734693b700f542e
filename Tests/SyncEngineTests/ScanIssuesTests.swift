import LocalStorage
import SyncModel
import Synchronization
import Testing

@testable import SyncEngine

@Suite("What a walk could not take")
struct ScanIssuesTests {
    private let reported = Box<[WalkIssue]>([])

    private func makeIssues() -> ScanIssues {
        let reported = reported
        return ScanIssues { issue in reported.value.withLock { $0.append(issue) } }
    }

    private func link(_ path: String) -> WalkIssue {
        WalkIssue(path: [UInt8](path.utf8), reason: .symbolicLink)
    }

    @Test func `what the plan has passed takes no memory`() {
        let issues = makeIssues()
        var most = 0
        for index in 0..<50_000 {
            issues.report(link("d/\(100_000 + index)"))
            most = max(most, issues.hiddenCount)
            // The walk runs some batches ahead of the plan.
            if index >= 500 { issues.planReached(ObjectKey("d/\(100_000 + index - 500)")) }
        }
        #expect(most <= 2_048)
        #expect(issues.hides("d/149999/x"))
    }

    @Test func `what still hides a key stays, however far the plan is`() {
        let issues = makeIssues()
        for index in 0..<5_000 { issues.report(link("a/\(10_000 + index)")) }
        for path in ["d", "d-x", "e"] { issues.report(link(path)) }
        issues.planReached("d-x/y")
        #expect(issues.hiddenCount == 3)
        // The decision on a key waits for those that begin with it.
        #expect(issues.hides("d"))
        #expect(issues.hides("d-x/y"))
        #expect(issues.hides("d/y"))
        #expect(issues.hides("e"))
        #expect(!issues.hides("a/10000"))
    }

    @Test func `links beyond the first hundred are counted, not named`() {
        let issues = makeIssues()
        for index in 0..<100 { issues.report(link("l\(1_000 + index)")) }
        #expect(issues.unnamedMessage == nil)
        for index in 100..<350 { issues.report(link("l\(1_000 + index)")) }
        issues.report(WalkIssue(path: [0x6D], reason: .unreadableDirectory(errno: 5)))
        #expect(reported.value.withLock { $0.count } == 101)
        #expect(!issues.isScanProven)
        #expect(
            issues.unnamedMessage
                == "250 more links, special files and reserved names are skipped; the first 100 "
                + "were listed"
        )
    }

    @Test func `tells of a tagged directory in the shard that has its key`() {
        let all: [KeyRange] = [
            KeyRange(from: "a", before: "d/m"), KeyRange(from: "d/m", before: "e"),
        ]
        let counts = all.map { range in
            let told = Mutex(0)
            let issues = ScanIssues(in: range) { _ in told.withLock { $0 += 1 } }
            issues.report(WalkIssue(path: [UInt8]("d".utf8), reason: .tagged(by: ".nobackup")))
            #expect(issues.isTagged("d/x") && issues.taggedCount == told.withLock(\.self))
            return issues.taggedCount
        }
        #expect(counts == [1, 0])
    }
}
