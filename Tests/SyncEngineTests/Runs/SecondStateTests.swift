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
        prefix: String? = nil,
        deletesExtra: Bool = false
    ) async throws -> RunSummary {
        let options = MirrorFixture.options { options in
            (options.deletesKnown, options.deletesExtra) = (true, deletesExtra)
            options.conflictPolicy = .local
        }
        return try await fixture.engine("a", state: state, prefix: prefix)
            .run(direction, options: options) { _ in }
    }

    @Test(arguments: [true, false])
    func `are no objects that only the bucket has to a new state`(isRenamed: Bool) async throws {
        if isRenamed {
            try fixture.rename("a/photos", to: "a/2026-photos")
        } else {
            try fixture.remove("a/photos/one.jpg")
        }
        for _ in 0..<2 {
            let run = try await runOther(.push, state: "new", deletesExtra: true)
            #expect(run.damaged > 0 && run.deleted == 0 && !run.isInStep, "\(run)")
            #expect(try await fixture.object("photos/one.jpg") == good)
        }
        if isRenamed { try fixture.remove("a/2026-photos") }
        #expect(try await verify(VerifyOptions(repairs: true)).repaired == 1)
        try fixture.remove("a/photos/one.jpg")
        let last = try await runOther(.push, state: "new", deletesExtra: true)
        #expect(last.deleted == 1, "\(last)")
    }

    /// Its row is of the version before the one that was damaged.
    @Test func `are no edits to a state that is a version behind`() async throws {
        let file = "photos/one.jpg"
        #expect(try await verify(VerifyOptions(repairs: true)).repaired == 1)
        #expect(try await runOther(.push, state: "off", prefix: "offsite/").isInStep)
        let new = MirrorFixture.ramp(3_000, 2)
        try fixture.write("a/" + file, new)
        try await fixture.run("a", .push)
        try await fixture.damage(file)
        #expect(try await verify().damaged == 1)
        for _ in 0..<2 {
            let run = try await runOther(.push, state: "off", prefix: "offsite/")
            #expect(run.damaged == 1 && run.transferred == 0, "\(run)")
            let same = try await runOther(.push)
            #expect(same.damaged == 1 && same.transferred == 0, "\(same)")
            #expect(try await fixture.object(file) == new)
        }
    }

    /// It is not good while one could not be repaired, also if that is gone.
    @Test func `are told by a repair that finds neither file nor object`() async throws {
        try fixture.remove("a/photos/one.jpg")
        try await fixture.deleteObject("photos/one.jpg")
        let report = try await verify(VerifyOptions(repairs: true))
        #expect(report.damaged == 1 && report.repaired == 0 && !report.isGood, "\(report)")
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
