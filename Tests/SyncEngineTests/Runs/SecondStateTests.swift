import Foundation
import ObjectStorage
import SyncModel
import Testing

@testable import SyncEngine

/// What one state of a directory has found damaged is so to another one.
@Suite("Damaged files of another state")
struct SecondStateTests {
    let fixture: MirrorFixture
    private let good = MirrorFixture.ramp(3_000, 1)

    /// A mirror "a" with two states, of which the first has found a damaged file.
    init() async throws {
        fixture = try MirrorFixture()
        try fixture.write("a/photos/one.jpg", good)
        for index in 0..<20 {
            try fixture.write("a/other/f\(index)", MirrorFixture.ramp(500, index + 5))
        }
        try await fixture.run("a", .push)
        #expect(try await runOther(.push).isInStep)
        try await fixture.damage("photos/one.jpg")
        #expect(try await verify().damaged == 1)
    }

    private func verify(_ options: VerifyOptions = VerifyOptions()) async throws -> VerifyReport {
        try await fixture.engine("a").verify(options) { _ in }
    }

    /// The remote is the same one here, which is enough: each state has its own rows.
    private func runOther(
        _ direction: SyncDirection,
        state: String = "state",
        prefix: String? = nil
    ) async throws -> RunSummary {
        var engine = try fixture.engine("a")
        engine.settings.stateDirectory = fixture.directory(state)
        if let prefix {
            let identity = engine.settings.identity
            engine.settings.prefix = ObjectKey(prefix)
            engine.settings.identity = RemoteIdentity(
                dialect: identity.dialect,
                endpointHost: identity.endpointHost,
                bucket: identity.bucket,
                prefix: prefix
            )
        }
        let options = MirrorFixture.options { options in
            options.deletesKnown = true
            options.conflictPolicy = .local
        }
        return try await engine.run(direction, options: options) { _ in }
    }

    @Test(arguments: [SyncDirection.push, .sync], [true, false])
    func `keep their objects in runs of another state of the directory`(
        _ direction: SyncDirection,
        isRenamed: Bool
    ) async throws {
        if isRenamed {
            try fixture.rename("a/photos", to: "a/2026-photos")
        } else {
            try fixture.remove("a/photos/one.jpg")
        }
        for _ in 0..<2 {
            let run = try await runOther(direction)
            #expect(run.damaged == (isRenamed ? 2 : 1) && !run.isInStep, "\(run)")
            #expect(try await fixture.object("photos/one.jpg") == good)
            #expect(try await !fixture.objects().contains { $0.hasPrefix("2026-photos/") })
        }
        // Repaired by the one, it is whole to the other.
        if isRenamed { try fixture.remove("a/2026-photos") }
        #expect(try await verify(VerifyOptions(repairs: true)).repaired == 1)
        #expect(try await runOther(direction).isInStep)
        try fixture.remove("a/photos/one.jpg")
        let last = try await runOther(direction)
        #expect(last.deleted == 1 && last.isInStep, "\(last)")
    }

    /// It has no rows that could say so.
    @Test(arguments: [SyncDirection.push, .sync], ["", "another/"])
    func `are not sent by a new state of the directory`(
        _ direction: SyncDirection,
        _ other: String
    ) async throws {
        let prefix = other.isEmpty ? nil : other
        for _ in 0..<2 {
            let run = try await runOther(direction, state: "new", prefix: prefix)
            #expect(run.damaged == 1 && !run.isInStep, "\(run)")
        }
        #expect(try await fixture.object("photos/one.jpg") == good)
        let store = try fixture.store(StoreObserver())
        await #expect(throws: StorageError.self) {
            try await store.head("another/photos/one.jpg", versionID: nil)
        }
        // Repaired by the one that found it, it is whole to the other.
        #expect(try await verify(VerifyOptions(repairs: true)).repaired == 1)
        #expect(try await runOther(direction, state: "new", prefix: prefix).isInStep)
    }
}
