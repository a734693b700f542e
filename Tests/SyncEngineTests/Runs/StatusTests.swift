import Foundation
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    /// What `status` and `explain` say is what runs do.
    @Suite("Status")
    struct StatusTests {
        @Test func `says that the run would hold its deletions back`() async throws {
            let fixture = try MirrorFixture()
            for name in ["a", "b", "c", "d"] { try fixture.write("a/" + name, Data([1])) }
            try await fixture.run("a", .push)
            for name in ["a", "b"] { try fixture.remove("a/" + name) }
            for (limit, isHeld) in [(1, true), (2, false)] {
                let options = MirrorFixture.options {
                    ($0.deletesKnown, $0.deletionLimit) = (true, .count(limit))
                }
                let report = try await fixture.engine("a").status(options: options)
                #expect(report.push.deletions == 2 && report.pull.deletions == 0)
                #expect((report.push.deletionsHeldBack != nil) == isHeld)
                #expect((report.sync.deletionsHeldBack != nil) == isHeld)
                #expect(report.pull.deletionsHeldBack == nil)
                guard isHeld else { continue }
                await #expect {
                    _ = try await fixture.engine("a")
                        .run(.push, options: options, onEvent: EventLog().add)
                } throws: { error in
                    (error as? TransferError)?.message == report.push.deletionsHeldBack
                }
            }
            // Another limit for one direction.
            let options = MirrorFixture.options { $0.deletesKnown = true }
            var push = options
            push.deletionLimit = .count(0)
            let report = try await fixture.engine("a").status(options: options, of: [.push: push])
            #expect(report.push.deletionsHeldBack?.contains("the limit is 0") == true)
            #expect(report.sync.deletionsHeldBack == nil)
        }

        @Test func `of contents, which it does not read, is no proof that both sides are equal`()
            async throws
        {
            let fixture = try MirrorFixture()
            try fixture.write("a/d/f", Data([1]))
            try fixture.setModified("a/d/f", Date(timeIntervalSince1970: 1_600_000_000))
            // What was written right before a run is compared by the next one.
            let end = ContinuousClock.now + .seconds(20)
            var unknown = 1
            while unknown > 0, ContinuousClock.now < end {
                try await fixture.run("a", .push)
                unknown = try await fixture.engine("a").status(options: MirrorFixture.options())
                    .differences.unknown
            }
            let report = try await fixture.engine("a").status(
                options: MirrorFixture.options { $0.comparesContent = true }
            )
            #expect(unknown == 0)
            #expect(report.differences.unknown == 1 && !report.isInStep)
        }

        @Test func `needs no comparison of a file that is empty`() async throws {
            let fixture = try MirrorFixture()
            for name in ["empty", "other"] {
                try fixture.write("a/" + name, Data(repeating: 1, count: name == "empty" ? 0 : 9))
            }
            try await fixture.run("a", .push)
            for name in ["empty", "other"] {
                try fixture.setModified("a/" + name, Date(timeIntervalSince1970: 1_600_000_000))
            }
            let report = try await fixture.engine("a").status(options: MirrorFixture.options())
            #expect(report.differences.unknown == 1 && report.push.comparisons == 1, "\(report)")
        }

        @Test func `counts what is excluded and deleted for it`() async throws {
            let fixture = try MirrorFixture()
            for name in ["d/e/1", "d/2", "f"] { try fixture.write("a/" + name, Data([1])) }
            try await fixture.run("a", .push)
            let options = MirrorFixture.options {
                ($0.deletesKnown, $0.deletesExcluded) = (true, true)
                try? $0.filter.exclude("/d/")
            }
            for _ in 0..<2 {
                let report = try await fixture.engine("a").status(options: options)
                // What was written a moment ago is compared first.
                for work in [report.pull, report.push] {
                    #expect((2...3).contains(work.deletions + work.comparisons), "\(work)")
                }
                #expect(report.push.deletions == 2 && report.sync.deletions == 0, "\(report)")
                var push = options
                push.deletesExcluded = false
                let own = try await fixture.engine("a").status(options: options, of: [.push: push])
                #expect(own.push.deletions == 0, "\(own.push)")
            }
            let log = EventLog()
            let run = try await fixture.engine("a").run(.push, options: options, onEvent: log.add)
            #expect(run.deleted == 2, "\(run)")
        }

        @Test func `names another mirror within this one, which is no difference`() async throws {
            let fixture = try MirrorFixture()
            for name in ["f", "in/g"] { try fixture.write("a/" + name, Data([1])) }
            try await fixture.run("a/in", .push)
            try await fixture.run("a", .push)
            try fixture.write("a/other/identity", Data("osssync-state 1\n".utf8))
            let options = MirrorFixture.options()
            let report = try await fixture.engine("a").status(options: options)
            #expect(report.issues.isEmpty && report.differences.notMirrored == 0, "\(report)")
            for name in ["in", "other"] {
                #expect(report.warnings.contains { $0.contains("'\(name)") }, "\(report.warnings)")
            }
            #expect(try await fixture.run("a", .push).notMirrored == 0)
        }

        @Test func `explains what an excluded path is deleted for`() async throws {
            let fixture = try MirrorFixture()
            for name in ["f", "k10"] { try fixture.write("a/" + name, Data([1])) }
            try await fixture.run("a", .push)
            let options = MirrorFixture.options {
                ($0.deletesKnown, $0.deletesExcluded) = (true, true)
                try? $0.filter.exclude("k10")
            }
            let found = try await fixture.engine("a").explain(
                path: "k10",
                of: [.push: options, .pull: options]
            )
            #expect(found.outlooks[.push]?.action == .deleteRemote)
            // What was written a moment ago would be compared first.
            for direction in [SyncDirection.push, .pull] {
                let outlook = try #require(found.outlooks[direction])
                #expect(outlook.action != nil && outlook.isExcluded, "\(outlook)")
                #expect(outlook.reason == "excluded" && outlook.rule?.contains("k10") == true)
            }
        }

        @Test func `explains that what is in the place of a file is not mirrored`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/f", Data([1]))
            try await fixture.run("a", .push)
            try FileManager.default.createSymbolicLink(
                atPath: fixture.directory("a/l"),
                withDestinationPath: "f"
            )
            let found = try await fixture.engine("a").explain(path: "l", of: [:])
            #expect(found.outlooks.count == 3)
            for outlook in found.outlooks.values {
                #expect(outlook.action == .skip && outlook.reason == found.issues.first)
            }
        }
    }
}
