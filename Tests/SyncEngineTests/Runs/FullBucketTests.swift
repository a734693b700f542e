import Foundation
import ObjectTransfer
import SyncModel
import Testing

@testable import SyncEngine

extension EngineRuns {
    /// What is deleted may make room for the next run, as on a full disk.
    @Suite("A bucket that is full")
    struct FullBucketTests {
        @Test(arguments: [2, 30], [SyncDirection.push, .sync])
        func `is freed of what was deleted, and keeps what was renamed`(
            count: Int,
            direction: SyncDirection
        ) async throws {
            let fixture = try MirrorFixture()
            for number in 1...40 { try fixture.write("a/f\(number)", Data("\(number)".utf8)) }
            try await fixture.run("a", .push)
            for name in ["a/f1", "a/f2"] { try fixture.remove(name) }
            try fixture.rename("a/f3", to: "a/z")
            for number in 1...count { try fixture.write("a/n\(number)", Data("new".utf8)) }
            let refusals = ["PutObject", "CopyObject"].map { operation in
                #"{"match": {"operation": "\#(operation)"}, "effect": {"fail": {"status": 403, "#
                    + #""code": "QuotaExceeded"}}}"#
            }
            try fixture.setFaults("[" + refusals.joined(separator: ",") + "]")
            let log = EventLog()
            do {
                let run = try await fixture.run("a", direction, log) {
                    $0.deletesKnown = true
                    // So that the renamed file, the last one, is not tried any more.
                    $0.connectionLimit = 1
                }
                #expect(count < 10 && run.failed == count + 1 && !run.isComplete, "\(run)")
            } catch let error as TransferError {
                #expect(count > 10 && error.code == .remoteUnreachable, "\(error)")
                #expect(error.message.contains("The bucket is full"))
            }
            #expect(log.summary?.deleted == 2, "\(String(describing: log.summary))")
            let objects = try await fixture.objects()
            #expect(objects.count == 38 && objects.contains("f3"))
            try fixture.setFaults("[]")
            let run = try await fixture.run("a", direction) { $0.deletesKnown = true }
            #expect(run.isInStep && run.isComplete, "\(run)")
            #expect(try await fixture.objects().count == 38 + count)
        }

        @Test func `is no reason to delete here what cannot be fetched`() async throws {
            let fixture = try MirrorFixture()
            for number in 1...30 { try fixture.write("a/f\(number)", Data("\(number)".utf8)) }
            try await fixture.run("a", .push)
            try await fixture.run("b", .pull)
            try await fixture.deleteObject("f1")
            for number in 1...3 { try await fixture.put("n\(number)", Data("new".utf8)) }
            try fixture.setFaults(
                #"[{"match": {"operation": "GetObject"}, "effect": {"fail": {"status": 403, "#
                    + #""code": "DownloadQuotaExceeded"}}}]"#
            )
            let run = try await fixture.run("b", .pull) { $0.deletesKnown = true }
            #expect(run.failed == 3 && run.deleted == 0 && fixture.exists("b/f1"), "\(run)")
        }
    }
}
