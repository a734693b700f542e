import Foundation
import ObjectStorage
import StorageServer
import SyncModel
import Synchronization
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    @Suite("The look before deletions")
    struct DeletionRecheckTests {
        /// A pushed directory of `count` files, of which the first `removed` and those of `others`
        /// are gone since.
        private func fixture(
            count: Int,
            removed: Int,
            others: [Int] = []
        ) async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            for index in 0..<count { try fixture.write("a/f\(1_000 + index)", Data([1])) }
            try await fixture.run("a", .push)
            for index in Array(0..<removed) + others { try fixture.remove("a/f\(1_000 + index)") }
            fixture.server.clearRequestLog()
            return fixture
        }

        private func push(
            _ fixture: MirrorFixture,
            pageSize: Int = 1_000,
            _ log: EventLog = EventLog(),
            _ hook: @escaping HookedStore.Hook = { _ in }
        ) async throws -> RunSummary {
            let engine = try fixture.engine("a") { store in
                HookedStore(store, pageSize: pageSize, hook: hook)
            }
            let options = MirrorFixture.options { options in
                options.deletesKnown = true
                options.deletionLimit = .percent(100)
            }
            return try await engine.run(.push, options: options, onEvent: log.add)
        }

        private func count(_ operation: String, _ fixture: MirrorFixture) -> Int {
            fixture.server.requestLog.count { $0.operation == operation }
        }

        @Test(arguments: [SyncDirection.pull, .push])
        func `a connection that is lost in the middle ends the deletions`(
            direction: SyncDirection
        ) async throws {
            let fixture = try MirrorFixture()
            for number in 0..<60 { try fixture.write("a/f\(number)", Data([1])) }
            try await fixture.run("a", .push)
            for number in 0..<60 {
                if direction == .push {
                    try fixture.remove("a/f\(number)")
                } else {
                    try await fixture.deleteObject("f\(number)")
                }
            }
            try fixture.write("a/kept", Data([1]))
            try await fixture.put("kept", Data([1]))
            let asked = Mutex(0)
            let engine = try fixture.engine("a") { store in
                HookedStore(store) { call throws(StorageError) in
                    let isLook = call.operation == "ListObjectsV2" && call.number > 1
                    guard call.moment == .before, isLook || call.operation == "HeadObject" else {
                        return
                    }
                    asked.withLock { $0 += 1 }
                    let reason = TransportError.connectFailed(reason: "no route")
                    throw StorageError(kind: .transport(reason), operation: call.operation)
                }
            }
            let options = MirrorFixture.options { options in
                options.deletesKnown = true
                options.allowsEmpty = true
                options.deletionLimit = .percent(100)
                options.connectionLimit = 8
            }
            let error = await #expect(throws: TransferError.self) {
                try await engine.run(direction, options: options) { _ in }
            }
            #expect(error?.code == .remoteUnreachable)
            #expect(asked.withLock { $0 } <= options.connectionLimit + 1)
        }

        @Test(arguments: [SyncDirection.pull, .sync])
        func `files are deleted only if their objects are gone when they are asked for`(
            direction: SyncDirection
        ) async throws {
            let fixture = try MirrorFixture()
            for key in ["a", "b", "c", "d/", "e/"] {
                try await fixture.put(key, key.hasSuffix("/") ? Data() : Data(key.utf8))
            }
            try await fixture.run("x", .pull)
            for key in ["a", "b", "d/", "e/"] { try await fixture.deleteObject(key) }
            let log = EventLog()
            let engine = try fixture.engine("x") { store in
                HookedStore(store) { call in
                    guard call.operation == "ListObjectsV2", call.moment == .after else { return }
                    try? await fixture.put("a", Data("a".utf8))
                    try? await fixture.put("d/", Data())
                }
            }
            let options = MirrorFixture.options { options in
                options.deletesKnown = true
                options.trashDays = 0
            }
            let run = try await engine.run(direction, options: options, onEvent: log.add)
            #expect((run.deleted, run.skipped) == (2, 2))
            #expect(!run.isInStep)
            #expect(log.skipped("a")?.contains("exists in the store") == true)
            #expect(fixture.exists("x/a") && fixture.exists("x/d"))
            #expect(!fixture.exists("x/b") && !fixture.exists("x/e"))
            let next = try await fixture.run("x", direction) { $0.deletesKnown = true }
            #expect(next.isInStep)
            #expect((next.transferred, next.deleted) == (0, 0))
        }

        @Test func `a page answers for all deletions in its range`() async throws {
            let fixture = try await fixture(count: 120, removed: 100)
            let push = try await push(fixture)
            #expect(push.deleted == 100)
            #expect(push.isInStep)
            #expect(fixture.operations == ["DeleteMultipleObjects"])
            #expect(count("ListObjectsV2", fixture) == 2)
            #expect(try await fixture.objects().count == 20)
        }

        @Test func `deletions that lie far apart are asked for one by one`() async throws {
            let fixture = try await fixture(count: 300, removed: 1, others: [150, 299])
            let push = try await push(fixture, pageSize: 100)
            #expect(push.deleted == 3)
            #expect(count("HeadObject", fixture) == 2)
            #expect(count("ListObjectsV2", fixture) == 4)
            #expect(try await fixture.objects().count == 297)
        }

        @Test func `what was written since the listing stays and is reported`() async throws {
            let fixture = try await fixture(count: 60, removed: 40)
            let log = EventLog()
            let push = try await push(fixture, log) { call throws(StorageError) in
                guard call.operation == "ListObjectsV2", call.number == 2, call.moment == .before
                else { return }
                try? await fixture.put("f1007", Data("of another writer".utf8))
                try? await fixture.deleteObject("f1009")
            }
            // Of forty, one is another version, and one was gone already.
            #expect(push.deleted == 38)
            #expect(push.conflicts == 1)
            #expect(!push.isInStep)
            #expect(log.skipped("f1007")?.contains("another writer") == true)
            #expect(try await fixture.object("f1007") == Data("of another writer".utf8))
            #expect(try await fixture.objects().count == 21)
            // The row of what was gone already is forgotten like the others.
            let again = try await self.push(fixture)
            #expect(again.deleted == 0)
        }

        @Test func `what came back here since the walk keeps its object`() async throws {
            let fixture = try await fixture(count: 60, removed: 40)
            let log = EventLog()
            let push = try await push(fixture, log) { call throws(StorageError) in
                guard call.operation == "ListObjectsV2", call.number == 2, call.moment == .after
                else { return }
                try? fixture.write("a/f1007", Data([1]))
                try? fixture.makeDirectory("a/f1008")
                try? fixture.link("a/f1009", to: "nowhere")
            }
            // A directory takes the place of a file for good.
            #expect(push.deleted == 38)
            #expect(push.skipped == 2)
            #expect(!push.isInStep)
            #expect(log.skipped("f1007")?.contains("changed after the plan was made") == true)
            #expect(log.skipped("f1009") != nil)
            #expect(try await fixture.objects().prefix(2) == ["f1007", "f1009"])
            try fixture.remove("a/f1009")
            let again = try await self.push(fixture)
            #expect(again.isInStep)
            #expect(again.deleted == 1)
            #expect(again.transferred == 1)
            #expect(try await fixture.objects().first == "f1007")
        }

        @Test func `what a page lacks is not deleted unseen`() async throws {
            let fixture = try await fixture(count: 30, removed: 20)
            try await fixture.deleteObject("f1003")
            try fixture.setFaults(
                """
                [{"match": {"operation": "ListObjectsV2", "from": 2},
                  "effect": {"listing": "empty"}}]
                """
            )
            let log = EventLog()
            let push = try await push(fixture, log) { call throws(StorageError) in
                switch (call.operation, call.number, call.moment) {
                case ("ListObjectsV2", 2, .before):
                    try? await fixture.put("f1007", Data("of another writer".utf8))
                    try? await fixture.deleteObject("f1008")
                case ("DeleteMultipleObjects", _, .before):
                    try? await fixture.put("f1008", Data("of another writer".utf8))
                default: return
                }
            }
            #expect(log.skipped("f1007")?.contains("another writer") == true)
            #expect(push.deleted == 17)
            #expect(try await fixture.object("f1007") == Data("of another writer".utf8))
            #expect(try await fixture.object("f1008") == Data("of another writer".utf8))
            try fixture.setFaults("[]")
            #expect(try await fixture.objects().count == 12)
        }

        @Test(arguments: ["outOfOrder", "outsidePrefix", "duplicate"])
        func `a page that is none answers for nothing`(fault: String) async throws {
            let fixture = try await fixture(count: 30, removed: 20)
            try fixture.setFaults(
                """
                [{"match": {"operation": "ListObjectsV2", "from": 2},
                  "effect": {"listing": "\(fault)"}}]
                """
            )
            let push = try await push(fixture)
            #expect(push.deleted == 20)
            #expect(count("HeadObject", fixture) == 20)
        }
    }
}
