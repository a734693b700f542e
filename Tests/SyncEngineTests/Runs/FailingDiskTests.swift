import Foundation
import LocalStorage
import ObjectTransfer
import SyncModel
import Synchronization
import Testing

@testable import SyncEngine

extension EngineRuns {
    /// What a disk does not give any more, shortens or loses is no edit and no deletion.
    @Suite("A failing disk")
    struct FailingDiskTests {
        private let fixture: MirrorFixture
        private let good = MirrorFixture.ramp(3_000, 1)

        init() async throws {
            fixture = try MirrorFixture()
            try fixture.write("a/k/photo", good)
            for index in 0..<20 { try fixture.write("a/f\(index)", MirrorFixture.ramp(500, index)) }
            try await fixture.run("a", .push)
        }

        /// Does something on a disk on which one read after the other fails, until it was that of
        /// the file: osssync reads its own files, too.
        private func onFailingDisk<Result>(
            _ errno: Int32 = EIO,
            _ body: (MirrorEngine) async throws -> Result?
        ) async throws -> Result {
            for number in 1...100 {
                let faults = SystemCallFaults(.fail(errno: errno), at: number, of: ["pread"])
                let calls = SystemCalls(usesOpenat2: true, faults: faults)
                let found = try? await body(try fixture.engine("a", calls: calls))
                if let found { return found }
            }
            throw CocoaError(.featureUnsupported)
        }

        /// `again` makes what it was before of what a run did that met no failing read.
        private func pushOnFailingDisk(
            again: () async throws -> Void = {}
        ) async throws -> RunSummary {
            try await onFailingDisk { engine in
                var engine = engine
                // Small files are sent anew.
                engine.settings.limits.smallestSearchable = 1 << 20
                let run = try? await engine.run(
                    .push,
                    options: MirrorFixture.options { $0.deletesKnown = true },
                    onEvent: { _ in }
                )
                // One that fails at its end may have sent the file.
                let isSent = try await fixture.objects().contains("m/photo")
                if let run, run.damaged > 0, !isSent { return run }
                try await again()
                return nil
            }
        }

        /// Runs that must not touch the good object, and say why.
        private func isKept(
            _ direction: SyncDirection = .push,
            damaged: Int = 1
        ) async throws {
            for _ in 1...2 {
                let run = try await fixture.run("a", direction) { $0.deletesKnown = true }
                #expect(run.damaged == damaged && !run.isInStep, "\(run)")
                #expect(try await fixture.object("k/photo") == good)
            }
        }

        private func isRepaired() async throws {
            let report = try await fixture.engine("a").verify(VerifyOptions(repairs: true)) { _ in }
            #expect(report.repaired == 1, "\(report)")
            #expect(fixture.content("a/k/photo") == good)
            #expect(try await fixture.run("a", .push) { $0.deletesKnown = true }.isInStep)
        }

        @Test(arguments: [EIO, EBADMSG, EUCLEAN, ENODATA])
        func `content that cannot be read is damaged`(errno: Int32) async throws {
            let report = try await onFailingDisk(errno) { engine in
                let findings = Mutex<[String]>([])
                let report = try await engine.verify(VerifyOptions()) { finding in
                    findings.withLock { $0.append(finding.key) }
                }
                return findings.withLock { $0 == ["k/photo"] } ? report : nil
            }
            #expect(report.damaged == 1 && report.failed == 0, "\(report)")
            try fixture.remove("a/k/photo")
            try await isKept()
            try await isRepaired()
        }

        @Test func `so it is to a run that compares it, and to one that sends it`() async throws {
            try fixture.setModified("a/k/photo", Date())
            let first = try await pushOnFailingDisk()
            #expect((first.damaged, first.failed) == (1, 0), "\(first)")
            #expect(try await fixture.run("a", .push).isInStep)
            try fixture.write("a/f1", MirrorFixture.ramp(4_000, 9))
            try fixture.remove("a/f0")
            let second = try await pushOnFailingDisk()
            // A disk that does not give what it holds is ill: nothing is deleted.
            #expect((second.damaged, second.failed, second.deleted) == (1, 0, 0), "\(second)")
            #expect(second.deletionsHeldBack?.contains("could not be read completely") == true)
            #expect(try await fixture.object("k/photo") == good)
            #expect(try await fixture.object("f1") == MirrorFixture.ramp(500, 1))
            // The edit goes, once it can be read.
            let third = try await fixture.run("a", .push) { $0.deletesKnown = true }
            #expect((third.damaged, third.deleted) == (0, 1) && third.isInStep, "\(third)")
            #expect(try await fixture.object("f1") == MirrorFixture.ramp(4_000, 9))
        }

        @Test func `an edit that could not be read, and is gone then, was not deleted`()
            async throws
        {
            try fixture.write("a/k/photo", MirrorFixture.ramp(4_000, 9))
            let run = try await pushOnFailingDisk {
                try fixture.write("a/k/photo", good)
                try await fixture.run("a", .push)
                try fixture.write("a/k/photo", MirrorFixture.ramp(4_000, 9))
            }
            #expect(run.damaged == 1, "\(run)")
            try fixture.remove("a/k/photo")
            try await isKept()
            try await isRepaired()
        }

        @Test func `under another name it keeps the object of the former one`() async throws {
            try fixture.makeDirectory("a/m")
            try fixture.rename("a/k/photo", to: "a/m/photo")
            let run = try await pushOnFailingDisk {
                try fixture.makeDirectory("a/k")
                try fixture.rename("a/m/photo", to: "a/k/photo")
                try await fixture.run("a", .push) { $0.deletesKnown = true }
                try fixture.rename("a/k/photo", to: "a/m/photo")
            }
            #expect(run.failed == 0 && run.deleted == 0 && run.damaged > 0, "\(run)")
            try fixture.remove("a/m/photo")
            try await isKept()
            try await isRepaired()
        }

        @Test(arguments: [SyncDirection.push, .sync], [0, 1_000])
        func `a file that became shorter behind its times is damaged`(
            direction: SyncDirection,
            size: UInt64
        ) async throws {
            try await fixture.shorten("k/photo", to: size)
            try await isKept(direction)
            let report = try await fixture.engine("a").verify(VerifyOptions()) { _ in }
            #expect(report.damaged == 1 && report.changed == 0, "\(report)")
            try await isRepaired()
        }

        @Test(arguments: ["k", "k/photo"])
        func `what it failed to show, and is gone then, was not deleted`(
            path: String
        ) async throws {
            try await fixture.inState { try await $0.damaged.noteUnread([ObjectKey(path)]) }
            try fixture.remove("a/k")
            try await isKept()
            try await isRepaired()
            // Once all is there again, a deletion is one.
            try fixture.remove("a/k")
            #expect(try await fixture.run("a", .push) { $0.deletesKnown = true }.deleted == 1)
        }

        @Test func `a directory that it fails to show is noted, until all was seen`() async throws {
            // Which of the calls is the one that reads the directory is not known here.
            var isNoted = false
            for number in 1...100 where !isNoted {
                let faults = SystemCallFaults(.fail(errno: EUCLEAN), at: number, of: ["readdir"])
                let calls = SystemCalls(usesOpenat2: true, faults: faults)
                let run = try? await fixture.engine("a", calls: calls)
                    .run(.push, options: MirrorFixture.options(), onEvent: { _ in })
                guard run?.skipped == 1 else { continue }
                try await fixture.inState { isNoted = !$0.damaged.isEmpty }
            }
            #expect(isNoted)
            #expect(try await fixture.run("a", .push).isInStep)
            try await fixture.inState { #expect($0.damaged.isEmpty) }
        }

        @Test func `rules that became shorter, or were lost, stay in effect`() async throws {
            try fixture.write("a/.osssyncignore", Data("*.key\n*.secret\n".utf8))
            try fixture.write("a/my.key", Data([1]))
            try fixture.write("a/my.secret", Data([2]))
            try await fixture.run("a", .push)
            let accepted = try #require(fixture.content("a/.osssync/ignore-accepted"))
            try await fixture.shorten(".osssyncignore", to: 6)
            try fixture.write("a/.osssync/ignore-accepted", accepted)
            #expect(try await fixture.run("a", .push) { $0.deletesKnown = true }.damaged == 1)
            let report = try await fixture.engine("a").verify(VerifyOptions(repairs: true)) { _ in }
            #expect(report.repaired == 1, "\(report)")
            #expect(try await fixture.run("a", .push).isInStep)
            try await fixture.inState { try await $0.damaged.noteUnread([".osssyncignore"]) }
            try fixture.remove("a/.osssyncignore")
            let run = try await fixture.run("a", .push) { $0.deletesKnown = true }
            #expect((run.damaged, run.transferred, run.deleted) == (1, 0, 0), "\(run)")
            let again = try await fixture.run("a", .push) { $0.deletesKnown = true }
            #expect((again.damaged, again.transferred, again.deleted) == (1, 0, 0), "\(again)")
            let objects = try await fixture.objects()
            #expect(!objects.contains("my.key") && !objects.contains("my.secret"))
        }
    }
}
