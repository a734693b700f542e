import Foundation
import ObjectStorage
import StorageServer
import SyncModel
import Testing

@testable import SyncEngine

extension EngineRuns {
    /// Whoever may write one prefix can make links to any key of the bucket.
    @Suite("Link objects")
    struct LinkObjectTests {
        private func ramp(_ count: Int, _ seed: Int = 0) -> Data { MirrorFixture.ramp(count, seed) }

        /// The bucket's own secret, and a mirror `a` that has one file.
        private func fixture() async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            try await put("hr/salaries", ramp(900), fixture)
            try await fixture.put("f", ramp(100))
            try await fixture.run("a", .pull)
            return fixture
        }

        private func put(_ key: String, _ content: Data, _ fixture: MirrorFixture) async throws {
            let request = PutRequest(key: ObjectKey(key))
            let store = try fixture.store(StoreObserver())
            _ = try await store.put(request, body: .bytes([UInt8](content))) { _ in }
        }

        private func link(_ key: String, _ target: String, _ fixture: MirrorFixture) async throws {
            let store = try fixture.store(StoreObserver())
            try await store.putSymlink(ObjectKey("mirror/" + key), target: ObjectKey(target))
        }

        @Test(arguments: ["hr/salaries", "mirror-twin/x", "mirror", "mirror/.osssync/config"])
        func `a link out of the prefix is named, and neither read nor followed`(
            target: String
        ) async throws {
            let fixture = try await fixture()
            try await put("mirror-twin/x", ramp(900), fixture)
            try await put("mirror", ramp(900), fixture)
            try await put("mirror/.osssync/config", ramp(900), fixture)
            try await link("x", target, fixture)
            for direction in [SyncDirection.pull, .sync, .push] {
                let log = EventLog()
                _ = try await fixture.run("a", direction, log)
                #expect(try fixture.tree("a").keys.sorted() == ["f"])
                let isNamed = log.skipped("x")?.contains("not followed") == true
                #expect(isNamed || direction == .push)
            }
        }

        @Test func `a link to a link that leads out is not followed`() async throws {
            let fixture = try await fixture()
            try await link("inner", "hr/salaries", fixture)
            try await link("outer", "mirror/inner", fixture)
            try await link("loop", "mirror/loop", fixture)
            let pull = try await fixture.run("a", .pull)
            #expect(pull.skipped == 3)
            #expect(try fixture.tree("a").keys.sorted() == ["f"])
        }

        @Test func `a link that is not followed holds no other deletion back`() async throws {
            let fixture = try await fixture()
            try await fixture.put("g", ramp(200))
            try await fixture.run("a", .pull)
            try await link("x", "hr/salaries", fixture)
            try await fixture.deleteObject("g")
            let pull = try await fixture.run("a", .pull) { $0.deletesKnown = true }
            #expect((pull.deleted, pull.skipped, pull.deletionsHeldBack) == (1, 1, nil))
        }

        @Test(arguments: [true, false])
        func `a file that came through a link is never uploaded in its place`(
            isAdopted: Bool
        ) async throws {
            let fixture = try await fixture()
            try await link("x", "mirror/f", fixture)
            if isAdopted { try fixture.write("a/x", ramp(100)) }
            let pull = try await fixture.run("a", .pull)
            #expect(pull.isInStep)
            #expect(pull.adopted == (isAdopted ? 1 : 0))
            try await fixture.deleteObject("x")
            let log = EventLog()
            let push = try await fixture.run("a", .push, log)
            #expect(push.transferred == 0)
            #expect(log.skipped("x")?.contains("was a link") == true)
            #expect(try await fixture.objects() == ["f"])
            // Touched, and with contents compared.
            try fixture.setModified("a/x", Date(timeIntervalSince1970: 1_000_000))
            #expect(try await fixture.run("a", .push).transferred == 0)
            #expect(
                try await fixture.run("a", .push) { $0.comparesContent = true }.transferred == 0
            )
            _ = try await fixture.run("a", .sync)
            #expect(try await fixture.objects() == ["f"])
            // What the user writes there is the user's.
            try fixture.write("a/x", ramp(500))
            #expect(try await fixture.run("a", .push).transferred == 1)
            #expect(try await fixture.object("x") == ramp(500))
        }

        @Test func `an object that turns into a link of equal content is marked as one`()
            async throws
        {
            let fixture = try await fixture()
            try await fixture.put("x", ramp(100))
            try await fixture.run("a", .pull)
            try await link("x", "mirror/f", fixture)
            #expect(try await fixture.run("a", .pull).isInStep)
            try await fixture.deleteObject("x")
            #expect(try await fixture.run("a", .push).transferred == 0)
            #expect(try await fixture.objects() == ["f"])
        }

        @Test func `an object that becomes a link during the run is not followed`() async throws {
            let fixture = try await fixture()
            try await fixture.put("x", ramp(300))
            let target = try fixture.store(StoreObserver())
            let engine = try fixture.engine("a") { store in
                HookedStore(store) { call throws(StorageError) in
                    guard call.operation == "GetObject", call.moment == .before, call.number == 1
                    else { return }
                    try await target.putSymlink("mirror/x", target: "hr/salaries")
                }
            }
            let pull = try await engine.run(.pull, options: MirrorFixture.options()) { _ in }
            #expect(pull.failed == 1)
            #expect(try fixture.tree("a").keys.sorted() == ["f"])
        }

        @Test func `a link that is turned after it was looked at is not followed`() async throws {
            for moment in ["GetSymlink", "HeadObject", "GetObject"] {
                let fixture = try await fixture()
                try await link("x", "mirror/f", fixture)
                let target = try fixture.store(StoreObserver())
                let engine = try fixture.engine("a") { store in
                    HookedStore(store) { call throws(StorageError) in
                        let isThen =
                            moment == "GetObject" ? call.moment == .before : call.moment == .after
                        guard call.operation == moment, isThen, call.number == 1 else { return }
                        try await target.putSymlink("mirror/x", target: "hr/salaries")
                    }
                }
                _ = try await engine.run(.pull, options: MirrorFixture.options()) { _ in }
                #expect(fixture.content("a/x") != ramp(900), "turned at \(moment)")
            }
        }

        @Test func `links cost a request each and one for each target`() async throws {
            let fixture = try await fixture()
            for index in 0..<40 { try await link("l\(index)", "mirror/f", fixture) }
            #expect(try await fixture.run("a", .pull).isInStep)
            fixture.server.clearRequestLog()
            #expect(try await fixture.run("a", .pull).isInStep)
            #expect(fixture.operations.filter { $0 == "GetSymlink" }.count == 40)
            #expect(fixture.operations.filter { $0 == "HeadObject" }.count == 1)
            #expect(fixture.operations.count == 41)
        }
    }
}
