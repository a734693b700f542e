import Foundation
import ManifestStore
import ObjectStorage
import StorageServer
import SyncModel
import Testing

@testable import SyncEngine

@Suite("The order of markers")
struct MarkerOrderTests {
    private func object(_ key: String) -> RemoteObject {
        RemoteObject(key: ObjectKey(key), size: 0, etag: ETag(wire: "e"))
    }

    /// The keys that come out; those with "*" are markers without their slash.
    private func order(_ keys: [String]) -> [String] {
        var order = MarkerOrder()
        var objects: [RemoteObject] = []
        for key in keys {
            let name = key.filter { $0 != "*" }
            objects += order.add(object(name), isMarker: name != key)
        }
        objects += order.finish()
        return objects.map(\.key.display)
    }

    @Test func `a marker comes where its whole name does`() {
        #expect(order(["a*", "b"]) == ["a/", "b"])
        #expect(order(["a*", "a-b", "a.c", "a/x", "a0"]) == ["a-b", "a.c", "a/", "a/x", "a0"])
        #expect(order(["a*", "a-*", "a--*", "b*"]) == ["a--/", "a-/", "a/", "b/"])
        #expect(order(["a", "a!*", "a!!", "a!.*"]) == ["a", "a!!", "a!./", "a!/"])
        #expect(order([]) == [])
    }

    @Test func `a marker that is listed twice is one`() {
        #expect(order(["a*", "a-b", "a/", "a/x"]) == ["a-b", "a/", "a/x"])
    }

    @Test(arguments: 0..<200)
    func `keys come out in order and none is lost`(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let letters: [Character] = ["a", "!", "-", "0"]
        var names: Set<String> = []
        for _ in 0..<30 {
            let length = Int.random(in: 1...4, using: &generator)
            names.insert(
                String((0..<length).map { _ in letters.randomElement(using: &generator) ?? "a" })
            )
        }
        let keys = names.sorted { ObjectKey($0) < ObjectKey($1) }
        let markers = keys.filter { _ in Bool.random(using: &generator) }
        let found = order(keys.map { markers.contains($0) ? $0 + "*" : $0 })
        let expected = keys.map { markers.contains($0) ? $0 + "/" : $0 }
        #expect(found == expected.sorted { ObjectKey($0) < ObjectKey($1) })
    }

    private struct SeededGenerator: RandomNumberGenerator {
        private var state: UInt64
        init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }
        mutating func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
    }
}

extension EngineRuns {
    /// As `rclone serve s3` does: the marker `empty/` is kept as an empty object `empty`.
    @Suite("Stores that drop the slash of a marker")
    struct ShortenedMarkerTests {
        /// Makes the store what such a one would be after each marker that is put.
        private func engine(_ name: String, _ fixture: MirrorFixture) throws -> MirrorEngine {
            let behind = try fixture.store(StoreObserver())
            return try fixture.engine(name) { store in
                HookedStore(store) { call throws(StorageError) in
                    guard call.operation == "PutObject", call.moment == .after,
                        call.key.hasSuffix("/")
                    else { return }
                    try await behind.delete(ObjectKey(call.key), versionID: nil)
                    let short = PutRequest(
                        key: ObjectKey(String(call.key.dropLast())),
                        contentType: "application/x-directory"
                    )
                    _ = try await behind.put(short, body: .bytes([])) { _ in }
                }
            }
        }

        private func run(
            _ name: String,
            _ direction: SyncDirection,
            _ fixture: MirrorFixture,
            _ change: (inout RunOptions) -> Void = { _ in }
        ) async throws -> RunSummary {
            try await engine(name, fixture)
                .run(direction, options: MirrorFixture.options(change)) { _ in }
        }

        private func mirror() async throws -> MirrorFixture {
            let fixture = try MirrorFixture(dialect: .s3)
            try fixture.write("a/f", MirrorFixture.ramp(100))
            try fixture.write("a/empty-file", Data())
            try fixture.makeDirectory("a/empty")
            try fixture.makeDirectory("a/d/empty.d")
            #expect(try await run("a", .push, fixture).transferred == 4)
            #expect(try await fixture.objects() == ["d/empty.d", "empty", "empty-file", "f"])
            return fixture
        }

        private func isDirectory(_ path: String, _ fixture: MirrorFixture) -> Bool {
            let path = fixture.directory(path)
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            return attributes?[.type] as? FileAttributeType == .typeDirectory
        }

        @Test(arguments: [SyncDirection.push, .pull, .sync])
        func `an empty directory is sent once and stays a directory`(
            direction: SyncDirection
        ) async throws {
            let fixture = try await mirror()
            for _ in 0..<2 {
                let again = try await run("a", direction, fixture) { $0.deletesKnown = true }
                #expect(again.isInStep, "\(again)")
                #expect((again.transferred, again.deleted, again.adopted) == (0, 0, 0))
            }
            #expect(isDirectory("a/empty", fixture))
        }

        @Test func `elsewhere it becomes a directory again`() async throws {
            let fixture = try await mirror()
            let first = try await run("b", .pull, fixture)
            #expect(first.isInStep)
            #expect(isDirectory("b/empty", fixture))
            #expect(isDirectory("b/d/empty.d", fixture))
            #expect(fixture.content("b/empty-file") == Data())
            fixture.server.clearRequestLog()
            let second = try await run("b", .sync, fixture) { $0.deletesKnown = true }
            #expect(second.isInStep)
            #expect((second.transferred, second.deleted, second.adopted) == (0, 0, 0))
            #expect(fixture.operations == [], "a run with nothing to do asks for no object")
        }

        @Test func `a directory that is there already is recorded`() async throws {
            let fixture = try await mirror()
            try fixture.makeDirectory("c/empty")
            _ = try await run("c", .pull, fixture) { $0.isDryRun = true }
            // The plan had counted the directory as one of this side only.
            let first = try await run("c", .pull, fixture)
            #expect((first.adopted, first.skipped) == (1, 0), "\(first)")
            let second = try await run("c", .push, fixture)
            #expect(second.isInStep)
            #expect(second.transferred == 0)
        }

        private func putForeign(_ key: String, _ fixture: MirrorFixture) async throws {
            let store = try fixture.store(StoreObserver())
            let request = PutRequest(
                key: ObjectKey("mirror/" + key),
                contentType: "application/x-directory"
            )
            _ = try await store.put(request, body: .bytes([])) { _ in }
        }

        /// Questions of a run for empty objects that it leaves out.
        private func questions(_ fixture: MirrorFixture) async throws -> Int {
            for index in 0..<5 { try await fixture.put("x\(index)", Data()) }
            fixture.server.clearRequestLog()
            try await fixture.run("a", .pull) { _ = try? $0.filter.exclude("x*") }
            return fixture.operations.count { $0 == "HeadObject" }
        }

        @Test func `an object of somebody else is no proof against a marker of our own`()
            async throws
        {
            let fixture = try MirrorFixture(dialect: .s3)
            try await putForeign("looks-like-one", fixture)
            #expect(try await fixture.run("a", .pull).transferred == 1)
            #expect(try await questions(fixture) == 5, "it may be such a store")
            try fixture.makeDirectory("a/own")
            try await fixture.run("a", .push) { _ = try? $0.filter.exclude("x*") }
            #expect(try await questions(fixture) == 0)
            try await putForeign("another", fixture)
            try await fixture.run("a", .pull) { _ = try? $0.filter.exclude("x*") }
            #expect(try await questions(fixture) == 0)
        }

        @Test func `a key that is listed with its slash shows that the store keeps it`()
            async throws
        {
            let fixture = try MirrorFixture(dialect: .s3)
            try await putForeign("looks-like-one", fixture)
            #expect(try await fixture.run("a", .pull).transferred == 1)
            try await fixture.put("kept/", Data())
            try await fixture.run("a", .pull)
            #expect(try await questions(fixture) == 0)
        }

        @Test func `a plan asks for no more objects than a bound`() async throws {
            let fixture = try MirrorFixture(dialect: .s3)
            try fixture.makeDirectory("bounded")
            let (manifest, _) = try await ManifestStore.open(
                directory: fixture.directory("bounded"),
                now: MirrorFixture.now(),
                usesWriteAheadLog: true,
                threads: .system,
                smallestSearchable: 0
            )
            for index in 0..<4 { try await putForeign("m\(index)", fixture) }
            let reader = MarkerReader(
                store: try fixture.store(StoreObserver()),
                manifest: manifest,
                prefix: "mirror/",
                limit: 2
            )
            var found = 0
            for index in 0..<4 {
                let object = RemoteObject(
                    key: ObjectKey("m\(index)"),
                    size: 0,
                    etag: ETag(wire: "e")
                )
                if try await reader.isMarker(object) { found += 1 }
            }
            #expect(found == 2)
            try await manifest.checkpointAndClose()
        }

        @Test func `a store that keeps the slash is asked once`() async throws {
            let fixture = try MirrorFixture(dialect: .s3)
            for index in 0..<3 { try fixture.makeDirectory("a/d\(index)") }
            #expect(try await fixture.run("a", .push).transferred == 3)
            let heads = fixture.operations.filter { $0 == "HeadObject" }.count
            #expect(heads >= 1)
            try fixture.makeDirectory("a/d3")
            #expect(try await fixture.run("a", .push).transferred == 1)
            #expect(fixture.operations.filter { $0 == "HeadObject" }.count == heads)
        }
    }
}
