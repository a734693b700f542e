import SyncModel
import Testing

@testable import SyncEngine

/// Damaged files that good content replaced.
@Suite("Damaged files in the trash")
struct DamagedTrashTests {
    @Test(arguments: [SyncDirection.pull, .sync])
    func `are named as such if their objects are gone, too`(
        _ direction: SyncDirection
    ) async throws {
        let fixture = try MirrorFixture()
        for name in ["one.jpg", "two"] { try fixture.write("a/" + name, MirrorFixture.ramp(3_000)) }
        try await fixture.run("a", .push)
        try await fixture.damage("one.jpg")
        _ = try await fixture.engine("a").verify(VerifyOptions()) { _ in }
        try await fixture.deleteObject("one.jpg")
        for _ in 0..<2 {
            let run = try await fixture.run("a", direction) { $0.deletesKnown = true }
            #expect((run.damaged, run.conflicts, run.deleted) == (1, 0, 0), "\(run)")
        }
    }

    /// Neither the newest version that is not there, nor that of a time.
    @Test func `come back from the trash only if nothing else is left`() async throws {
        let fixture = try MirrorFixture()
        let good = MirrorFixture.ramp(3_000, 1)
        try fixture.write("a/photos/one.jpg", good)
        try await fixture.run("a", .push)
        try await fixture.damage("photos/one.jpg")
        let repaired = try await fixture.engine("a").verify(VerifyOptions(repairs: true)) { _ in }
        #expect(repaired.repaired == 1)
        let trash = try fixture.localMirror("a").trash
        func restore(_ version: TrashVersion = .latest) async throws -> RestoreReport {
            var request = RestoreRequest(
                paths: ["photos/one.jpg"],
                version: version,
                target: nil,
                replaces: false
            )
            request.replacesFiles = true
            return try await trash.restore(request) { _ in }
        }
        for version in [TrashVersion.latest, .at(StoreTime(secondsSince1970: 0))] {
            let report = try await restore(version)
            #expect(report.restored == 0 && report.missing.count == 1, "\(report)")
        }
        #expect(fixture.content("a/photos/one.jpg") == good)
        try fixture.remove("a/photos/one.jpg")
        #expect(try await restore().restored == 1)
        #expect(fixture.content("a/photos/one.jpg") != good)
    }

    /// As a restoration compares it, before anything was found.
    @Test func `are known as such by the run that replaces them`() async throws {
        let fixture = try MirrorFixture()
        let good = MirrorFixture.ramp(3_000, 1)
        try fixture.write("a/one.jpg", good)
        try await fixture.run("a", .push)
        try await fixture.damage("one.jpg")
        let run = try await fixture.run("a", .pull) {
            $0.comparesContent = true
            $0.replacesLocalChanges = true
        }
        #expect(run.transferred == 1 && fixture.content("a/one.jpg") == good)
        var request = RestoreRequest(
            paths: ["one.jpg"],
            version: .latest,
            target: nil,
            replaces: true
        )
        request.replacesFiles = true
        let again = try await fixture.localMirror("a").trash.restore(request) { _ in }
        #expect(again.restored == 0 && fixture.content("a/one.jpg") == good)
        try fixture.remove("a/one.jpg")
        let damaged = try await fixture.localMirror("a").trash.restore(request) { _ in }
        #expect(damaged.restored == 1 && fixture.content("a/one.jpg") != good)
    }
}
