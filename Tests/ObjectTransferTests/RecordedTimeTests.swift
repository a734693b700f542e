import SyncModel
import Testing

@testable import ObjectTransfer

@Suite("Recorded times")
struct RecordedTimeTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let modified: (Int64, Int32)
        /// By the file system's clock.
        let isCoarse: Bool
        var changed: Int64 = 50
        let start: (Int64, Int32)
        let isRecent: Bool
        var testDescription: String { "\(modified) at \(start)" }
    }

    private func file(
        _ modified: Timestamp,
        isCoarse: Bool,
        changed: Int64 = 50
    ) -> FileIdentity {
        FileIdentity(
            size: 1,
            modified: modified,
            changed: Timestamp(seconds: changed, nanoseconds: isCoarse ? 0 : 9),
            inode: 1,
            device: 1
        )
    }

    @Test(arguments: [
        // Whole seconds: FAT counts in twos.
        Case(modified: (100, 0), isCoarse: true, start: (100, 0), isRecent: true),
        Case(modified: (100, 0), isCoarse: true, start: (101, 900_000_000), isRecent: true),
        Case(modified: (100, 0), isCoarse: true, start: (102, 0), isRecent: false),
        Case(modified: (100, 0), isCoarse: true, start: (103, 0), isRecent: false),
        // A whole second that was set, where the clock is finer.
        Case(modified: (100, 0), isCoarse: false, start: (100, 0), isRecent: false),
        // Ticks of the clock.
        Case(modified: (100, 7), isCoarse: false, start: (100, 7), isRecent: true),
        Case(modified: (100, 7), isCoarse: false, start: (100, 50_000_006), isRecent: true),
        Case(modified: (100, 7), isCoarse: false, start: (100, 50_000_007), isRecent: false),
        // Changed while it was read or sent.
        Case(modified: (100, 7), isCoarse: false, start: (99, 0), isRecent: true),
        // An old time that was set back in the second of the ctime.
        Case(modified: (7, 0), isCoarse: true, changed: 100, start: (101, 9), isRecent: true),
        Case(modified: (7, 0), isCoarse: true, changed: 100, start: (102, 0), isRecent: false),
        Case(modified: (7, 5), isCoarse: false, changed: 100, start: (100, 9), isRecent: false),
        // A change never gets a time that is to come.
        Case(modified: (111, 0), isCoarse: true, start: (100, 0), isRecent: true),
        Case(modified: (114, 0), isCoarse: true, start: (100, 0), isRecent: false),
        Case(modified: (110, 60_000_000), isCoarse: false, start: (100, 0), isRecent: false),
        Case(modified: (4_102_444_800, 0), isCoarse: true, start: (100, 0), isRecent: false),
    ])
    func `a file that changed in the moment of its recording gets a time that no file has`(
        test: Case
    ) {
        let modified = Timestamp(seconds: test.modified.0, nanoseconds: test.modified.1)
        let start = Timestamp(seconds: test.start.0, nanoseconds: test.start.1)
        let now = Timestamp(seconds: test.start.0 + 10, nanoseconds: test.start.1)
        let file = file(modified, isCoarse: test.isCoarse, changed: test.changed)
        let recorded = RecordedTime.of(file, since: start, now: now)
        let other = Timestamp(nanosecondsSince1970: modified.nanosecondsSince1970 - 1)
        #expect(recorded == (test.isRecent ? other : modified))
    }

    @Test func `a file that was just published has a ctime that tells of nothing else`() {
        let (now, old) = (Timestamp(seconds: 100), Timestamp(seconds: 7))
        let file = file(old, isCoarse: true, changed: 100)
        #expect(RecordedTime.of(file, since: now, now: now, comparesChange: false) == old)
    }

    @Test func `a file whose content was not looked at is recorded as it is`() {
        let now = Timestamp(seconds: 100)
        #expect(RecordedTime.of(file(now, isCoarse: true), since: nil, now: now) == now)
    }
}
