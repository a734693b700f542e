import Foundation
import ManifestStore
import ObjectStorage
import StorageServer
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    /// Objects that another writer made of parts of a size that no tool has.
    @Suite("Proofs by parts")
    struct PartProofTests {
        private static let partSize = 6_000_000
        private let content = MirrorFixture.ramp(3 * PartProofTests.partSize - 77)

        private var parts: [[UInt8]] {
            stride(from: 0, to: content.count, by: Self.partSize).map { start in
                [UInt8](content[start..<min(start + Self.partSize, content.count)])
            }
        }

        private func fixture() async throws -> MirrorFixture {
            let fixture = try MirrorFixture(dialect: .s3)
            let store = try fixture.store(StoreObserver())
            let upload = try await store.initiateMultipartUpload(PutRequest(key: "mirror/big"))
            var sent: [UploadedPart] = []
            for (index, part) in parts.enumerated() {
                sent.append(
                    try await store.uploadPart(
                        "mirror/big",
                        upload,
                        PartNumber(index: index),
                        body: .bytes(part),
                        onProgress: { _ in }
                    )
                )
            }
            _ = try await store.completeMultipartUpload(
                CompleteRequest(key: "mirror/big", upload: upload, parts: sent)
            )
            return fixture
        }

        /// Of the checksums of the parts, as the header has it.
        private func composite() -> String {
            var whole = PieceDigest(.crc32c)
            for part in parts {
                var checksum = PieceDigest(.crc32c)
                unsafe checksum.update(part.span.bytes)
                let value = checksum.finish()
                unsafe whole.update(value.span.bytes)
            }
            return Data(whole.finish()).base64EncodedString() + "-\(parts.count)"
        }

        /// The store encrypts objects, so that their tags are no MD5s, and has their checksums.
        private func setChecksum(
            _ text: String,
            _ fixture: MirrorFixture,
            damaging occurrence: Int = 0
        ) throws {
            let damage = #"""
                , {"match": {"operation": "GetObject", "occurrence": \#(occurrence)},
                  "effect": {"flip": 100}}
                """#
            try fixture.setFaults(
                #"""
                [{"match": {"operation": "HeadObject"}, "effect": {"headers": {"set": {
                  "x-amz-server-side-encryption": "aws:kms", "x-amz-checksum-type": "COMPOSITE",
                  "x-amz-checksum-crc32c": "\#(text)"}}}},
                 {"match": {"operation": "GetObject"}, "effect": {"headers": {"set": {
                  "x-amz-server-side-encryption": "aws:kms"}}}}\#(occurrence == 0 ? "" : damage)]
                """#
            )
        }

        /// What the manifest vouches for.
        private func recorded(_ fixture: MirrorFixture) async throws -> CRC64? {
            let session = try await MirrorSession.open(
                try fixture.engine("b").settings,
                locks: true,
                allowsRebinding: false
            )
            let row = try await session.manifest.entry("big")
            try await session.manifest.checkpointAndClose()
            return row?.crc64
        }

        private func received(_ fixture: MirrorFixture) -> Int64 {
            fixture.server.requestLog.filter { $0.operation == "GetObject" }
                .reduce(0) { $0 + $1.bytesSent }
        }

        @Test func `the tag proves them, because the store tells the size`() async throws {
            let fixture = try await fixture()
            #expect(try await fixture.run("b", .pull).isInStep)
            #expect(fixture.content("b/big") == content)
            #expect(try await recorded(fixture) == CRC64(of: [UInt8](content)))
            #expect(fixture.operations.filter { $0 == "HeadObject" }.count == 2)
        }

        @Test func `the checksum of their checksums proves them`() async throws {
            let fixture = try await fixture()
            try setChecksum(composite(), fixture)
            #expect(try await fixture.run("b", .pull).isInStep)
            #expect(try await recorded(fixture) == CRC64(of: [UInt8](content)))
            #expect(fixture.operations.filter { $0 == "HeadObject" }.count == 2)
            #expect(received(fixture) == Int64(content.count))
        }

        @Test func `where it disagrees, the object is fetched once more`() async throws {
            let fixture = try await fixture()
            try setChecksum("AAAAAA==-3", fixture)
            #expect(try await fixture.run("b", .pull).isInStep)
            // The same twice: then the checksum is what is wrong, and nothing is vouched for.
            #expect(fixture.content("b/big") == content)
            #expect(try await recorded(fixture) == nil)
            #expect(received(fixture) == Int64(2 * content.count))
        }

        @Test func `damage on the way is found by it`() async throws {
            let fixture = try await fixture()
            try setChecksum(composite(), fixture, damaging: 2)
            #expect(try await fixture.run("b", .pull).isInStep)
            #expect(fixture.content("b/big") == content)
            #expect(try await recorded(fixture) == CRC64(of: [UInt8](content)))
        }
    }
}
