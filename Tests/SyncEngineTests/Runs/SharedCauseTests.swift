import Foundation
import LocalStorage
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    /// Ten failures in a row of one cause end a run; what concerns one item is that item's.
    @Suite("Failures that concern every item")
    struct SharedCauseTests {
        private static func fail(
            _ operation: String,
            _ status: Int,
            _ code: String,
            match: String = ""
        ) -> String {
            #"[{"match": {"operation": "\#(operation)"\#(match)}, "effect": "#
                + #"{"fail": {"status": \#(status), "code": "\#(code)"}}}]"#
        }

        private func fixture(files: Int) async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            for index in 0..<files { try fixture.write("a/f\(1_000 + index)", Data([1])) }
            return fixture
        }

        private func code(
            _ fixture: MirrorFixture,
            _ name: String,
            _ direction: SyncDirection,
            _ log: EventLog = EventLog(),
            _ change: (inout RunOptions) -> Void = { _ in }
        ) async -> TransferError.Code? {
            do {
                try await fixture.run(name, direction, log, change)
                return nil
            } catch {
                return (error as? TransferError)?.code
            }
        }

        private func count(_ fixture: MirrorFixture, _ operation: String) -> Int {
            fixture.operations.count { $0 == operation }
        }

        @Test func `a push that may not write ends with the credentials`() async throws {
            let fixture = try await fixture(files: 300)
            try fixture.setFaults(Self.fail("PutObject", 403, "AccessDenied"))
            let log = EventLog()
            #expect(await code(fixture, "a", .push, log) == .credentials)
            #expect(count(fixture, "PutObject") < 60)
            let summary = try #require(log.summary)
            #expect(summary.notTried > 100)
            #expect(summary.stopped?.contains("10 failures in a row") == true)
        }

        @Test func `a pull that may not read ends with the credentials`() async throws {
            let fixture = try await fixture(files: 300)
            try await fixture.run("a", .push)
            try fixture.setFaults(Self.fail("GetObject", 403, "AccessDenied"))
            #expect(await code(fixture, "b", .pull) == .credentials)
            #expect(count(fixture, "GetObject") < 60)
            #expect(await code(fixture, "c", .sync) == .credentials)
        }

        @Test func `a store without room ends a push with the status of the service`()
            async throws
        {
            let fixture = try await fixture(files: 60)
            try fixture.setFaults(Self.fail("PutObject", 400, "XMinioStorageFull"))
            #expect(await code(fixture, "a", .push) == .remoteUnreachable)
            try fixture.setFaults(Self.fail("PutObject", 403, "QuotaExceeded"))
            #expect(await code(fixture, "a", .push) == .remoteUnreachable)
        }

        @Test func `a key that may not delete ends the run`() async throws {
            let fixture = try await fixture(files: 60)
            try await fixture.run("a", .push)
            for index in 0..<20 { try fixture.remove("a/f\(1_000 + index)") }
            try fixture.setFaults(Self.fail("DeleteMultipleObjects", 403, "AccessDenied"))
            let code = await code(fixture, "a", .push) { $0.deletesKnown = true }
            #expect(code == .credentials)
        }

        @Test func `keys that are denied among others are failures of their items`() async throws {
            let fixture = try await fixture(files: 120)
            try fixture.setFaults(
                Self.fail("PutObject", 403, "AccessDenied", match: #", "every": 4"#)
            )
            let summary = try await fixture.run("a", .push)
            #expect(summary.failed == 30 && summary.transferred == 90)
        }

        @Test func `verifying objects that may not be read ends with the credentials`()
            async throws
        {
            let fixture = try await fixture(files: 60)
            try await fixture.run("a", .push)
            try fixture.setFaults(Self.fail("HeadObject", 403, "AccessDenied"))
            let error = await #expect(throws: TransferError.self) {
                try await fixture.engine("a").verify(VerifyOptions(checksRemote: true)) { _ in }
            }
            #expect(error?.code == .credentials)
            #expect(count(fixture, "HeadObject") == 10)
        }

        @Test func `a full disk ends a pull with the local status`() async throws {
            let fixture = try await fixture(files: 0)
            for index in 0..<30 {
                try await fixture.put("big\(index)", MirrorFixture.ramp(300_000, index))
            }
            let faults = SystemCallFaults(.failFromHereOn(errno: ENOSPC), at: 1, of: ["fallocate"])
            let calls = SystemCalls(usesOpenat2: true, faults: faults)
            let error = await #expect(throws: TransferError.self) {
                try await fixture.engine("b", calls: calls)
                    .run(.pull, options: MirrorFixture.options(), onEvent: { _ in })
            }
            #expect(error?.code == .localState)
        }

        @Test(arguments: [EIO, EINVAL, EACCES])
        func `a disk that takes no files ends a pull before all are fetched`(
            errno: Int32
        ) async throws {
            let fixture = try await fixture(files: 0)
            for index in 0..<200 {
                try await fixture.put("f\(1_000 + index)", MirrorFixture.ramp(300_000, index))
            }
            // Only files that are fetched have their room reserved.
            let faults = SystemCallFaults(.failFromHereOn(errno: errno), at: 1, of: ["fallocate"])
            let calls = SystemCalls(usesOpenat2: true, faults: faults)
            let error = await #expect(throws: TransferError.self) {
                try await fixture.engine("b", calls: calls)
                    .run(.pull, options: MirrorFixture.options(), onEvent: { _ in })
            }
            #expect(error?.code == .localState)
            #expect(count(fixture, "GetObject") < 100)
        }

        @Test func `of a listing that was refused nothing is planned`() async throws {
            let fixture = try await fixture(files: 1)
            try fixture.setFaults(Self.fail("ListObjectsV2", 403, "AccessDenied"))
            let log = EventLog()
            #expect(await code(fixture, "a", .push, log) == .forbidden)
            #expect(log.summary?.isPlanComplete == false)
        }
    }
}
