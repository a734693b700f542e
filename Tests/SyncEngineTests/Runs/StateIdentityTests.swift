import Foundation
import LocalStorage
import ManifestStore
import ObjectStorage
import StorageServer
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    @Suite("The identity of the remote and of the state")
    struct StateIdentityTests {
        private func pushed() async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            for number in 0..<3 {
                try fixture.write("a/f\(number)", MirrorFixture.ramp(100 + number))
            }
            try await fixture.run("a", .push)
            return fixture
        }

        private func loseManifest(_ fixture: MirrorFixture, isDamaged: Bool) throws {
            if isDamaged {
                try fixture.write("a/.osssync/manifest.db", Data())
            } else {
                try fixture.remove("a/.osssync/manifest.db")
            }
        }

        private func push(
            _ fixture: MirrorFixture,
            host: String = "127.0.0.1",
            rebinds: Bool = false
        ) async throws -> RunSummary {
            var engine = try fixture.engine("a")
            engine.settings.identity = RemoteIdentity(
                dialect: "oss",
                endpointHost: host,
                bucket: MirrorFixture.bucket,
                prefix: "mirror/"
            )
            let options = MirrorFixture.options { $0.allowsRebinding = rebinds }
            return try await engine.run(.push, options: options, onEvent: { _ in })
        }

        private func refusal(_ fixture: MirrorFixture, host: String) async throws -> String {
            fixture.server.clearRequestLog()
            let error = await #expect(throws: TransferError.self) {
                try await push(fixture, host: host)
            }
            #expect(error?.code == .refused)
            #expect(fixture.server.requestLog.isEmpty)
            return error?.message ?? ""
        }

        @Test(arguments: [true, false])
        func `another remote is refused also after the manifest was lost`(
            isDamaged: Bool
        ) async throws {
            let fixture = try await pushed()
            try loseManifest(fixture, isDamaged: isDamaged)
            for _ in 0..<2 {
                let text = try await refusal(fixture, host: "elsewhere.example")
                #expect(text.contains("127.0.0.1"))
            }
            #expect(try await push(fixture).transferred == 0)
            #expect(try await push(fixture, host: "new.example", rebinds: true).isInStep)
            #expect(try await push(fixture, host: "new.example").isInStep)
        }

        @Test func `a damaged one is made anew from the manifest`() async throws {
            let fixture = try await pushed()
            let path = "a/.osssync/identity"
            let sound = try #require(fixture.content(path))
            for content in [
                Data(), sound.prefix(40), sound + Data([10]), Data(repeating: 0, count: 9),
            ] {
                try fixture.write(path, content)
                #expect(try await push(fixture).isInStep)
                #expect(fixture.content(path) == sound)
            }
            try fixture.remove(path)
            #expect(try await push(fixture).isInStep)
            #expect(fixture.content(path) == sound)
        }

        @Test func `rules that were accepted and cannot be read end a run before it sends`()
            async throws
        {
            let fixture = try await pushed()
            try fixture.write("a/.osssyncignore", Data("*.key\n".utf8))
            try fixture.write("a/x.key", MirrorFixture.ramp(5))
            #expect(try await push(fixture).isInStep)
            let path = "a/.osssync/ignore-accepted"
            let sound = try #require(fixture.content(path))
            let other = String(decoding: sound, as: UTF8.self).replacing("key", with: "kez")
            for content in [
                Data(), sound.dropLast(), sound + Data([10]), Data("x\n".utf8), Data(other.utf8),
            ] {
                try fixture.write(path, content)
                let error = await #expect(throws: TransferError.self) { try await push(fixture) }
                #expect(error?.code == .refused)
                #expect(error?.message.contains("ignore-accepted") == true)
                #expect(fixture.content(path) == content)
            }
            try fixture.remove(path)
            #expect(try await push(fixture).isInStep)
            #expect(fixture.content(path) == sound)
        }

        @Test func `without it and the manifest a run asks what to do`() async throws {
            let fixture = try await pushed()
            try loseManifest(fixture, isDamaged: false)
            var content = try #require(fixture.content("a/.osssync/identity"))
            content[content.count / 2] ^= 1
            try fixture.write("a/.osssync/identity", content)
            let text = try await refusal(fixture, host: "127.0.0.1")
            #expect(text.contains("identity") && text.contains("--rebind"))
            #expect(try await push(fixture, rebinds: true).transferred == 0)
            #expect(try await push(fixture).isInStep)
        }

        @Test(arguments: ["", "p/", "a b/", "\n/", "%0A%/", "ü/\u{7F}/"])
        func `any prefix comes back`(prefix: String) {
            let identity = StateIdentity(
                state: "abc",
                remote: RemoteIdentity(
                    dialect: "s3",
                    endpointHost: "h:1",
                    bucket: "b",
                    prefix: prefix
                )
            )
            #expect(StateIdentity(content: identity.content) == identity)
            for index in identity.content.indices {
                var content = identity.content
                content[index] ^= 4
                #expect(StateIdentity(content: content) == nil)
                #expect(StateIdentity(content: Array(identity.content[..<index])) == nil)
            }
        }

        @Test func `the first file of a state is a whole one`() throws {
            let fixture = try MirrorFixture()
            let mirror = try MirrorDirectory(
                path: fixture.directory("new"),
                stateDirectory: fixture.directory("state"),
                homeDirectory: nil,
                createsIfMissing: true
            )
            let content = try #require(try mirror.sharedState.read(StateIdentity.fileName))
            let identity = try #require(StateIdentity(content: content))
            #expect(identity.content == content && identity == StateIdentity(state: identity.state))
        }

        @Test func `the name of the state stays and is another one in a copy`() async throws {
            let fixture = try await pushed()
            func state(_ name: String) async throws -> String {
                let session = try await MirrorSession.open(
                    try fixture.engine(name).settings,
                    locks: true,
                    allowsRebinding: false
                )
                try await session.manifest.checkpointAndClose()
                let kept = fixture.content("\(name)/.osssync/identity").map { [UInt8]($0) }
                return try #require(kept.flatMap(StateIdentity.init(content:))).state
            }
            let first = try await state("a")
            #expect(!first.isEmpty)
            #expect(try await state("a") == first)
            try FileManager.default.copyItem(
                atPath: fixture.directory("a"),
                toPath: fixture.directory("b")
            )
            let copied = try await state("b")
            #expect(copied != first)
            #expect(try await state("b") == copied)
            try loseManifest(fixture, isDamaged: true)
            #expect(try await state("a") == first)
        }

        @Test func `what the bucket has beneath another state is counted, and nothing goes there`()
            async throws
        {
            let fixture = try await pushed()
            try fixture.write("a/inner/identity", Data("osssync-state 1\nstate x\n".utf8))
            try await fixture.put("inner/x", MirrorFixture.ramp(10))
            for deletesExtra in [false, true] {
                let run = try await fixture.run("a", .push) { $0.deletesExtra = deletesExtra }
                #expect((run.onlyRemote, run.deleted, run.isInStep) == (1, 0, false))
            }
            #expect(try await fixture.object("inner/x") == MirrorFixture.ramp(10))
            var request = RestoreRequest(
                paths: ["f0"],
                version: .latest,
                target: "inner/f0",
                replaces: false
            )
            for isDryRun in [true, false] {
                request.isDryRun = isDryRun
                fixture.server.clearRequestLog()
                let asked = request
                await #expect(throws: TransferError.self) {
                    try await fixture.engine("a")
                        .restoreObjects(
                            asked,
                            from: .bucket,
                            names: .skip
                        ) { _ in }
                }
                #expect(fixture.server.requestLog.isEmpty)
            }
            #expect(try fixture.names(in: "a/inner") == ["identity"])
        }
    }
}
