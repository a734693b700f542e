import Foundation
import ManifestStore
import ObjectStorage
import StorageServer
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    @Suite("The port of the remote")
    struct RemotePortTests {
        private func engine(
            _ fixture: MirrorFixture,
            host: String = "store.test",
            port: Int?
        ) throws -> MirrorEngine {
            var engine = try fixture.engine("a")
            engine.settings.identity = RemoteIdentity(
                dialect: "oss",
                endpointHost: host,
                endpointPort: port,
                bucket: MirrorFixture.bucket,
                prefix: "mirror/"
            )
            return engine
        }

        private func run(
            _ fixture: MirrorFixture,
            port: Int?,
            _ direction: SyncDirection = .push,
            _ change: (inout RunOptions) -> Void = { _ in }
        ) async throws -> RunSummary {
            try await engine(fixture, port: port)
                .run(direction, options: MirrorFixture.options(change), onEvent: { _ in })
        }

        private func isRefused(_ body: () async throws -> Void) async throws -> Bool {
            do {
                try await body()
                return false
            } catch let error as TransferError where error.code == .refused {
                return true
            }
        }

        @Test func `a region is one remote from within and from outside`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/f", MirrorFixture.ramp(10))
            let hosts = ["oss-cn-hangzhou", "oss-cn-hangzhou-internal", "oss-cn-beijing-internal"]
            for (host, isSame) in zip(hosts, [true, true, false]) {
                let engine = try engine(fixture, host: host + ".aliyuncs.com", port: 443)
                let isRefused = try await isRefused {
                    _ = try await engine.run(.push, options: .standard, onEvent: { _ in })
                }
                #expect(isRefused != isSame, "\(host)")
            }
        }

        @Test(arguments: [9_000, 443, nil])
        func `another port is another remote, for every command`(first: Int?) async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/f", MirrorFixture.ramp(10))
            #expect(try await run(fixture, port: first).transferred == 1)
            for port in [9_001, first == nil ? 9_000 : nil] where port ?? 443 != first ?? 443 {
                fixture.server.clearRequestLog()
                for direction in [SyncDirection.pull, .push, .sync] {
                    for isDry in [true, false] {
                        #expect(
                            try await isRefused {
                                _ = try await run(fixture, port: port, direction) {
                                    $0.isDryRun = isDry
                                    $0.deletesKnown = true
                                }
                            }
                        )
                    }
                }
                #expect(
                    try await isRefused {
                        _ = try await engine(fixture, port: port)
                            .status(options: MirrorFixture.options())
                    }
                )
                #expect(fixture.server.requestLog.isEmpty)
            }
            #expect(try await run(fixture, port: first).isInStep)
        }

        @Test func `https and http are one store`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/f", MirrorFixture.ramp(10))
            for port in [443, 80, nil] { #expect(try await run(fixture, port: port).isInStep) }
        }

        private func forgetPort(_ fixture: MirrorFixture) async throws {
            let session = try await MirrorSession.open(
                try engine(fixture, port: 9_000).settings,
                locks: true,
                allowsRebinding: false
            )
            try await session.manifest.setSettings([(RemoteCheck.Setting.port, nil)])
            try await session.manifest.checkpointAndClose()
        }

        @Test func `a state without a port takes one, once`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/f", MirrorFixture.ramp(10))
            _ = try await run(fixture, port: 9_000)
            try await forgetPort(fixture)
            #expect(try await run(fixture, port: 9_001).isInStep)
            #expect(try await isRefused { _ = try await run(fixture, port: 9_000) })
        }

        @Test func `what init confirms is taken once, by the next run`() async throws {
            let fixture = try MirrorFixture()
            for name in ["f", "g"] { try fixture.write("a/" + name, MirrorFixture.ramp(10)) }
            _ = try await run(fixture, port: 9_000)
            try fixture.remove("a/g")
            func confirm(_ port: Int, mayRebind: Bool = true) throws {
                try MirrorLink.confirm(
                    try engine(fixture, port: port).settings.identity,
                    mayRebind: mayRebind,
                    directory: fixture.directory("a"),
                    stateDirectory: nil,
                    homeDirectory: nil
                )
            }
            #expect(throws: TransferError.self) { try confirm(9_001, mayRebind: false) }
            #expect(try await isRefused { _ = try await run(fixture, port: 9_001) })
            try confirm(9_000, mayRebind: false)
            try confirm(9_001)
            // Only for exactly this remote.
            #expect(try await isRefused { _ = try await run(fixture, port: 9_002) })
            _ = try await engine(fixture, port: 9_001).status(options: MirrorFixture.options())
            let first = try await run(fixture, port: 9_001) { $0.deletesExtra = true }
            #expect((first.deleted, first.adopted) == (0, 1))
            #expect(first.deletionsHeldBack != nil)
            #expect(try await isRefused { _ = try await run(fixture, port: 9_000) })
            let kept = try #require(fixture.content("a/.osssync/identity"))
            #expect(StateIdentity(content: [UInt8](kept))?.confirmed == nil)
        }

        @Test func `one state for two directories says whose it is`() async throws {
            let fixture = try MirrorFixture()
            for name in ["a", "b"] { try fixture.write(name + "/f", MirrorFixture.ramp(10)) }
            func run(_ name: String) async throws {
                var engine = try fixture.engine(name)
                engine.settings.stateDirectory = fixture.directory("state")
                _ = try await engine.run(
                    .push,
                    options: MirrorFixture.options(),
                    onEvent: { _ in }
                )
            }
            try await run("a")
            let error = await #expect(throws: TransferError.self) { try await run("b") }
            #expect(error?.code == .refused)
            let text = error?.message ?? ""
            #expect(text.contains("is the state of '\(fixture.directory("a"))'"))
            #expect(!text.contains("--rebind") && text.contains("--state-dir"))
        }
    }
}
