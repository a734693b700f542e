import Foundation
import LocalStorage
import ManifestStore
import ObjectStorage
import SyncModel
import Synchronization
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    /// What looks right and is not: each of these was once taken for the truth by some program.
    @Suite("What a run does not believe")
    struct UntrustedStateTests {
        private let size = 6 << 20

        private func ramp(_ count: Int, _ seed: Int = 0) -> Data { MirrorFixture.ramp(count, seed) }

        /// A checkpoint of an earlier boot that has every byte, of which the disk kept `stored`.
        private func leaveCheckpoint(
            _ fixture: MirrorFixture,
            of content: Data,
            stored: Data
        ) async throws {
            let metadata = try await fixture.store(StoreObserver())
                .head("mirror/big", versionID: nil)
            let session = try await MirrorSession.open(
                try fixture.engine("b").settings,
                locks: true,
                allowsRebinding: false
            )
            let (name, file) = try session.directory.partials.create(size: Int64(content.count))
            try file.write([UInt8](stored), at: 0)
            let half = content.count / 2
            let ranges = [content.prefix(half), content.suffix(half)].enumerated().map {
                RangeProgress(
                    index: $0,
                    range: ByteRange(offset: Int64($0 * half), length: Int64(half)),
                    received: Int64(half),
                    checksum: CRC64(of: [UInt8]($1)),
                    bootID: "00000000-0000-4000-8000-000000000000"
                )
            }
            try await session.manifest.record(
                .beginDownload(
                    DownloadCheckpoint(
                        key: "big",
                        size: Int64(content.count),
                        etag: try #require(metadata.etag),
                        crc64: nil,
                        partialName: name,
                        rangeSize: Int64(half),
                        ranges: ranges
                    )
                )
            )
            try await session.manifest.checkpointAndClose()
        }

        @Test func `what a power cut took from a partial file is fetched again`() async throws {
            let fixture = try MirrorFixture()
            let content = ramp(size)
            try await fixture.put("big", content)
            var stored = content
            stored.replaceSubrange((size - 8192)..., with: Data(count: 8192))
            try await leaveCheckpoint(fixture, of: content, stored: stored)
            let pull = try await fixture.run("b", .pull)
            #expect(pull.isInStep)
            #expect(fixture.content("b/big") == content)
            #expect(pull.bytes == Int64(size / 2))
        }

        @Test func `a file that did not get its name is not recorded`() async throws {
            let fixture = try MirrorFixture()
            try await fixture.put("f", ramp(100))
            try await fixture.run("b", .pull)
            try await fixture.put("f", ramp(200, 1))
            let faults = SystemCallFaults(.fail(errno: EACCES), at: 1, of: ["renameat2"])
            let calls = SystemCalls(usesOpenat2: true, faults: faults)
            let pull = try await fixture.engine("b", calls: calls)
                .run(.pull, options: MirrorFixture.options()) { _ in }
            #expect(faults.firedCall == "renameat2")
            #expect(pull.failed == 1)
            #expect(fixture.content("b/f") == ramp(100))
            #expect(try await fixture.run("b", .pull).isInStep)
            #expect(fixture.content("b/f") == ramp(200, 1))
        }

        @Test func `no version is asked for but the one that was seen`() async throws {
            let fixture = try MirrorFixture()
            try await fixture.put("big", ramp(size))
            let newer = ramp(size, 9)
            let conditions = Mutex<[ETag?]>([])
            let engine = try fixture.engine("b") { store in
                HookedStore(store) { call throws(StorageError) in
                    guard call.operation == "GetObject", call.moment == .before else { return }
                    conditions.withLock { $0.append(call.ifMatch) }
                    guard call.number == 2 else { return }
                    let request = PutRequest(key: "mirror/big")
                    _ = try await store.put(request, body: .bytes([UInt8](newer))) { _ in }
                }
            }
            let pull = try await engine.run(.pull, options: MirrorFixture.options()) { _ in }
            #expect(pull.isInStep)
            #expect(fixture.content("b/big") == newer)
            let asked = conditions.withLock { $0 }
            #expect(Set(asked).count == 2)
            #expect(!asked.contains(nil))
        }

        /// Parts of 2 MiB make the third one as long as the third of parts of 1 MiB is.
        @Test func `a part that was cut otherwise is not taken, even of equal size`() async throws {
            let fixture = try MirrorFixture()
            let content = ramp(5 << 20)
            try fixture.write("a/big", content)
            // A file of this second would be in doubt, and its parts be read for that reason.
            try fixture.setModified("a/big", Date(timeIntervalSince1970: 1_000_000_000))
            try fixture.setFaults(
                #"""
                [{"match": {"operation": "CompleteMultipartUpload"},
                  "effect": {"fail": {"status": 500, "code": "InternalError"}}}]
                """#
            )
            let first = try await fixture.run("a", .push) { $0.partSize = 2 << 20 }
            #expect(first.failed == 1)
            try fixture.setFaults("[]")
            let second = try await fixture.run("a", .push) { $0.partSize = 1 << 20 }
            #expect(second.isInStep)
            #expect(second.bytesResumed == 0)
            #expect(try await fixture.object("big") == content)
        }

        /// OSS has a checksum of what it took; of S3 only the token tells whose object it is.
        @Test(arguments: [StorageDialect.oss, .s3])
        func `another's object is not taken for the one whose answer was lost`(
            dialect: StorageDialect
        ) async throws {
            let fixture = try MirrorFixture(dialect: dialect)
            try fixture.write("a/f", ramp(1_000))
            let engine = try fixture.engine("a") { store in
                HookedStore(store) { call throws(StorageError) in
                    guard call.operation == "PutObject", call.moment == .before else { return }
                    let request = PutRequest(key: "mirror/f")
                    let body = RequestBody.bytes([UInt8](ramp(1_000, 7)))
                    _ = try await store.put(request, body: body) { _ in }
                    throw StorageError(
                        kind: .transport(.connectionLost),
                        operation: call.operation
                    )
                }
            }
            let push = try await engine.run(.push, options: MirrorFixture.options()) { _ in }
            #expect(push.transferred == 0)
            #expect(!push.isInStep)
            #expect(try await fixture.object("f") == ramp(1_000, 7))
            #expect(try await fixture.run("a", .push).conflicts == 1)
        }

        @Test func `a damaged setting lets the same run rebuild the manifest`() async throws {
            let fixture = try MirrorFixture()
            try await fixture.put("f", ramp(10))
            try await fixture.run("b", .pull)
            let manifest = try await ManifestStore.open(
                directory: fixture.directory("b") + "/.osssync",
                now: MirrorFixture.now(),
                usesWriteAheadLog: true,
                threads: .system,
                smallestSearchable: 0
            ).store
            let marker = try #require(try await manifest.setting("directory.marker"))
            try await manifest.checkpointAndClose()
            var bytes = try #require(fixture.content("b/.osssync/manifest.db"))
            let place = try #require(bytes.range(of: Data(marker.utf8)))
            bytes[place.lowerBound] ^= 1
            try fixture.write("b/.osssync/manifest.db", bytes)
            let log = EventLog()
            let pull = try await fixture.run("b", .pull, log)
            #expect(pull.isInStep)
            #expect(pull.adopted == 1)
            #expect(log.warnings.contains { $0.contains("set aside") })
        }

        @Test(arguments: [
            RemoteIdentity(
                dialect: "s3",
                endpointHost: "127.0.0.1",
                bucket: MirrorFixture.bucket,
                prefix: "mirror/"
            ),
            RemoteIdentity(
                dialect: "oss",
                endpointHost: "localhost",
                bucket: MirrorFixture.bucket,
                prefix: "mirror/"
            ),
            RemoteIdentity(
                dialect: "oss",
                endpointHost: "127.0.0.1",
                bucket: "other",
                prefix: "mirror/"
            ),
            RemoteIdentity(
                dialect: "oss",
                endpointHost: "127.0.0.1",
                bucket: MirrorFixture.bucket,
                prefix: "other/"
            ),
        ])
        func `another remote is not taken for the recorded one`(
            identity: RemoteIdentity
        ) async throws {
            let fixture = try MirrorFixture()
            for index in 0..<4 { try await fixture.put("f\(index)", ramp(100, index)) }
            try await fixture.run("b", .pull)
            try await fixture.deleteObject("f0")
            var engine = try fixture.engine("b")
            engine.settings.identity = identity
            let options = MirrorFixture.options { $0.deletesKnown = true }
            let error = await #expect(throws: TransferError.self) {
                try await engine.run(.pull, options: options) { _ in }
            }
            #expect(error?.code == .refused)
            #expect(error?.message.contains("--rebind") == true)
            #expect(try fixture.tree("b").count == 4)
        }
    }
}
