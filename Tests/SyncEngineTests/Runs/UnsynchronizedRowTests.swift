import Foundation
import LocalStorage
import ObjectStorage
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    @Suite("Rows of files that the user made")
    struct UnsynchronizedRowTests {
        private func ramp(_ count: Int) -> Data { MirrorFixture.ramp(count) }

        /// A push with a disk that does not take what it was given.
        private func failedPush(_ fixture: MirrorFixture) async throws -> RunSummary {
            let faults = SystemCallFaults(.failFromHereOn(errno: EIO), at: 1, of: ["syncfs"])
            let calls = SystemCalls(usesOpenat2: true, faults: faults)
            return try await fixture.engine("a", calls: calls)
                .run(.push, options: MirrorFixture.options()) { _ in }
        }

        @Test func `an upload is recorded only when the disk has the file`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/f", ramp(100))
            #expect(try await failedPush(fixture).failed == 1)
            // The object is there. A power cut takes the file, which no program had made durable.
            try fixture.remove("a/f")
            let push = try await fixture.run("a", .push) {
                $0.deletesKnown = true
                $0.deletionLimit = .percent(100)
                $0.allowsEmpty = true
            }
            #expect(push.deleted == 0)
            #expect(try await fixture.objects() == ["f"])
        }

        @Test func `a file that was adopted is recorded only when the disk has it`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/f", ramp(100))
            try await fixture.put("f", ramp(100))
            #expect(try await failedPush(fixture).failed == 1)
            let push = try await fixture.run("a", .push)
            #expect((push.adopted, push.bytes) == (1, 0))
            #expect(try await fixture.run("a", .push).unchanged == 1)
        }

        @Test func `thousands of uploads wait for the disk a few times`() async throws {
            let fixture = try MirrorFixture()
            for number in 0..<300 { try fixture.write("a/f\(number)", ramp(number)) }
            let faults = SystemCallFaults(.fail(errno: EIO), at: 12, of: ["syncfs"])
            let calls = SystemCalls(usesOpenat2: true, faults: faults)
            let push = try await fixture.engine("a", calls: calls)
                .run(.push, options: MirrorFixture.options()) { _ in }
            // The twelfth was never asked for.
            #expect(push.isInStep)
            #expect(push.transferred == 300)
        }
    }

    @Suite("What a run leaves unfinished")
    struct UnfinishedTests {
        private let size = 6 << 20

        @Test func `an excluded download goes on when it is included again`() async throws {
            let fixture = try MirrorFixture()
            let content = MirrorFixture.ramp(size)
            try await fixture.put("big.iso", content)
            try await fixture.put("f", MirrorFixture.ramp(10))
            // The last megabyte does not come.
            try fixture.setFaults(
                #"""
                [{"match": {"operation": "GetObject", "key": "mirror/big.iso", "from": 3},
                  "effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]
                """#
            )
            let first = try await fixture.run("b", .pull) { $0.connectionLimit = 1 }
            #expect(first.failed == 1)
            try fixture.setFaults("[]")
            let without = try await fixture.run("b", .pull) { options in
                try? options.filter.exclude("*.iso")
            }
            #expect(without.isInStep)
            let last = try await fixture.run("b", .pull)
            #expect(fixture.content("b/big.iso") == content)
            #expect(last.bytesResumed > 0)
            #expect(last.bytes + last.bytesResumed == Int64(size))
        }

        @Test func `an upload that began long after ours is another writer's`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/big", MirrorFixture.ramp(size))
            var engine = try fixture.engine("a") { store in
                HookedStore(store) { call throws(StorageError) in
                    guard call.operation == "InitiateMultipartUpload", call.moment == .before
                    else { return }
                    throw StorageError(kind: .cancelled, operation: call.operation)
                }
            }
            // The kill was two hours ago, before the request reached the service.
            engine.settings.environment.now = { MirrorFixture.now() - .seconds(7_200) }
            await #expect(throws: TransferError.self) {
                try await engine.run(.push, options: MirrorFixture.options()) { _ in }
            }
            let store = try fixture.store(StoreObserver())
            let other = try await store.initiateMultipartUpload(PutRequest(key: "mirror/big"))
            #expect(try await fixture.run("a", .push).isInStep)
            let open = try await store.listMultipartUploads(ListUploadsRequest(prefix: "mirror/"))
            #expect(open.entries.map(\.upload) == [other])
        }
    }
}
