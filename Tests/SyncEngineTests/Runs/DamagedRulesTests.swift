import Foundation
import ObjectTransfer
import SyncModel
import Testing

@testable import SyncEngine

/// What the disk made of `.osssyncignore` is nobody's rule.
@Suite("Damaged rules")
struct DamagedRulesTests {
    private let fixture: MirrorFixture

    /// Two of a kind are excluded: the byte in the middle is of one of their patterns.
    init() async throws {
        fixture = try MirrorFixture()
        try fixture.write("a/.osssyncignore", Data("*.key\n*.jpg\n".utf8))
        for name in ["my.key", "1.jpg", "f"] { try fixture.write("a/" + name, Data(name.utf8)) }
        try await fixture.run("a", .push)
        // To look at the manifest is a session of its own, which takes what it finds for an edit.
        let accepted = try #require(fixture.content("a/.osssync/ignore-accepted"))
        try await fixture.damage(".osssyncignore")
        try fixture.write("a/.osssync/ignore-accepted", accepted)
    }

    private func explained(_ log: EventLog) -> Bool {
        log.warnings.contains { $0.contains("'.osssyncignore' is damaged") }
    }

    @Test(arguments: [SyncDirection.push, .sync], [false, true])
    func `leave the recorded ones in effect, also once the file was touched`(
        direction: SyncDirection,
        isTouched: Bool
    ) async throws {
        if isTouched {
            _ = try await fixture.engine("a").verify(VerifyOptions()) { _ in }
            try FileManager.default.setAttributes(
                [.modificationDate: Date()],
                ofItemAtPath: fixture.directory("a/.osssyncignore")
            )
        }
        for _ in 1...2 {
            let log = EventLog()
            let run = try await fixture.run("a", direction, log) { options in
                (options.deletesKnown, options.deletesExcluded) = (true, direction == .push)
            }
            #expect((run.transferred, run.deleted, run.damaged) == (0, 0, 1), "\(run)")
            #expect(!run.isInStep && explained(log), "\(log.warnings)")
        }
        #expect(try await fixture.objects() == [".osssyncignore", "f"])
        if isTouched {
            let pull = try await fixture.run("a", .pull) { options in
                options.replacesLocalChanges = true
                options.paths = [".osssyncignore"]
            }
            #expect(pull.transferred == 1, "\(pull)")
        } else {
            let report = try await fixture.engine("a").verify(VerifyOptions(repairs: true)) { _ in }
            #expect(report.repaired == 1, "\(report)")
        }
        #expect(try await fixture.run("a", direction).isInStep)
        #expect(fixture.content("a/.osssyncignore") == Data("*.key\n*.jpg\n".utf8))
    }

    @Test func `are edited by a person, who may have other rules`() async throws {
        let log = EventLog()
        try await fixture.run("a", .push, log)
        #expect(explained(log))
        try fixture.write("a/.osssyncignore", Data("*.key\n".utf8))
        let run = try await fixture.run("a", .push) { $0.replacesLocalChanges = true }
        #expect(run.transferred == 2 && run.isInStep, "\(run)")
        #expect(try await fixture.objects() == [".osssyncignore", "1.jpg", "f"])
    }

    @Test(arguments: [false, true])
    func `are none for the tasks of a round, either`(isDryRun: Bool) async throws {
        var options = CutOptions()
        options.count = 2
        _ = try await fixture.engine("a").cut(options) { _ in }
        let log = EventLog()
        let run = try await fixture.run("a", .push, log) { $0.isDryRun = isDryRun }
        #expect(run.transferred == 0, "\(run)")
        #expect(!run.isInStep && explained(log), "\(log.warnings)")
        #expect(try await fixture.objects() == [".osssyncignore", "f"])
    }

    @Test func `end the run where nothing has the recorded ones`() async throws {
        try fixture.remove("a/.osssync/ignore-accepted")
        await #expect(throws: TransferError.self) { try await fixture.run("a", .push) }
        #expect(try await fixture.objects() == [".osssyncignore", "f"])
    }
}
