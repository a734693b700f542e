import Foundation
import ObjectStorage
import StorageServer
import SyncModel
import Testing

@testable import SyncEngine

/// Permissions of files that both sides had before the mirror.
@Suite("Permissions of what is adopted")
struct AdoptedModeTests {
    private let fixture: MirrorFixture
    private let content = MirrorFixture.ramp(2_000, 3)

    /// A file that only its owner may read; `private` objects have that from another mirror.
    init() async throws {
        fixture = try MirrorFixture()
        try fixture.write("a/f", content)
        try fixture.setMode("a/f", 0o600)
    }

    private func modeOfObject() async throws -> String? {
        let store = try fixture.store(StoreObserver())
        return try await store.head(ObjectKey("mirror/f"), versionID: nil).userMetadata["mode"]
    }

    /// Puts the object from another machine, with permissions.
    private func put(mode: Int) async throws {
        try fixture.write("b/f", content)
        try fixture.setMode("b/f", mode)
        try await fixture.run("b", .push)
    }

    @Test(arguments: [SyncDirection.push, .sync], [nil, 0o644])
    func `are sent if the object has others, or none`(
        _ direction: SyncDirection,
        _ mode: Int?
    ) async throws {
        if let mode { try await put(mode: mode) } else { try await fixture.put("f", content) }
        let dry = try await fixture.run("a", direction) { $0.isDryRun = true }
        let run = try await fixture.run("a", direction)
        #expect((run.adopted, run.modes, run.transferred) == (1, 1, 0), "\(run)")
        #expect((dry.adopted, dry.modes) == (1, 1), "\(dry)")
        #expect(try await modeOfObject() == "100600")
        try await fixture.run("c", .pull)
        #expect(try fixture.mode("c/f") == 0o600)
        fixture.server.clearRequestLog()
        #expect(try await fixture.run("a", direction).isInStep)
        #expect(fixture.operations.isEmpty, "\(fixture.operations)")
    }

    @Test func `open nothing for others that somebody closed`() async throws {
        try await put(mode: 0o600)
        try fixture.setMode("a/f", 0o640)
        #expect(try await fixture.run("a", .push).modes == 0)
        #expect(try await fixture.run("a", .push).modes == 0)
        #expect(try await modeOfObject() == "100600")
        try fixture.setMode("a/f", 0o440)
        #expect(try await fixture.run("a", .push).modes == 1)
    }

    @Test func `stay in a pull, which counts them until they are sent`() async throws {
        try await put(mode: 0o644)
        for _ in 0..<2 {
            let run = try await fixture.run("a", .pull)
            #expect(run.localChanges == 1 && !run.isInStep, "\(run)")
            #expect(try fixture.mode("a/f") == 0o600)
        }
        #expect(try await fixture.run("a", .push).modes == 1)
        #expect(try await modeOfObject() == "100600")
    }

    @Test func `of an object without any are those of the file in a pull`() async throws {
        try await fixture.put("f", content)
        let run = try await fixture.run("a", .pull)
        #expect(run.isInStep && run.localChanges == 0, "\(run)")
    }

    @Test func `cost no request for a file as every new one is`() async throws {
        try fixture.setMode("a/f", 0o644)
        try await fixture.put("f", content)
        fixture.server.clearRequestLog()
        let run = try await fixture.run("a", .push)
        #expect((run.adopted, run.modes) == (1, 0), "\(run)")
        #expect(fixture.operations.isEmpty, "\(fixture.operations)")
    }
}
