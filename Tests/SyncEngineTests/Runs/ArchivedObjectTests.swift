import StorageServer
import SyncModel
import Synchronization
import Testing

@testable import SyncEngine

extension EngineRuns {
    @Suite("Archived objects")
    struct ArchivedObjectTests {
        @Test func `stay where no copy of them can be made, and nothing else does`() async throws {
            let fixture = try MirrorFixture()
            for (number, name) in ["cold", "cold-gone", "gone"].enumerated() {
                let content = MirrorFixture.ramp(50, number)
                try fixture.write("a/" + name, content)
                let isCold = name != "gone"
                try await fixture.put(name, content, storageClass: isCold ? .archive : nil)
            }
            try await fixture.run("a", .push)
            try fixture.write("a/cold", MirrorFixture.ramp(60))
            for name in ["cold-gone", "gone"] { try fixture.remove("a/" + name) }
            let log = EventLog()
            let run = try await fixture.run("a", .push, log) {
                $0.deletesKnown = true
                $0.trash = .remote
            }
            #expect(run.deleted == 1 && run.skipped == 2 && !run.isInStep, "\(run)")
            for key in ["cold", "cold-gone"] {
                #expect(log.skipped(key)?.contains("a run without --trash remote") == true)
            }
            let next = try await fixture.run("a", .push) { $0.deletesKnown = true }
            #expect(next.deleted == 1 && next.transferred == 1 && next.isInStep, "\(next)")
        }

        @Test func `are asked for where the file is damaged`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/f", MirrorFixture.ramp(50))
            try fixture.write("a/gone", MirrorFixture.ramp(60))
            try await fixture.run("a", .push) { $0.properties.storageClass = "Archive" }
            try await fixture.damage("f")
            let engine = try fixture.engine("a")
            let reasons = try await reasons(of: engine)
            #expect(reasons.contains { $0.contains("pull --restore DIR PATH") }, "\(reasons)")
            fixture.server.clearRequestLog()
            try fixture.remove("a/gone")
            let run = try await fixture.run("a", .sync) {
                ($0.restoreDays, $0.deletesKnown) = (1, true)
            }
            // It holds back nothing else.
            #expect(run.damaged == 1 && run.transferred == 0, "\(run)")
            #expect(run.deleted == 1 && run.skipped == 0, "\(run)")
            #expect(fixture.operations.contains("RestoreObject"))
        }

        /// What a repair says of what it could not repair.
        private func reasons(of engine: MirrorEngine) async throws -> [String] {
            let found = Mutex<[String]>([])
            let report = try await engine.verify(VerifyOptions(repairs: true)) { finding in
                found.withLock { $0.append(finding.message) }
            }
            #expect(report.damaged == 1 && report.repaired == 0)
            return found.withLock(\.self)
        }
    }
}
