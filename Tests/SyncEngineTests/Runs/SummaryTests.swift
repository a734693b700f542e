import Foundation
import LocalStorage
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    /// What summaries and reports count.
    @Suite("Counts")
    struct SummaryTests {
        private static let large = 12 << 20

        /// A mirror of which a run has kept one of the parts of its only object or file.
        private func interrupted(_ direction: SyncDirection) async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            if direction == .pull {
                try await fixture.put("large", MirrorFixture.ramp(Self.large))
            } else {
                try fixture.write("a/large", MirrorFixture.ramp(Self.large))
            }
            let operation = direction == .pull ? "GetObject" : "UploadPart"
            try fixture.setFaults(
                #"[{"match": {"operation": "\#(operation)", "from": 3}, "effect": {"hold": true}}]"#
            )
            let stopped = try await fixture.run("a", direction) { options in
                (options.partSize, options.connectionLimit) = (4 << 20, 1)
                options.maximumTransfer = 1
            }
            #expect(stopped.bytesKept > 0)
            try fixture.setFaults("[]")
            return fixture
        }

        @Test(arguments: [SyncDirection.pull, .push])
        func `what is planned leaves out what an interrupted transfer has moved`(
            direction: SyncDirection
        ) async throws {
            let fixture = try await interrupted(direction)
            let log = EventLog()
            let other = try await fixture.run("a", direction) { $0.isDryRun = true }
            // An upload with other parts begins anew.
            #expect((other.bytesResumed > 0) == (direction == .pull))
            let dry = try await fixture.run("a", direction, log) { options in
                (options.isDryRun, options.partSize) = (true, 4 << 20)
            }
            #expect(dry.bytesResumed >= 4 << 20)
            #expect(dry.bytes + dry.bytesResumed == Int64(Self.large))
            #expect(log.items.last { $0.state == .planned }?.bytesResumed == dry.bytesResumed)
            let status = try await fixture.engine("a").status(
                options: MirrorFixture.options { $0.partSize = 4 << 20 }
            )
            let work = direction == .pull ? status.pull : status.push
            #expect((work.bytes, work.bytesResumed) == (dry.bytes, dry.bytesResumed))
            let next = try await fixture.run("a", direction) { $0.partSize = 4 << 20 }
            #expect((next.bytes, next.bytesResumed) == (dry.bytes, dry.bytesResumed))
        }

        @Test func `an interrupted transfer of another version is not left out`() async throws {
            let fixture = try await interrupted(.pull)
            try await fixture.put("large", MirrorFixture.ramp(Self.large, 1))
            let dry = try await fixture.run("a", .pull) { $0.isDryRun = true }
            #expect((dry.bytes, dry.bytesResumed) == (Int64(Self.large), 0))
        }

        @Test func `a refused dry run deletes nothing`() async throws {
            let fixture = try MirrorFixture()
            for index in 0..<20 { try fixture.write("a/\(index)", Data([1])) }
            try await fixture.run("a", .push)
            for index in 0..<15 { try fixture.remove("a/\(index)") }
            let log = EventLog()
            await #expect(throws: TransferError.self) {
                try await fixture.run("a", .push, log) { options in
                    (options.deletesKnown, options.isDryRun) = (true, true)
                }
            }
            #expect(log.summary?.deleted == 0 && log.summary?.deletionsHeldBack != nil)
        }

        @Test func `bytes of items that failed are not those that were transferred`() async throws {
            let fixture = try MirrorFixture()
            for name in ["a", "b"] { try await fixture.put(name, MirrorFixture.ramp(1_000)) }
            let faults = SystemCallFaults(.fail(errno: EIO), at: 1, of: ["renameat2", "linkat"])
            let summary = try await fixture.engine(
                "m",
                calls: SystemCalls(usesOpenat2: true, faults: faults)
            ).run(.pull, options: MirrorFixture.options(), onEvent: { _ in })
            #expect((summary.transferred, summary.failed) == (1, 1), "\(summary)")
            #expect((summary.bytes, summary.bytesFailed) == (1_000, 1_000))
        }

        @Test func `a version that a conflict kept is counted where it goes`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/d/f.xmp", Data([1]))
            try await fixture.run("a", .push)
            try await fixture.run("b", .pull)
            try fixture.write("a/d/f.xmp", Data([1, 2]))
            try await fixture.run("a", .push)
            try fixture.write("b/d/f.xmp", Data([1, 2, 3]))
            let conflict = try await fixture.run("b", .sync)
            #expect((conflict.conflicts, conflict.conflictCopies) == (1, 0))
            let dry = try await fixture.run("b", .sync) { $0.isDryRun = true }
            #expect(dry.conflictCopies == 1)
            let sent = try await fixture.run("b", .sync)
            #expect((sent.transferred, sent.conflictCopies) == (1, 1))
            let received = try await fixture.run("a", .pull)
            #expect((received.transferred, received.conflictCopies) == (1, 1))
        }

        @Test func `names like those of kept versions are told from others`() {
            let kept: [ObjectKey] = [
                "a.conflict-20261126T121521Z-vm.xmp", "d/.conflict-20261126T121521Z-h",
            ]
            let others: [ObjectKey] = [
                "a.conflict-", "a.conflict-20261126-vm", "d.conflict-20261126T121521Z-vm/f",
                "a.conflict-20261126T121521Z",
            ]
            #expect(kept.filter(\.isConflictCopy) == kept)
            #expect(others.filter(\.isConflictCopy) == [])
        }

        @Test func `a mirror has so many files and bytes, and was verified then`() async throws {
            let fixture = try MirrorFixture()
            let settings = try fixture.engine("a").settings
            let local = LocalMirror(
                directory: settings.directory,
                stateDirectory: nil,
                homeDirectory: nil,
                environment: settings.environment
            )
            for name in ["f", "d/g"] { try fixture.write("a/" + name, MirrorFixture.ramp(100)) }
            try fixture.makeDirectory("a/empty")
            try await fixture.run("a", .push)
            var totals = try #require(try await local.totals())
            #expect((totals.files, totals.bytes, totals.damagedFiles) == (2, 200, 0))
            #expect(totals.lastVerification == nil)
            try await fixture.damage("f")
            var options = VerifyOptions()
            options.paths = ["d"]
            _ = try await fixture.engine("a").verify(options) { _ in }
            totals = try #require(try await local.totals())
            #expect(totals.lastVerification == nil)
            _ = try await fixture.engine("a").verify(VerifyOptions()) { _ in }
            totals = try #require(try await local.totals())
            #expect(totals.damagedFiles == 1 && totals.lastVerification != nil)
        }
    }
}
