import Foundation
import ObjectStorage
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

@Suite("A bucket as it was")
struct PastMirrorTests {
    let fixture: MirrorFixture
    private static let old = MirrorFixture.ramp(3_000)
    private static let new = MirrorFixture.ramp(4_000, 7)

    init() throws {
        fixture = try MirrorFixture(keepsVersions: true)
    }

    /// The times of all versions beneath the mirror's prefix, by the server's clock.
    private func versions() async throws -> [ObjectVersion] {
        let store = try fixture.store(StoreObserver())
        let request = ListVersionsRequest(prefix: "mirror/")
        return try await store.listVersions(request).entries
    }

    /// A moment between what was written until now and what is written later.
    private func moment() async throws -> Timestamp {
        let last = try await versions().compactMap(\.lastModified).max()
        let time = try #require(last)
        while true {
            try await fixture.put("clock", Data())
            let now = try await versions().compactMap(\.lastModified).max()
            if let now, now > time { break }
        }
        return time
    }

    private func engine(_ name: String, at time: Timestamp) throws -> MirrorEngine {
        var engine = try fixture.engine(name)
        engine.settings.store = PastStore(try fixture.store(StoreObserver()), .at(time))
        engine.settings.identity = RemoteIdentity(
            dialect: "oss",
            endpointHost: "127.0.0.1",
            bucket: MirrorFixture.bucket,
            prefix: "mirror/",
            asOf: StoreTime(time)
        )
        return engine
    }

    private func pull(_ name: String, at time: Timestamp) async throws -> RunSummary {
        let engine = try engine(name, at: time)
        let options = MirrorFixture.options { $0.deletesKnown = true }
        return try await engine.run(.pull, options: options, onEvent: { _ in })
    }

    /// What "a" has, without what only showed that time passes.
    private func tree() throws -> [String: Data] {
        try fixture.tree("a").filter { $0.key != "clock" }
    }

    @Test func `it comes back, whatever was written and deleted since`() async throws {
        for name in ["deleted", "edited", "kept"] { try await fixture.put(name, Self.old) }
        try await fixture.put("late", Self.old)
        try await fixture.deleteObject("late")
        let time = try await moment()
        try await fixture.deleteObject("deleted")
        try await fixture.put("edited", Self.new)
        try await fixture.put("added", Self.new)
        try await fixture.put("late", Self.new)
        let summary = try await pull("a", at: time)
        #expect(summary.isInStep && summary.failed == 0)
        let expected = ["deleted": Self.old, "edited": Self.old, "kept": Self.old]
        #expect(try tree() == expected)
        try fixture.write("a/kept", Self.new)
        let status = try await engine("a", at: time).status(options: MirrorFixture.options())
        for work in [status.push, status.sync] {
            #expect(work.isEmpty && work.deletionsHeldBack?.contains("as of") == true, "\(work)")
        }
        #expect(status.pull.localChanges == 1 && status.pull.deletionsHeldBack == nil)
        try fixture.write("a/kept", Self.old)
        let again = try await pull("a", at: time)
        #expect(again.transferred == 0 && again.deleted == 0 && again.isInStep)
    }

    @Test func `a key with more versions than a page has is passed whole`() async throws {
        try await fixture.put("a", Self.old)
        try await fixture.put("many", Self.old)
        try await fixture.put("z", Self.old)
        let time = try await moment()
        for _ in 0..<1_050 { try await fixture.put("many", Data()) }
        let summary = try await pull("a", at: time)
        #expect(summary.isInStep)
        #expect(try tree().keys.sorted() == ["a", "many", "z"])
        #expect(fixture.content("a/many") == Self.old)
    }

    @Test func `a directory of one time is of no other, and of no present`() async throws {
        try await fixture.put("x", Self.old)
        let time = try await moment()
        _ = try await pull("a", at: time)
        for other in [-1, 1] {
            let error = await #expect(throws: TransferError.self) {
                try await pull("a", at: Timestamp(seconds: time.seconds + Int64(other)))
            }
            #expect(error?.code == .refused && error?.message.contains("use --as-of") == true)
        }
        for direction in [SyncDirection.pull, .push, .sync] {
            let error = await #expect(throws: TransferError.self) {
                try await fixture.run("a", direction) { $0.allowsRebinding = true }
            }
            #expect(error?.code == .refused)
        }
        #expect(try tree() == ["x": Self.old])
        try await fixture.run("b", .pull)
        let error = await #expect(throws: TransferError.self) { try await pull("b", at: time) }
        #expect(error?.message.contains("needs an empty directory") == true)
    }

    @Test func `a directory that has files is not one of the past`() async throws {
        try await fixture.put("x", Self.old)
        let time = try await moment()
        try fixture.write("a/own", Self.new)
        let error = await #expect(throws: TransferError.self) { try await pull("a", at: time) }
        #expect(error?.code == .refused && error?.message.contains("is not empty") == true)
        #expect(try tree() == ["own": Self.new])
    }
}
