import Foundation
import ObjectStorage
import StorageServer
import SyncModel
import Synchronization
import Testing

@testable import SyncEngine

extension EngineRuns {
    @Suite("Checksums of parts")
    struct PartChecksumTests {
        private let content = MirrorFixture.ramp(16 << 20)

        /// The CRC-32C of the whole that the store made of those of its parts.
        private func checksum(_ fixture: MirrorFixture) async throws -> String? {
            let store = try fixture.store(StoreObserver())
            return try await store.head("mirror/big", versionID: nil).checksums["crc32c"]
        }

        private func ofContent() -> String {
            var checksum = CRC32(.castagnoli)
            unsafe content.withUnsafeBytes { unsafe checksum.update($0) }
            let value = checksum.value
            return Data([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) })
                .base64EncodedString()
        }

        private func options(_ options: inout RunOptions) {
            options.partSize = 5 << 20
            options.connectionLimit = 1
        }

        private func fixture() throws -> MirrorFixture {
            let fixture = try MirrorFixture(dialect: .s3)
            try fixture.write("a/big", content)
            // An upload of a file that was written in its moment would start over.
            try fixture.setModified("a/big", Date(timeIntervalSince1970: 1_700_000_000))
            return fixture
        }

        /// The statuses of the answers to parts, in the order of their requests.
        private func parts(_ fixture: MirrorFixture) -> [Int] {
            fixture.server.requestLog.filter { $0.operation == "UploadPart" }.map(\.status)
        }

        @Test func `an interrupted upload goes on with them`() async throws {
            let fixture = try fixture()
            let engine = try fixture.engine("a") { store in
                HookedStore(store) { call throws(StorageError) in
                    guard call.part != nil, call.moment == .before, call.number > 2 else { return }
                    throw StorageError(
                        kind: .service(status: 500, code: "InternalError"),
                        operation: call.operation
                    )
                }
            }
            let interrupted = try await engine.run(
                .push,
                options: MirrorFixture.options(options)
            ) { _ in }
            #expect(interrupted.failed == 1)
            // A wrong checksum is tried once in each run.
            #expect(parts(fixture).sorted() == [200, 200, 400])
            #expect(try await fixture.run("a", .push, EventLog(), options).isInStep)
            #expect(parts(fixture).sorted() == [200, 200, 200, 200, 400, 400])
            #expect(try await fixture.object("big") == content)
            #expect(try await checksum(fixture) == ofContent())
        }

        @Test func `an upload that began without them goes on without`() async throws {
            let fixture = try fixture()
            try fixture.setFaults(
                #"""
                [{"match": {"operation": "InitiateMultipartUpload"},
                  "effect": {"checksums": "ignored"}},
                 {"match": {"operation": "UploadPart", "part": 2},
                  "effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]
                """#
            )
            #expect(try await fixture.run("a", .push, EventLog(), options).failed == 1)
            try fixture.setFaults("[]")
            #expect(try await fixture.run("a", .push, EventLog(), options).isInStep)
            #expect(!parts(fixture).contains(400))
            #expect(try await fixture.object("big") == content)
            #expect(try await checksum(fixture) == nil)
        }

        @Test(arguments: ["believed", "ignored"])
        func `a store that does not compare them is asked for MD5`(fault: String) async throws {
            let fixture = try fixture()
            let wrong = #"{"headers": {"set": {"ETag": "\"00000000000000000000000000000000\""}}}"#
            try fixture.setFaults(
                #"""
                [{"effect": {"checksums": "\#(fault)"}},
                 {"match": {"operation": "UploadPart", "part": 2}, "effect": \#(wrong)}]
                """#
            )
            let log = EventLog()
            #expect(try await fixture.run("a", .push, log, options).failed == 1)
            try fixture.setFaults(#"[{"effect": {"checksums": "\#(fault)"}}]"#)
            #expect(try await fixture.run("a", .push, log, options).isInStep)
            #expect(try await fixture.object("big") == content)
            #expect(!parts(fixture).contains(400))
        }

        @Test func `a listed part with another checksum makes no object`() async throws {
            let fixture = try MirrorFixture(dialect: .s3)
            let store = try fixture.store(StoreObserver())
            var request = PutRequest(key: "k")
            request.asksForPartChecksums = true
            let upload = try await store.initiateMultipartUpload(request)
            var part = try await store.uploadPart(
                "k",
                upload,
                PartNumber(index: 0),
                body: .bytes([1, 2, 3]),
                onProgress: { _ in }
            )
            let right = try #require(part.crc32c)
            part.crc32c = ~right
            let wrong = CompleteRequest(key: "k", upload: upload, parts: [part])
            let error = await #expect(throws: StorageError.self) {
                try await store.completeMultipartUpload(wrong)
            }
            #expect(error?.serviceCode == "InvalidPart")
            let listed = try await store.listParts("k", upload, after: nil)
            #expect(listed.parts.map(\.crc32c) == [right])
            #expect(listed.hasChecksums)
            _ = try await store.completeMultipartUpload(
                CompleteRequest(key: "k", upload: upload, parts: listed.parts)
            )
        }
    }
}
