import Foundation
import LocalStorage
import ManifestStore
import ObjectStorage
import StorageServer
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    /// What a run cannot take, on either side, is left alone and reported, and nothing is deleted
    /// for it.
    @Suite("What stands in the way of a run")
    struct RunObstructionTests {
        private func ramp(_ count: Int, _ seed: Int = 0) -> Data { MirrorFixture.ramp(count, seed) }

        /// A mirror `a` that was pushed and a mirror `b` that was pulled, with the same content.
        private func mirrors(_ paths: [String]) async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            for (index, path) in paths.enumerated() {
                try fixture.write("a/" + path, ramp(100 + index))
            }
            try await fixture.run("a", .push)
            try await fixture.run("b", .pull)
            return fixture
        }

        @Test func `a link in a file's place is neither replaced nor fetched for`() async throws {
            let fixture = try await mirrors(["d/x", "d/y", "f", "g"])
            try fixture.write("elsewhere/d/x", Data([1]))
            for path in ["b/f", "b/d"] { try fixture.remove(path) }
            try fixture.link("b/f", to: "/etc/hostname")
            try fixture.link("b/d", to: fixture.directory("elsewhere/d"))
            try await fixture.put("d/x", ramp(500))
            try await fixture.put("f", ramp(600))
            fixture.server.clearRequestLog()
            let log = EventLog()
            let pull = try await fixture.run("b", .pull, log) {
                $0.deletesKnown = true
                $0.conflictPolicy = .remote
            }
            #expect(!pull.isInStep)
            #expect(pull.skipped == 3)
            #expect(pull.failed == 0)
            #expect(!fixture.operations.contains("GetObject"))
            #expect(log.skipped("d/x") != nil)
            #expect(fixture.content("elsewhere/d/x") == Data([1]))
            let push = try await fixture.run("b", .push) {
                $0.deletesExtra = true
                $0.conflictPolicy = .local
            }
            #expect(push.deleted == 0)
            #expect(try await fixture.objects() == ["d/x", "d/y", "f", "g"])
            try fixture.remove("b/f")
            try fixture.remove("b/d")
            #expect(try await fixture.run("b", .pull).isInStep)
            #expect(fixture.content("b/d/x") == ramp(500))
            #expect(fixture.content("b/f") == ramp(600))
        }

        @Test func `a directory that cannot be read deletes nothing anywhere`() async throws {
            let fixture = try await mirrors(["a/1", "a/2", "m/1", "m/2", "z/1"])
            var number = 1
            while true {
                let faults = SystemCallFaults(.fail(errno: EACCES), at: number, of: ["readdir"])
                let calls = SystemCalls(usesOpenat2: true, faults: faults)
                for direction in [SyncDirection.push, .pull] {
                    // A run that cannot read the directory at all ends with an error.
                    let summary = try? await fixture.engine("b", calls: calls).run(
                        direction,
                        options: MirrorFixture.options {
                            $0.deletesKnown = true
                            $0.deletesExtra = true
                            $0.deletionLimit = .percent(100)
                        },
                        onEvent: { _ in }
                    )
                    #expect(summary?.deleted ?? 0 == 0)
                    #expect(summary?.transferred ?? 0 == 0)
                }
                guard faults.firedCall != nil else { break }
                number += 1
            }
            #expect(number > 10)
            #expect(try await fixture.objects().count == 5)
            #expect(try fixture.tree("b").count == 5)
            #expect(try await fixture.run("b", .push).requests == 1)
        }

        @Test func `an archived object is left alone until it is restored`() async throws {
            let fixture = try await mirrors(["f", "g"])
            try await fixture.put("cold", ramp(300), storageClass: .archive)
            try await fixture.put("f", ramp(400), storageClass: .coldArchive)
            fixture.server.clearRequestLog()
            let log = EventLog()
            try fixture.remove("a/g")
            try await fixture.deleteObject("g")
            let pull = try await fixture.run("b", .pull, log) { $0.deletesKnown = true }
            #expect(pull.skipped == 2)
            #expect(pull.deleted == 0)
            #expect(!pull.isInStep)
            #expect(log.skipped("cold")?.contains("restore") == true)
            #expect(!fixture.operations.contains("GetObject"))
            #expect(fixture.content("b/f") == ramp(100))
            #expect(fixture.content("b/g") != nil)
            let store = try fixture.store(StoreObserver())
            for key: ObjectKey in ["mirror/cold", "mirror/f"] {
                try await store.restore(key, days: 1, tier: nil)
            }
            let again = try await fixture.run("b", .pull) { $0.deletesKnown = true }
            #expect(again.isInStep, "\(again)")
            #expect(fixture.content("b/cold") == ramp(300))
            #expect(fixture.content("b/f") == ramp(400))
            #expect(fixture.content("b/g") == nil)
        }

        @Test(arguments: [(StorageDialect.oss, "Archive"), (.s3(.aws), "GLACIER")])
        func `archived objects are asked for, and fetched once they are there`(
            dialect: StorageDialect,
            archive: String
        ) async throws {
            let fixture = try MirrorFixture(dialect: dialect)
            try await fixture.put("cold", ramp(300), storageClass: StorageClass(name: archive))
            let log = EventLog()
            let dry = try await fixture.run("a", .pull, log) {
                ($0.restoreDays, $0.isDryRun) = (2, true)
            }
            #expect(dry.skipped == 1 && !fixture.operations.contains("RestoreObject"))
            #expect(log.skipped("cold")?.contains("for 2 days would be requested") == true)
            let first = try await fixture.run("a", .pull) { $0.restoreDays = 2 }
            #expect(first.skipped == 1 && first.failed == 0 && !first.isInStep)
            #expect(fixture.operations.count { $0 == "RestoreObject" } == 1)
            #expect(fixture.content("a/cold") == nil)
            let second = try await fixture.run("a", .pull) { $0.restoreDays = 2 }
            #expect(second.isInStep, "\(second)")
            #expect(fixture.operations.count { $0 == "RestoreObject" } == 1)
            #expect(fixture.content("a/cold") == ramp(300))
        }

        @Test func `a file that changes meanwhile is no sign of folded names`() async throws {
            let fixture = try await mirrors(["f"])
            try await fixture.put("f", ramp(200))
            let engine = try fixture.engine("b") { store in
                HookedStore(store) { call in
                    guard call.operation == "GetObject", call.moment == .after else { return }
                    try? fixture.write("b/f", self.ramp(300))
                }
            }
            let options = MirrorFixture.options { _ in }
            let pull = try await engine.run(.pull, options: options, onEvent: { _ in })
            #expect(!pull.isInStep)
            #expect(fixture.content("b/f") == ramp(300))
            let session = try await MirrorSession.open(
                engine.settings,
                locks: true,
                allowsRebinding: false
            )
            #expect(!session.hasFoldedNames)
            try await session.manifest.checkpointAndClose()
        }

        @Test func `a link object is read as its target`() async throws {
            let fixture = try await mirrors(["f"])
            let store = try fixture.store(StoreObserver())
            try await fixture.put("target", ramp(700))
            try await store.putSymlink("mirror/link", target: "mirror/target")
            try await store.putSymlink("mirror/lost", target: "mirror/nothing")
            let log = EventLog()
            let pull = try await fixture.run("b", .pull, log)
            #expect(fixture.content("b/link") == ramp(700))
            #expect(fixture.content("b/lost") == nil)
            #expect(pull.skipped == 1)
            #expect(log.skipped("lost") != nil)
            try await store.delete("mirror/lost", versionID: nil)
            let again = try await fixture.run("b", .pull)
            #expect(again.isInStep)
            #expect(again.bytes == 0)
            try await fixture.put("target", ramp(800))
            #expect(try await fixture.run("b", .pull).isInStep)
            #expect(fixture.content("b/link") == ramp(800))
        }

        @Test func `the links of a page are asked for side by side`() async throws {
            let fixture = try await mirrors(["f"])
            let store = try fixture.store(StoreObserver())
            for index in 0..<20 {
                try await store.putSymlink(ObjectKey("mirror/link\(index)"), target: "mirror/f")
            }
            let gauge = Gauge()
            let hooked = HookedStore(store) { call in
                guard call.operation == "GetSymlink" else { return }
                if call.moment == .after { return gauge.leave() }
                gauge.enter()
                // The first ones wait for each other.
                while call.number <= 8, gauge.peak < 8 { await Task.yield() }
            }
            let lister = RemoteLister(
                store: hooked,
                prefix: "mirror/",
                ranges: .all,
                splits: [],
                pagesPerSplit: 1,
                width: 1
            )
            await lister.run()
            var position = RemoteLister.Position()
            let objects = try #require(try await lister.next(&position))
            #expect(gauge.peak == 8)
            #expect(objects.map(\.key) == objects.map(\.key).sorted())
            #expect(objects.count == 21)
            #expect(objects.allSatisfy { $0.kind == .normal && $0.size == 100 })
        }

        @Test func `a link object that may not be read ends no listing`() async throws {
            let fixture = try await mirrors(["f"])
            let store = try fixture.store(StoreObserver())
            try await store.putSymlink("mirror/link", target: "mirror/f")
            try await fixture.put("z", ramp(5))
            try fixture.setFaults(
                #"""
                [{"match": {"operation": "GetSymlink", "key": "mirror/link"},
                  "effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]
                """#
            )
            let pull = try await fixture.run("b", .pull)
            #expect(pull.skipped == 1)
            #expect(pull.transferred == 1)
            #expect(fixture.content("b/z") == ramp(5))
        }

        @Test func `an object that vanishes is no failure and deletes nothing in that run`()
            async throws
        {
            let fixture = try await mirrors(["f", "g", "h"])
            try await fixture.put("f", ramp(900))
            try await fixture.deleteObject("h")
            try fixture.setFaults(
                #"""
                [{"match": {"operation": "GetObject", "key": "mirror/f"},
                  "effect": {"deleteObject": {"at": 0}}}]
                """#
            )
            let log = EventLog()
            let pull = try await fixture.run("b", .pull, log) { $0.deletesKnown = true }
            #expect(pull.failed == 0)
            #expect(pull.deleted == 0)
            #expect(log.skipped("f") != nil)
            #expect(fixture.content("b/f") == ramp(100))
            #expect(pull.deletionsHeldBack != nil)
            try fixture.setFaults("[]")
            let again = try await fixture.run("b", .pull) { $0.deletesKnown = true }
            #expect(again.deleted == 2)
            #expect(try fixture.tree("b").keys.sorted() == ["g"])
        }

        @Test(arguments: ["outOfOrder", "duplicate", "outsidePrefix", "missingToken", "overlap"])
        func `a listing that proves nothing deletes nothing`(fault: String) async throws {
            let fixture = try await mirrors((10..<40).map { "f\($0)" })
            for index in [12, 33] { try await fixture.deleteObject("f\(index)") }
            let page = fault == "outsidePrefix" || fault == "outOfOrder" ? 1 : 2
            try fixture.setFaults(
                """
                [{"match": {"operation": "ListObjectsV2", "from": \(page)},
                  "effect": {"listing": "\(fault)"}}]
                """
            )
            let engine = try fixture.engine("b") { store in
                HookedStore(store, pageSize: 10) { _ throws(StorageError) in }
            }
            do {
                let pull = try await engine.run(
                    .pull,
                    options: MirrorFixture.options { $0.deletesKnown = true },
                    onEvent: { _ in }
                )
                #expect(!pull.isInStep)
                #expect(pull.deleted == 0)
            } catch {
                #expect(error.code == .remoteUnreachable)
            }
            #expect(try fixture.tree("b").count == 30)
            try fixture.setFaults("[]")
            let again = try await fixture.run("b", .pull) { $0.deletesKnown = true }
            #expect(again.deleted == 2)
        }
    }
}

extension EngineRuns {
    @Suite("A service that asks for less")
    struct ThrottlingTests {
        @Test func `throttled requests are repeated, and fewer are under way`() async throws {
            let fixture = try MirrorFixture()
            for index in 0..<200 {
                try fixture.write("a/f\(index)", MirrorFixture.ramp(100, index))
            }
            try fixture.setFaults(
                #"""
                [{"match": {"operation": "PutObject", "every": 20},
                  "effect": {"fail": {"status": 503, "code": "SlowDown"}}}]
                """#
            )
            let push = try await fixture.run("a", .push) { $0.connectionLimit = 16 }
            #expect(push.isInStep)
            #expect(push.transferred == 200)
            let puts = fixture.server.requestLog.filter { $0.operation == "PutObject" }
            #expect(puts.count > 200)
            // The most at once among the last hundred, when the bound was halved and grew again.
            let last = puts.suffix(100).filter { $0.status == 200 }
            let most = last.map { one in
                last.count { $0.started <= one.started && one.started < $0.finished }
            }.max()
            #expect(most ?? 0 < 16)
        }
    }
}
