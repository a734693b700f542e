import Foundation
import LocalStorage
import ObjectStorage
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    /// Some gateways count the body that they send, and so say 0 in the answer to every HEAD.
    @Suite("Sizes that contradict the listing")
    struct ContradictedSizeTests {
        private static let emptyHeads =
            #"{"match": {"operation": "HeadObject"}, "effect": {"headers": {"set": "#
            + #"{"Content-Length": "0"}}}}"#

        private func fixture(_ dialect: StorageDialect) async throws -> MirrorFixture {
            let fixture = try MirrorFixture(dialect: dialect)
            try fixture.write("a/file", MirrorFixture.ramp(70_000))
            try await fixture.run("a", .push)
            return fixture
        }

        @Test(arguments: [StorageDialect.oss, .s3])
        func `an object that was replaced is not empty because its HEAD says so`(
            dialect: StorageDialect
        ) async throws {
            let fixture = try await fixture(dialect)
            try await fixture.run("b", .pull)
            try await fixture.put("file", MirrorFixture.ramp(80_000, 1))
            // Another writer comes between the listing and the GET.
            try fixture.setFaults(
                #"[{"match": {"operation": "GetObject", "occurrence": 1}, "effect": "#
                    + #"{"replaceObject": {"at": 0, "size": 90000}}}, \#(Self.emptyHeads)]"#
            )
            let log = EventLog()
            let summary = try await fixture.run("b", .pull, log)
            #expect(summary.transferred == 1)
            #expect(fixture.content("b/file")?.count == 90_000)
            // The listing is older than what was fetched.
            #expect(!summary.isInStep)
            #expect(log.warnings.contains { $0.contains("'file'") && $0.contains("90000") })
            let next = try await fixture.run("b", .pull)
            #expect(next.unchanged == 1 && next.isInStep)
        }

        @Test func `an object that is empty by its GET, too, is an empty file`() async throws {
            let fixture = try await fixture(.s3)
            try fixture.setFaults(
                #"[{"match": {"operation": "GetObject", "occurrence": 1}, "effect": "#
                    + #"{"replaceObject": {"at": 0, "size": 0}}}]"#
            )
            let summary = try await fixture.run("b", .pull)
            #expect(summary.transferred == 1 && !summary.isInStep)
            #expect(fixture.content("b/file") == Data())
        }
    }
}
