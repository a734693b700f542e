import Foundation
import LocalStorage
import ObjectStorage
import StorageServer
import SyncModel
import Synchronization
import Testing

@testable import SyncEngine

/// Directories that a run has made, and whose markers it has not asked yet.
@Suite("Directories before their permissions are known")
struct UnaskedDirectoryTests {
    private let fixture: MirrorFixture

    /// A mirror with a directory of its owner's group, and one as every other.
    init() async throws {
        fixture = try MirrorFixture()
        try fixture.write("a/group/f", MirrorFixture.ramp(500))
        try fixture.setMode("a/group", 0o750)
        try fixture.makeDirectory("a/plain")
        try fixture.setMode("a/plain", 0o755)
        try await fixture.run("a", .push)
    }

    private func isFinished() throws {
        #expect(try fixture.mode("b/group") == 0o750)
        #expect(try fixture.mode("b/plain") == Int(MirrorDirectory.ordinaryPermissions))
    }

    @Test(arguments: [SyncDirection.pull, .sync])
    func `are for their owner alone`(_ direction: SyncDirection) async throws {
        try fixture.makeDirectory("b")
        let fixture = fixture
        let modes = Mutex<[String: Int]>([:])
        let engine = try fixture.engine("b") { store in
            HookedStore(store) { call throws(StorageError) in
                guard call.operation == "HeadObject", call.moment == .before else { return }
                let name = String(call.key.dropFirst("mirror/".count).dropLast())
                let mode = (try? fixture.mode("b/" + name)) ?? nil
                modes.withLock { $0[name] = mode.map { $0 & 0o777 } }
            }
        }
        let run = try await engine.run(
            direction,
            options: MirrorFixture.options(),
            onEvent: { _ in }
        )
        #expect(run.isInStep, "\(run)")
        #expect(modes.withLock(\.self) == ["group": 0o700, "plain": 0o700])
        try isFinished()
        fixture.server.clearRequestLog()
        #expect(try await fixture.run("b", direction).isInStep)
        #expect(fixture.operations.isEmpty, "\(fixture.operations)")
    }

    @Test(arguments: SyncDirection.allCases)
    func `that a killed run left get them from the next one`(
        _ direction: SyncDirection
    ) async throws {
        for name in ["group", "plain"] {
            try fixture.makeDirectory("b/" + name)
            try fixture.setMode("b/" + name, 0o1700)
        }
        let run = try await fixture.run("b", direction)
        #expect(run.modes == 0 && run.localChanges == 0, "\(run)")
        try isFinished()
    }

    @Test func `stay so as long as the markers may not be read`() async throws {
        try fixture.setFaults(
            #"[{"match": {"operation": "HeadObject"},"#
                + #""effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]"#
        )
        let log = EventLog()
        try await fixture.run("b", .pull, log)
        #expect(try fixture.mode("b/group").map { $0 & 0o777 } == 0o700)
        #expect(log.warnings.contains { $0.contains("only by their owner") }, "\(log.warnings)")
        try fixture.setFaults("[]")
        try await fixture.run("b", .pull)
        try isFinished()
    }

    @Test func `that a user has made private stay so`() async throws {
        try fixture.makeDirectory("b/plain")
        try fixture.setMode("b/plain", 0o700)
        try await fixture.run("b", .pull)
        #expect(try fixture.mode("b/plain") == 0o700)
    }
}
