import Foundation
import LocalStorage
import ManifestStore
import ObjectStorage
import SyncModel
import Testing

@testable import SyncEngine

extension EngineRuns {
    @Suite("Downloads of a run")
    struct DownloadTests {
        private let size = 6 << 20

        private func fixture() async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            try fixture.write("a/big", MirrorFixture.ramp(size))
            try await fixture.run("a", .push)
            return fixture
        }

        private func partials(_ fixture: MirrorFixture, _ name: String) throws -> [String] {
            let path = fixture.directory(name) + "/.osssync/partial"
            return try FileManager.default.contentsOfDirectory(atPath: path)
        }

        /// The service states no checksum of any object, and damages the bodies that `match` names.
        private func withoutChecksums(_ fixture: MirrorFixture, damaging match: String?) throws {
            let damage = match.map { #", {"match": \#($0), "effect": {"flip": 100}}"# } ?? ""
            try fixture.setFaults(
                """
                [{"match": {"operation": "GetObject"},
                  "effect": {"headers": {"remove": ["x-oss-hash-crc64ecma"]}}},
                 {"match": {"operation": "HeadObject"},
                  "effect": {"headers": {"remove": ["x-oss-hash-crc64ecma"]}}}\(damage)]
                """
            )
        }

        @Test func `without a checksum of the service the tag vouches, or nothing does`()
            async throws
        {
            let fixture = try await fixture()
            try await fixture.put("single", MirrorFixture.ramp(70_000))
            try withoutChecksums(fixture, damaging: nil)
            #expect(try await fixture.run("b", .pull).isInStep)
            let session = try await MirrorSession.open(
                try fixture.engine("b").settings,
                locks: true,
                allowsRebinding: false
            )
            let expected = CRC64(of: [UInt8](MirrorFixture.ramp(70_000)))
            #expect(try await session.manifest.entry("single")?.crc64 == expected)
            // Made of parts, so its tag is no MD5.
            #expect(try await session.manifest.entry("big")?.crc64 == nil)
            try await session.manifest.checkpointAndClose()
        }

        @Test func `without a checksum of the service a damaged body is seen by the tag`()
            async throws
        {
            let fixture = try MirrorFixture()
            try await fixture.put("single", MirrorFixture.ramp(70_000))
            try withoutChecksums(
                fixture,
                damaging: #"{"operation": "GetObject", "occurrence": 1}"#
            )
            #expect(try await fixture.run("b", .pull).isInStep)
            #expect(fixture.content("b/single") == MirrorFixture.ramp(70_000))
            #expect(fixture.operations.filter { $0 == "GetObject" }.count == 2)
        }

        @Test func `a damaged range of a large body is seen by the tag, too`() async throws {
            let fixture = try MirrorFixture()
            try await fixture.put("single", MirrorFixture.ramp(size))
            try withoutChecksums(
                fixture,
                damaging: #"{"operation": "GetObject", "rangeStart": 3145728, "occurrence": 1}"#
            )
            #expect(try await fixture.run("b", .pull).isInStep)
            #expect(fixture.content("b/single") == MirrorFixture.ramp(size))
            #expect(fixture.operations.filter { $0 == "GetObject" }.count == 12)
            // Once for each time that it was fetched.
            #expect(fixture.operations.filter { $0 == "HeadObject" }.count == 2)
        }

        @Test func `an object made of parts is proven by its tag, where nothing else is known`()
            async throws
        {
            let fixture = try MirrorFixture(dialect: .s3)
            let content = MirrorFixture.ramp(12 << 20)
            try fixture.write("a/big", content)
            try await fixture.run("a", .push)
            let head = #"{"headers": {"remove": ["x-amz-meta-osssync-crc64"]}}"#
            try fixture.setFaults(
                """
                [{"match": {"operation": "GetObject"}, "effect": \(head)},
                 {"match": {"operation": "HeadObject"}, "effect": \(head)}]
                """
            )
            let looks = fixture.operations.filter { $0 == "HeadObject" }.count
            #expect(try await fixture.run("b", .pull).isInStep)
            #expect(fixture.content("b/big") == content)
            #expect(fixture.operations.filter { $0 == "HeadObject" }.count == looks + 1)
            let session = try await MirrorSession.open(
                try fixture.engine("b").settings,
                locks: true,
                allowsRebinding: false
            )
            #expect(try await session.manifest.entry("big")?.crc64 == CRC64(of: [UInt8](content)))
            try await session.manifest.checkpointAndClose()
        }

        /// Leaves a checkpoint that has every byte, as a kill before the verification does.
        private func leaveCheckpoint(_ fixture: MirrorFixture, holding content: Data) async throws {
            let store = try fixture.store(StoreObserver())
            let metadata = try await store.head("mirror/big", versionID: nil)
            let session = try await MirrorSession.open(
                try fixture.engine("b").settings,
                locks: true,
                allowsRebinding: false
            )
            let (name, file) = try session.directory.partials.create(size: Int64(size))
            let bytes = [UInt8](content)
            try file.write(bytes, at: 0)
            let range = RangeProgress(
                index: 0,
                range: ByteRange(offset: 0, length: Int64(size)),
                received: Int64(size),
                checksum: CRC64(of: bytes),
                bootID: session.directory.bootID
            )
            try await session.manifest.record(
                .beginDownload(
                    DownloadCheckpoint(
                        key: "big",
                        size: Int64(size),
                        etag: try #require(metadata.etag),
                        crc64: nil,
                        partialName: name,
                        rangeSize: Int64(size),
                        ranges: [range]
                    )
                )
            )
            try await session.manifest.checkpointAndClose()
        }

        @Test func `a checkpoint that has every byte moves none`() async throws {
            let fixture = try await fixture()
            try await leaveCheckpoint(fixture, holding: MirrorFixture.ramp(size))
            let pull = try await fixture.run("b", .pull)
            #expect(pull.bytes == 0)
            #expect(pull.bytesResumed == Int64(size))
            #expect(fixture.content("b/big") == MirrorFixture.ramp(size))
            #expect(try partials(fixture, "b").isEmpty)
        }

        @Test func `damage that an interrupted run received is found by the next one`() async throws
        {
            let fixture = try await fixture()
            var damaged = MirrorFixture.ramp(size)
            damaged[1_234_567] ^= 1
            try await leaveCheckpoint(fixture, holding: damaged)
            let pull = try await fixture.run("b", .pull)
            #expect(pull.isInStep)
            #expect(pull.bytes == Int64(size))
            #expect(fixture.content("b/big") == MirrorFixture.ramp(size))
        }

        @Test func `a checkpoint of an object replaced since the listing is dropped`() async throws
        {
            let fixture = try await fixture()
            try await leaveCheckpoint(fixture, holding: MirrorFixture.ramp(size))
            let newer = MirrorFixture.ramp(size, 9)
            let other = try fixture.store(StoreObserver())
            let engine = try fixture.engine("b") { store in
                HookedStore(store) { call throws(StorageError) in
                    guard call.operation == "HeadObject", call.moment == .before, call.number == 1
                    else { return }
                    let request = PutRequest(key: "mirror/big")
                    _ = try await other.put(request, body: .bytes([UInt8](newer))) { _ in }
                }
            }
            let pull = try await engine.run(.pull, options: MirrorFixture.options()) { _ in }
            #expect(pull.isInStep)
            #expect(fixture.content("b/big") == newer)
            #expect(try await fixture.run("b", .pull).requests == 1)
        }

        @Test func `downloads that are refused leave no files behind`() async throws {
            let fixture = try await fixture()
            for index in 0..<8 { try fixture.write("a/f\(index)", Data([UInt8(index)])) }
            try await fixture.run("a", .push)
            try fixture.setFaults(
                #"""
                [{"match": {"operation": "GetObject"},
                  "effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]
                """#
            )
            let pull = try await fixture.run("b", .pull)
            #expect(pull.failed == 9)
            #expect(try partials(fixture, "b").isEmpty)
            try fixture.setFaults("[]")
            #expect(try await fixture.run("b", .pull).transferred == 9)
        }

        @Test func `what a failing disk was given is fetched again`() async throws {
            let fixture = try await fixture()
            let faults = SystemCallFaults(.fail(errno: EIO), at: 1, of: ["syncfs"])
            let engine = try fixture.engine(
                "b",
                calls: SystemCalls(usesOpenat2: true, faults: faults)
            )
            let full = MirrorFixture.options()
            let pull = try await engine.run(.pull, options: full) { _ in }
            #expect(faults.firedCall == "syncfs")
            #expect(pull.failed == 1)
            #expect(fixture.content("b/big") == nil)
            #expect(try partials(fixture, "b").isEmpty)
            let again = try await fixture.run("b", .pull)
            #expect(again.bytes == Int64(size))
            #expect(again.isInStep)
            #expect(fixture.content("b/big") == MirrorFixture.ramp(size))
        }

        @Test func `after a failing disk each file is asked for what it lost`() async throws {
            let fixture = try MirrorFixture()
            for index in 0..<4 { try fixture.write("a/f\(index)", MirrorFixture.ramp(100)) }
            try await fixture.run("a", .push)
            var counts: [Int] = []
            for failing in [0, 1] {
                let faults = SystemCallFaults([
                    .init(.fail(errno: EIO), at: 0, of: ["fsync"]),
                    .init(.fail(errno: EIO), at: failing, of: ["syncfs"]),
                ])
                var engine = try fixture.engine(
                    "b\(failing)",
                    calls: SystemCalls(usesOpenat2: true, faults: faults)
                )
                engine.settings.limits.publicationGroup = 1
                let full = MirrorFixture.options()
                let pull = try await engine.run(.pull, options: full) { _ in }
                #expect(pull.failed == failing)
                counts.append(faults.count)
            }
            #expect(counts[1] == counts[0] + 3)
        }

        @Test func `a partial file that was replaced by a directory ends nothing`() async throws {
            let fixture = try await fixture()
            try await leaveCheckpoint(fixture, holding: MirrorFixture.ramp(size))
            let name = try #require(try partials(fixture, "b").first)
            try fixture.remove("b/.osssync/partial/" + name)
            try fixture.write("b/.osssync/partial/\(name)/x", Data([1]))
            let pull = try await fixture.run("b", .pull)
            #expect(pull.isInStep)
            #expect(fixture.content("b/big") == MirrorFixture.ramp(size))
        }

        @Test(arguments: [
            #"{"truncate": 700000}"#, #"{"cut": {"at": 700000, "how": "rst"}}"#,
            #"{"cut": {"at": 700000, "how": "fin"}}"#, #"{"flip": 700000}"#,
            #"{"ignoreRange": true}"#, #"{"headers": {"set": {"ETag": "\"0\""}}}"#,
        ])
        func `a response that went wrong once does no harm`(effect: String) async throws {
            let fixture = try await fixture()
            try fixture.setFaults(
                """
                [{"match": {"operation": "GetObject", "rangeStart": 1048576, "first": 1},
                  "effect": \(effect)}]
                """
            )
            let pull = try await fixture.run("b", .pull)
            #expect(pull.isInStep)
            #expect(fixture.content("b/big") == MirrorFixture.ramp(size))
            #expect(try await fixture.run("b", .pull).requests == 1)
        }

        @Test func `content that is always damaged is never published`() async throws {
            let fixture = try await fixture()
            try fixture.setFaults(
                #"[{"match": {"operation": "GetObject"}, "effect": {"flip": 5000}}]"#
            )
            let log = EventLog()
            let pull = try await fixture.run("b", .pull, log)
            #expect(pull.failed == 1)
            #expect(!pull.isInStep)
            #expect(fixture.content("b/big") == nil)
            #expect(try partials(fixture, "b").isEmpty)
            #expect(
                log.items.contains {
                    $0.message?.contains("damaged twice (wrong checksum)") == true
                }
            )
        }
    }
}
