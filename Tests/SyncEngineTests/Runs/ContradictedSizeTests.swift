import Foundation
import ObjectStorage
import SyncModel
import Testing

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
            try fixture.setFaults("[\(Self.emptyHeads)]")
            // Another writer comes between the listing and the GET, whose condition then fails.
            let engine = try fixture.engine("b") { store in
                HookedStore(store) { call throws(StorageError) in
                    guard call.operation == "GetObject", call.moment == .before, call.number == 1
                    else { return }
                    let content = [UInt8](MirrorFixture.ramp(90_000, 2))
                    let request = PutRequest(key: "mirror/file")
                    _ = try await store.put(request, body: .bytes(content)) { _ in }
                }
            }
            let log = EventLog()
            let options = MirrorFixture.options()
            let summary = try await engine.run(.pull, options: options, onEvent: log.add)
            #expect(summary.transferred == 1)
            #expect(fixture.content("b/file")?.count == 90_000)
            // The listing is older than what was fetched.
            #expect(!summary.isInStep)
            #expect(log.warnings.contains { $0.contains("'file'") && $0.contains("90000") })
            let next = try await fixture.run("b", .pull)
            #expect(next.unchanged == 1 && next.isInStep)
        }

        /// What a run keeps is proven by the sizes that it knows.
        @Test(arguments: [StorageDialect.oss, .s3])
        func `a copy in the bucket is not empty because its HEAD says so`(
            dialect: StorageDialect
        ) async throws {
            let fixture = try await fixture(dialect)
            try fixture.remove("a/file")
            try fixture.setFaults("[\(Self.emptyHeads)]")
            let summary = try await fixture.run("a", .push) { options in
                options.deletesKnown = true
                options.allowsEmpty = true
                options.trash = .remote
            }
            #expect(summary.deleted == 1 && summary.failed == 0 && summary.isInStep)
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

        @Test func `an empty file is not what a link leads to because a HEAD says so`() async throws
        {
            let fixture = try await fixture(.oss)
            let store = try fixture.store(StoreObserver())
            try await store.putSymlink("mirror/link", target: "mirror/file")
            try fixture.write("b/link", Data())
            try fixture.setFaults("[\(Self.emptyHeads)]")
            let summary = try await fixture.run("b", .pull)
            #expect(summary.adopted == 0)
            #expect(fixture.content("b/link")?.count == 70_000)
        }

        @Test(arguments: [StorageDialect.oss, .s3])
        func `copies, permissions and comparisons are not undone by it`(
            dialect: StorageDialect
        ) async throws {
            let fixture = try await fixture(dialect)
            try fixture.setFaults("[\(Self.emptyHeads)]")
            // Renamed, which is a copy in the bucket.
            try FileManager.default.moveItem(
                atPath: fixture.directory("a/file"),
                toPath: fixture.directory("a/renamed")
            )
            let moved = try await fixture.run("a", .push) { $0.deletesKnown = true }
            #expect(moved.renamed == 1 && moved.deleted == 0 && moved.isInStep)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600],
                ofItemAtPath: fixture.directory("a/renamed")
            )
            #expect(try await fixture.run("a", .push).modes == 1)
            // Without a manifest, equal contents are found to be so.
            try fixture.remove("a/.osssync")
            let again = try await fixture.run("a", .sync)
            #expect(again.adopted == 1 && again.conflicts == 0)
            #expect(try fixture.tree("a").keys.sorted() == ["renamed"])
        }
    }
}
