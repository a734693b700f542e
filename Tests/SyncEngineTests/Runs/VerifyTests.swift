import Foundation
import StorageServer
import SyncModel
import Synchronization
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

@Suite("Verifying")
struct VerifyTests {
    let fixture: MirrorFixture

    /// A mirror "a" of six files, recorded so long ago that their times tell of each change.
    init() async throws {
        fixture = try MirrorFixture()
        for index in 0..<6 {
            try fixture.write("a/d/f\(index)", MirrorFixture.ramp(2_000, index))
            try fixture.setModified("a/d/f\(index)", Date(timeIntervalSince1970: 1_700_000_000.5))
        }
        try await fixture.run("a", .push)
    }

    private func damage(_ name: String) async throws { try await fixture.damage("d/" + name) }

    private func verify(
        _ options: VerifyOptions = VerifyOptions()
    ) async throws -> (report: VerifyReport, found: [VerifyFinding]) {
        let found = Mutex<[VerifyFinding]>([])
        let report = try await fixture.engine("a").verify(options) { finding in
            found.withLock { $0.append(finding) }
        }
        return (report, found.withLock { $0 })
    }

    @Test func `damage is found and not uploaded without --force until it is repaired`()
        async throws
    {
        #expect(try await verify().report.verified == 6)
        try await damage("f3")
        let sound = try await fixture.object("d/f3")
        #expect(try await fixture.run("a", .push).isComplete, "nobody has read it yet")
        let (report, found) = try await verify()
        #expect((report.verified, report.damaged) == (5, 1))
        #expect(report.bytes == 12_000 && report.isFinished && !report.isGood)
        #expect(found.map(\.key) == ["d/f3"] && found.first?.kind == .damaged)
        // Later runs know it without --checksum, and status plans nothing for it.
        for direction in [SyncDirection.push, .pull, .sync] {
            let run = try await fixture.run("a", direction)
            #expect((run.transferred, run.damaged, run.unchanged) == (0, 1, 5))
        }
        #expect(try await fixture.object("d/f3") == sound)

        let repair = try await verify(VerifyOptions(repairs: true)).report
        #expect((repair.damaged, repair.repaired) == (1, 1))
        #expect(repair.isGood)
        #expect(fixture.content("a/d/f3") == sound)
        #expect(try await fixture.run("a", .push).isComplete)
        #expect(try await verify().report.verified == 6)
        // The damaged version is in the trash.
        let kept = try FileManager.default.subpathsOfDirectory(
            atPath: fixture.directory("a/.osssync/trash")
        )
        #expect(kept.contains { $0.hasSuffix("d/f3") })
    }

    @Test func `a damaged file that was removed since is repaired, and all is well`() async throws {
        for name in ["f3", "f4"] { try await damage(name) }
        #expect(try await verify().report.damaged == 2)
        try fixture.remove("a/d/f3")
        let repair = try await verify(VerifyOptions(repairs: true)).report
        #expect((repair.damaged, repair.repaired) == (2, 2))
        #expect(repair.isGood)
    }

    @Test func `force sends what is damaged, and it is sound from then on`() async throws {
        try await damage("f0")
        #expect(try await verify().report.damaged == 1)
        let push = try await fixture.run("a", .push) { $0.replacesLocalChanges = true }
        #expect(push.transferred == 1)
        #expect(try await fixture.object("d/f0") == fixture.content("a/d/f0"))
        #expect(try await verify().report.isGood)
        #expect(try await fixture.run("a", .push).isComplete)
    }

    @Test func `what the user changed or deleted is no damage`() async throws {
        try fixture.write("a/d/f0", MirrorFixture.ramp(2_000, 9))
        try fixture.write("a/d/f1", MirrorFixture.ramp(7))
        try fixture.remove("a/d/f2")
        try fixture.setModified("a/d/f3", Date(timeIntervalSince1970: 1_600_000_000))
        try fixture.write("a/new", MirrorFixture.ramp(7))
        let (report, found) = try await verify()
        #expect((report.verified, report.changed, report.missing) == (3, 2, 1))
        #expect(report.isGood && found.isEmpty)
        #expect(try await fixture.run("a", .push).transferred == 3)
    }

    @Test func `a budget continues where the last one stopped and begins again at the end`()
        async throws
    {
        try await damage("f0")
        try await damage("f5")
        let budget = VerifyOptions(budget: .percent(34))
        var damaged: [Int] = []
        for isLast in [false, false, true] {
            let report = try await verify(budget).report
            #expect(report.verified + report.damaged == 2)
            #expect(report.isFinished == isLast)
            damaged.append(report.damaged)
        }
        #expect(damaged == [1, 0, 1])
        #expect(try await fixture.run("a", .push).damaged == 2)
        #expect(try await verify(budget).report.damaged == 1)
        // One file is read in any case, so that each goes on.
        let instant = VerifyOptions(budget: .time(.nanoseconds(1)))
        let next = try await verify(instant).report
        #expect(next.verified == 1 && !next.isFinished)
        #expect(try await verify(VerifyOptions(paths: ["d/f5"])).report.damaged == 1)
        #expect(try await verify(VerifyOptions(paths: ["./d/"])).report.damaged == 2)
        for path in ["f5", "d/f"] {
            let error = await #expect(throws: TransferError.self) {
                try await verify(VerifyOptions(paths: ["d/f0", path]))
            }
            #expect(error?.code == .configuration)
            #expect(
                error?.message == "'\(path)' exists neither in the directory nor in the manifest; "
                    + "check its spelling: it is a path beneath DIR. If it was removed, "
                    + "'osssync restore DIR \(path)' looks in the trash and the versions"
            )
        }
    }

    @Test func `the bucket is compared by headers only`() async throws {
        try await fixture.put("d/f1", MirrorFixture.ramp(2_000, 77))
        try await fixture.deleteObject("d/f2")
        fixture.server.clearRequestLog()
        let (report, found) = try await verify(VerifyOptions(checksRemote: true))
        #expect((report.verified, report.remoteChanged, report.remoteMissing) == (6, 1, 1))
        #expect(!report.isGood)
        #expect(found.map(\.key) == ["d/f1", "d/f2"])
        #expect(Set(fixture.operations) == ["HeadObject"])
        #expect(fixture.operations.count == 6)
        // What was replaced in the bucket is no repair.
        try await damage("f1")
        let repair = try await verify(VerifyOptions(repairs: true))
        #expect((repair.report.damaged, repair.report.repaired) == (1, 0))
        #expect(repair.found.map(\.kind) == [.damaged, .failed])
    }
}
