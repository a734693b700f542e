import Foundation
import StorageServer
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    @Suite("Runs that stop at a limit")
    struct StoppedRunTests {
        private static let large = 12 << 20

        private func fixture() throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            try fixture.write("a/gone", MirrorFixture.ramp(10))
            return fixture
        }

        @Test func `a run that moved enough stops at a checkpoint, and the next one continues`()
            async throws
        {
            let fixture = try fixture()
            try await fixture.run("a", .push)
            try fixture.remove("a/gone")
            try fixture.write("a/large", MirrorFixture.ramp(Self.large))
            // The first parts are sent, and the others wait.
            try fixture.setFaults(
                """
                [{"match": {"operation": "UploadPart", "from": 4}, "effect": {"hold": true}}]
                """
            )
            let stopped = try await fixture.run("a", .push) { options in
                options.deletesKnown = true
                options.maximumTransfer = 1
            }
            #expect(stopped.reachedLimit == .transfer)
            #expect(stopped.stopped == "max-transfer")
            #expect(stopped.isWithoutProblems && !stopped.isComplete && !stopped.isInStep)
            #expect(stopped.deleted == 0)
            #expect(try await fixture.objects() == ["gone"])
            try fixture.setFaults("[]")
            let next = try await fixture.run("a", .push) { $0.deletesKnown = true }
            #expect(next.isInStep)
            #expect(next.bytesResumed + next.bytes == Int64(Self.large))
            #expect(try await fixture.objects() == ["large"])
        }

        /// Each sends one part, whatever else it might begin, and none is sent twice.
        @Test func `runs with a small limit get everything there in the end`() async throws {
            let fixture = try fixture()
            for index in 0..<3 {
                try fixture.write("a/large\(index)", MirrorFixture.ramp(3 << 20, index))
            }
            var runs = 0
            var summary: RunSummary
            repeat {
                summary = try await fixture.run("a", .push) { options in
                    (options.partSize, options.maximumTransfer) = (1 << 20, 1)
                }
                runs += 1
                #expect(summary.isWithoutProblems)
            } while !summary.isInStep && runs < 30
            #expect(summary.isInStep && summary.reachedLimit == nil)
            let log = fixture.server.requestLog
            #expect(log.count { $0.operation == "UploadPart" } == 9)
            #expect(log.count { $0.operation == "PutObject" } == 1)
            #expect(runs <= 11, "a run moved nothing")
        }

        @Test func `a run whose time is over stops, and is no success`() async throws {
            let fixture = try fixture()
            try fixture.setFaults(
                #"[{"match": {"operation": "ListObjectsV2"}, "effect": {"hold": true}}]"#
            )
            let stopped = try await fixture.run("a", .push) { options in
                options.maximumDuration = .milliseconds(300)
            }
            #expect(stopped.reachedLimit == .duration && stopped.stopped == "max-duration")
            #expect(!stopped.isPlanComplete)
            try fixture.setFaults("[]")
            let status = try await fixture.engine("a").status(options: MirrorFixture.options())
            #expect(status.lastSuccess.isEmpty)
            let runs = try await fixture.engine("a").history.runs(limit: 1)
            #expect(runs.first?.end?.outcome == "incomplete")
            #expect(runs.first?.end?.message == "max-duration")
        }

        @Test func `a run that nothing answered fails, whatever its limit`() async throws {
            let fixture = try fixture()
            try fixture.setFaults(
                """
                [{"match": {}, "effect": {"close": {"when": "before", "how": "rst"}}}]
                """
            )
            let error = await #expect(throws: TransferError.self) {
                try await fixture.run("a", .push) { $0.maximumDuration = .seconds(2) }
            }
            #expect(error?.code == .remoteUnreachable)
            try fixture.setFaults("[]")
        }

        @Test func `a run that ends before its limits is like any other`() async throws {
            let fixture = try fixture()
            let summary = try await fixture.run("a", .push) { options in
                (options.maximumTransfer, options.maximumDuration) = (1 << 30, .seconds(600))
            }
            #expect(summary.isInStep && summary.reachedLimit == nil && summary.stopped == nil)
        }

        @Test func `what fails before the limit is told`() async throws {
            let fixture = try fixture()
            try fixture.setFaults(
                """
                [{"match": {"operation": "PutObject"}, "effect": {"fail": {"status": 403,
                  "code": "SecurityTokenExpired"}}}]
                """
            )
            await #expect(throws: TransferError.self) {
                try await fixture.run("a", .push) { $0.maximumDuration = .seconds(600) }
            }
        }
    }
}
