import Foundation
import ObjectStorage
import SyncModel
import Testing

@testable import SyncEngine

extension EngineRuns {
    @Suite("Uploads that wait for deletions")
    struct DeferredUploadTests {
        /// Refuses a PUT above or beneath an object that is there, as a directory would.
        private func engine(_ fixture: MirrorFixture, code: String) throws -> MirrorEngine {
            try fixture.engine("a") { store in
                HookedStore(store) { call throws(StorageError) in
                    guard call.operation == "PutObject", call.moment == .before else { return }
                    let keys = try await store.list(
                        ListRequest(prefix: "mirror/", delimiter: nil, maximumKeys: 1_000)
                    ).objects.map(\.key.display)
                    let isBlocked = keys.contains { key in
                        key.hasPrefix(call.key + "/") || call.key.hasPrefix(key + "/")
                    }
                    guard isBlocked else { return }
                    throw StorageError(
                        kind: .service(status: 409, code: code),
                        operation: "PutObject",
                        key: ObjectKey(call.key)
                    )
                }
            }
        }

        @Test func `an upload beneath an object that is deleted waits for the deletion`()
            async throws
        {
            let fixture = try MirrorFixture()
            try fixture.write("a/x", Data([1]))
            try fixture.write("a/y/1", Data([2]))
            try fixture.write("a/y/2", Data([3]))
            try await fixture.run("a", .push)
            // A file becomes a directory, and a directory a file.
            try fixture.remove("a/x")
            try fixture.write("a/x/deep/file", Data([4]))
            try fixture.remove("a/y")
            try fixture.write("a/y", Data([5]))
            let options = MirrorFixture.options { $0.deletesKnown = true }
            let summary = try await engine(fixture, code: "XMinioParentIsObject")
                .run(.push, options: options, onEvent: { _ in })
            #expect(summary.transferred == 2 && summary.deleted == 3 && summary.failed == 0)
            #expect(summary.isInStep)
            #expect(try await fixture.objects() == ["x/deep/file", "y"])
        }

        @Test func `so does the marker of a directory in the place of a file`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/x", Data([1]))
            try fixture.write("a/y", Data([2]))
            try await fixture.run("a", .push)
            try fixture.remove("a/x")
            try fixture.makeDirectory("a/x")
            let options = MirrorFixture.options { $0.deletesKnown = true }
            let summary = try await engine(fixture, code: "XMinioParentIsObject")
                .run(.push, options: options, onEvent: { _ in })
            #expect(summary.transferred == 1 && summary.deleted == 1 && summary.failed == 0)
            #expect(summary.isInStep)
            #expect(try await fixture.objects() == ["x/", "y"])
        }

        @Test func `an upload beside an object that stays holds back nothing else`() async throws {
            let fixture = try MirrorFixture()
            for name in ["a/w", "a/x"] { try fixture.write(name, Data([1])) }
            try await fixture.run("a", .push)
            try fixture.remove("a/w")
            // Another writer's.
            try await fixture.put("f", Data([2]))
            try await fixture.put("g/1", Data([3]))
            try fixture.write("a/f/new", Data([4]))
            try fixture.write("a/g", Data([5]))
            let log = EventLog()
            let options = MirrorFixture.options {
                $0.deletesKnown = true
                $0.conflictPolicy = .local
            }
            let summary = try await engine(fixture, code: "XMinioParentIsObject")
                .run(.push, options: options, onEvent: log.add)
            #expect(summary.deleted == 1 && summary.skipped == 3, "\(summary)")
            #expect(summary.failed == 0 && !summary.isInStep)
            #expect(log.skipped("f")?.contains("a pull can have only one") == true)
            #expect(log.skipped("f/new")?.contains("the bucket has 'f'") == true)
            #expect(log.skipped("g")?.contains("the bucket has 'g/1'") == true)
            #expect(try await fixture.objects() == ["f", "g/1", "x"])
        }

        @Test func `an upload that is refused for another reason holds deletions back`()
            async throws
        {
            let fixture = try MirrorFixture()
            for name in ["a/x", "a/y"] { try fixture.write(name, Data([1])) }
            try await fixture.run("a", .push)
            try fixture.remove("a/x")
            try fixture.write("a/new", Data([2]))
            try fixture.setFaults(
                #"[{"match": {"operation": "PutObject"}, "effect": {"fail": {"status": 409, "#
                    + #""code": "Odd"}}}]"#
            )
            let summary = try await fixture.run("a", .push) { $0.deletesKnown = true }
            #expect(summary.failed == 1 && summary.deleted == 0)
            #expect(summary.deletionsHeldBack != nil)
        }

        @Test func `an object that is listed and not there in two runs has failed`() async throws {
            let fixture = try MirrorFixture()
            try await fixture.put("f", Data([1]))
            try fixture.setFaults(
                #"[{"match": {"operation": "GetObject"}, "effect": {"fail": {"status": 404, "#
                    + #""code": "NoSuchKey"}}}]"#
            )
            let first = try await fixture.run("b", .pull)
            #expect(first.vanished == 1 && first.failed == 0)
            let second = try await fixture.run("b", .pull)
            #expect(second.failed == 1 && !second.isWithoutProblems)
            // Another version that is gone is another writer's doing again.
            try await fixture.put("f", Data([2, 3]))
            let third = try await fixture.run("b", .pull)
            #expect(third.vanished == 1 && third.failed == 0)
        }
    }
}
