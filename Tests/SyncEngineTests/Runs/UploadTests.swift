import Foundation
import ManifestStore
import ObjectStorage
import StorageServer
import SyncModel
import Synchronization
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    @Suite("Uploads of a run")
    struct UploadTests {
        private let size = 5 << 20

        private func content(_ fixture: MirrorFixture, _ key: ObjectKey) async throws -> Data {
            let store = try fixture.store(StoreObserver())
            let (_, bytes) = try await store.read(GetRequest(key: key), limit: 64 << 20)
            return Data(bytes)
        }

        private func openUploads(_ fixture: MirrorFixture) async throws -> Int {
            let store = try fixture.store(StoreObserver())
            let page = try await store.listMultipartUploads(ListUploadsRequest(prefix: "mirror/"))
            return page.entries.count
        }

        private func parts(_ fixture: MirrorFixture) -> Int {
            fixture.server.requestLog.count { $0.operation == "UploadPart" }
        }

        @Test(arguments: [
            #"{"close": {"when": "before", "how": "rst"}}"#,
            #"{"close": {"when": "after", "how": "rst"}}"#,
            #"{"fail": {"status": 500, "code": "InternalError"}}"#,
            #"{"fail": {"status": 500, "code": "InternalError", "when": "after"}}"#,
            #"{"fail": {"status": 400, "code": "InvalidPart"}}"#,
        ])
        func `a complete that went wrong sends no part again`(effect: String) async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/big", MirrorFixture.ramp(size))
            try fixture.setFaults(
                """
                [{"match": {"operation": "CompleteMultipartUpload", "first": 1},
                  "effect": \(effect)}]
                """
            )
            let push = try await fixture.run("a", .push)
            #expect(push.isInStep)
            #expect(parts(fixture) == 5)
            #expect(try await openUploads(fixture) == 0)
            #expect(try await content(fixture, "mirror/big") == MirrorFixture.ramp(size))
            #expect(try await fixture.run("a", .push).requests == 1)
        }

        @Test func `a complete that never works keeps its parts for the next run`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/big", MirrorFixture.ramp(size))
            try fixture.setFaults(
                #"""
                [{"match": {"operation": "CompleteMultipartUpload"},
                  "effect": {"fail": {"status": 500, "code": "InternalError"}}}]
                """#
            )
            let push = try await fixture.run("a", .push)
            #expect(push.failed == 1)
            #expect(parts(fixture) == 5)
            #expect(try await openUploads(fixture) == 1)
            try fixture.setFaults("[]")
            #expect(try await fixture.run("a", .push).isInStep)
            #expect(parts(fixture) == 5)
            #expect(try await openUploads(fixture) == 0)
        }

        @Test(arguments: ["before", "after"])
        func `an initiation whose answer was lost leaves no upload`(moment: String) async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/big", MirrorFixture.ramp(size))
            try fixture.setFaults(
                """
                [{"match": {"operation": "InitiateMultipartUpload", "first": 2},
                  "effect": {"close": {"when": "\(moment)", "how": "rst"}}}]
                """
            )
            let push = try await fixture.run("a", .push)
            #expect(push.isInStep)
            #expect(try await openUploads(fixture) == 0)
            #expect(parts(fixture) == 5)
        }

        @Test func `an initiation that a kill cut off leaves no upload`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/big", MirrorFixture.ramp(size))
            let engine = try fixture.engine("a") { store in
                HookedStore(store) { call throws(StorageError) in
                    guard call.operation == "InitiateMultipartUpload", call.moment == .after
                    else { return }
                    throw StorageError(kind: .cancelled, operation: call.operation)
                }
            }
            await #expect(throws: TransferError.self) {
                try await engine.run(.push, options: MirrorFixture.options()) { _ in }
            }
            #expect(try await openUploads(fixture) == 1)
            #expect(try await fixture.run("a", .push).isInStep)
            #expect(try await openUploads(fixture) == 0)
        }

        /// Interrupts an upload after two parts, and says which.
        ///
        /// They need not be the first ones: parts wait side by side for the one connection.
        @discardableResult
        private func interrupt(_ fixture: MirrorFixture) async throws -> [PartNumber] {
            let sent = Mutex<[PartNumber]>([])
            let engine = try fixture.engine("a") { store in
                HookedStore(store) { call throws(StorageError) in
                    guard let part = call.part else { return }
                    if call.moment == .after { sent.withLock { $0.append(part) } }
                    guard call.moment == .before, call.number > 2 else { return }
                    throw StorageError(
                        kind: .service(status: 500, code: "InternalError"),
                        operation: call.operation
                    )
                }
            }
            let options = MirrorFixture.options { $0.connectionLimit = 1 }
            _ = try await engine.run(.push, options: options) { _ in }
            #expect(try await openUploads(fixture) == 1)
            let parts = sent.withLock { $0 }
            #expect(parts.count == 2)
            return parts
        }

        @Test func `an upload goes on when the bucket has another endpoint`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/big", MirrorFixture.ramp(size))
            try await interrupt(fixture)
            var engine = try fixture.engine("a")
            engine.settings.identity = RemoteIdentity(
                dialect: "oss",
                endpointHost: "internal.test",
                bucket: MirrorFixture.bucket,
                prefix: "mirror/"
            )
            let options = MirrorFixture.options { $0.allowsRebinding = true }
            let push = try await engine.run(.push, options: options) { _ in }
            #expect(push.bytesResumed == 2 << 20)
            #expect(try await openUploads(fixture) == 0)
        }

        @Test func `an interrupted upload goes on with the parts it has`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/big", MirrorFixture.ramp(size))
            try await interrupt(fixture)
            let push = try await fixture.run("a", .push)
            #expect(push.bytesResumed == 2 << 20)
            #expect(parts(fixture) == 5)
            #expect(try await content(fixture, "mirror/big") == MirrorFixture.ramp(size))
        }

        @Test func `parts of a file that was changed behind its mtime are sent again`() async throws
        {
            let fixture = try MirrorFixture()
            try fixture.write("a/big", MirrorFixture.ramp(size))
            let path = fixture.directory("a/big")
            let modified = try #require(
                try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
            )
            // A time without a fraction can be given back exactly.
            let whole = Date(timeIntervalSince1970: modified.timeIntervalSince1970.rounded(.down))
            try FileManager.default.setAttributes([.modificationDate: whole], ofItemAtPath: path)
            let sent = try await interrupt(fixture)
            let file = try #require(FileHandle(forUpdatingAtPath: path))
            let part = try #require(sent.first)
            try file.seek(toOffset: UInt64(part.value - 1) << 20 + 100)
            try file.write(contentsOf: Data([77, 77, 77]))
            try file.close()
            try FileManager.default.setAttributes([.modificationDate: whole], ofItemAtPath: path)
            let push = try await fixture.run("a", .push)
            #expect(push.isInStep)
            #expect(push.bytesResumed == 1 << 20)
            #expect(try await content(fixture, "mirror/big") == fixture.content("a/big"))
            #expect(try await openUploads(fixture) == 0)
        }

        @Test func `another file or part size begins anew and leaves no upload`() async throws {
            for isResized in [true, false] {
                let fixture = try MirrorFixture()
                try fixture.write("a/big", MirrorFixture.ramp(size))
                try await interrupt(fixture)
                if isResized { try fixture.write("a/big", MirrorFixture.ramp(size + 7, 3)) }
                let push = try await fixture.run("a", .push) { options in
                    if !isResized { options.partSize = 2 << 20 }
                }
                #expect(push.isInStep)
                #expect(push.bytesResumed == 0)
                #expect(try await content(fixture, "mirror/big") == fixture.content("a/big"))
                #expect(try await openUploads(fixture) == 0)
            }
        }

        @Test func `an upload whose file is gone is aborted`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/big", MirrorFixture.ramp(size))
            try fixture.write("a/other", Data([1]))
            try await interrupt(fixture)
            try fixture.remove("a/big")
            #expect(try await fixture.run("a", .push).isInStep)
            #expect(try await openUploads(fixture) == 0)
        }

        @Test func `an upload of what another writer sent meanwhile is aborted`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/big", MirrorFixture.ramp(size))
            try await interrupt(fixture)
            try await fixture.put("big", MirrorFixture.ramp(size))
            // A pull adopts it, and leaves the bucket as it is.
            #expect(try await fixture.run("a", .pull).adopted == 1)
            #expect(try await openUploads(fixture) == 1)
            #expect(try await fixture.run("a", .push).isInStep)
            #expect(try await openUploads(fixture) == 0)
        }

        @Test func `an upload that may not be aborted fails no run`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/big", MirrorFixture.ramp(size))
            try await interrupt(fixture)
            try fixture.setFaults(
                #"""
                [{"match": {"operation": "AbortMultipartUpload"},
                  "effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]
                """#
            )
            try fixture.remove("a/big")
            try fixture.write("a/other", Data([1]))
            let log = EventLog()
            #expect(try await fixture.run("a", .push, log).isInStep)
            #expect(log.warnings.count == 1)
            try fixture.write("a/big", MirrorFixture.ramp(size, 5))
            #expect(try await fixture.run("a", .push, log).isInStep)
            #expect(log.warnings.count == 2)
            #expect(try await content(fixture, "mirror/big") == MirrorFixture.ramp(size, 5))
        }

        @Test func `a marker takes the place of nobody's object`() async throws {
            let fixture = try MirrorFixture()
            try fixture.makeDirectory("a/full")
            try fixture.makeDirectory("a/empty")
            let log = EventLog()
            let engine = try fixture.engine("a") { store in
                HookedStore(store) { call throws(StorageError) in
                    guard call.operation == "PutObject", call.number == 1, call.moment == .before
                    else { return }
                    try? await fixture.put("full/", Data("of another writer".utf8))
                    try? await fixture.put("empty/", Data())
                }
            }
            let options = MirrorFixture.options { $0.connectionLimit = 1 }
            let push = try await engine.run(.push, options: options, onEvent: log.add)
            #expect(push.transferred == 1)
            #expect(push.conflicts == 1)
            #expect(log.skipped("full/")?.contains("another writer") == true)
            #expect(try await fixture.object("full/") == Data("of another writer".utf8))
        }

        @Test(arguments: [900_000, 5 << 20])
        func `a file that changes while it is sent is never committed`(size: Int) async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/big", MirrorFixture.ramp(size))
            let path = fixture.directory("a/big")
            let isSmall = size < 1 << 20
            let engine = try fixture.engine("a") { store in
                HookedStore(store) { call throws(StorageError) in
                    guard call.operation == (isSmall ? "PutObject" : "UploadPart"),
                        call.moment == (isSmall ? .before : .after)
                    else { return }
                    let file = FileHandle(forUpdatingAtPath: path)
                    try? file?.write(contentsOf: Data([UInt8(call.number & 0xFF)]))
                    try? file?.close()
                }
            }
            let push = try await engine.run(.push, options: MirrorFixture.options()) { _ in }
            #expect(push.transferred == 0)
            #expect(push.skipped == 1)
            #expect(!push.isInStep)
            #expect(!fixture.operations.contains("CompleteMultipartUpload"))
            #expect(try await openUploads(fixture) == 0)
            #expect(try await fixture.run("a", .push).isInStep)
            #expect(try await content(fixture, "mirror/big") == fixture.content("a/big"))
        }

        /// Nothing is copied by one request.
        private static var smallCopies: StorageDialect {
            var dialect = StorageDialect.oss
            dialect.maximumCopySize = 1
            return dialect
        }

        /// Copies `f` of the mirror `a` to `g`.
        private func copy(_ fixture: MirrorFixture) async throws -> ETag? {
            let engine = try fixture.engine("a")
            let session = try await MirrorSession.open(
                engine.settings,
                locks: true,
                allowsRebinding: false
            )
            let setup = try RunSetup(engine.settings, session, .push, MirrorFixture.options())
            let executor = ItemExecutor(ItemParts(setup))
            let row = try #require(try await session.manifest.entry("f"))
            let copier = RemoteCopier(context: executor.context)
            let source = try #require(try await executor.identity(of: "f"))
            let copy = try? await copier.copy(row, of: source, mode: nil, to: "g")
            try await session.manifest.checkpointAndClose()
            return copy?.etag
        }

        /// A store of S3 says 412 of its own copy.
        @Test func `a copy whose answer was lost is recognised at a store of S3`() async throws {
            let fixture = try MirrorFixture(dialect: .s3)
            try fixture.write("a/f", MirrorFixture.ramp(300_000))
            try await fixture.run("a", .push)
            try fixture.rename("a/f", to: "a/g")
            try fixture.setFaults(
                #"""
                [{"match": {"operation": "CopyObject", "first": 1},
                  "effect": {"close": {"when": "after", "how": "rst"}}}]
                """#
            )
            let summary = try await fixture.run("a", .push) { $0.deletesKnown = true }
            #expect(summary.renamed == 1 && summary.isInStep, "\(summary)")
            #expect(try await fixture.objects() == ["g"])
        }

        @Test(arguments: [true, false])
        func `a copy whose answer was lost is recognised by its content`(inParts: Bool) async throws
        {
            let fixture = try MirrorFixture(dialect: inParts ? Self.smallCopies : .oss)
            try fixture.write("a/f", MirrorFixture.ramp(300_000))
            try await fixture.run("a", .push)
            try fixture.setFaults(
                """
                [{"match": {"operation": "\(inParts ? "CompleteMultipartUpload" : "CopyObject")",
                            "first": 1},
                  "effect": {"close": {"when": "after", "how": "rst"}}}]
                """
            )
            #expect(try await copy(fixture) != nil)
            #expect(try await content(fixture, "mirror/g") == MirrorFixture.ramp(300_000))
            #expect(try await openUploads(fixture) == 0)
            // What is made of parts has a token only where an upload of this very key gave it one.
            guard inParts else { return }
            let made = try await fixture.store(StoreObserver()).head("mirror/g", versionID: nil)
            #expect(made.userMetadata[StorageDialect.tokenMetadataName] == nil)
            #expect(made.userMetadata[ModificationTime.metadataName] != nil)
        }

        @Test func `a copy in parts leaves no earlier upload of its key`() async throws {
            let fixture = try MirrorFixture(dialect: Self.smallCopies)
            try fixture.write("a/f", MirrorFixture.ramp(300_000))
            try await fixture.run("a", .push)
            try fixture.write("a/g", MirrorFixture.ramp(size))
            try await interrupt(fixture)
            try fixture.remove("a/g")
            #expect(try await copy(fixture) != nil)
            #expect(try await openUploads(fixture) == 0)
        }

        @Test func `a copy in parts that fails leaves no upload after the next run`() async throws {
            let fixture = try MirrorFixture(dialect: Self.smallCopies)
            try fixture.write("a/f", MirrorFixture.ramp(300_000))
            try await fixture.run("a", .push)
            try fixture.setFaults(
                #"""
                [{"match": {"operation": "UploadPartCopy"},
                  "effect": {"fail": {"status": 400, "code": "InvalidArgument"}}},
                 {"match": {"operation": "AbortMultipartUpload"},
                  "effect": {"fail": {"status": 400, "code": "InvalidArgument"}}}]
                """#
            )
            #expect(try await copy(fixture) == nil)
            #expect(try await openUploads(fixture) == 1)
            try fixture.setFaults("[]")
            #expect(try await fixture.run("a", .push).isInStep)
            #expect(try await openUploads(fixture) == 0)
        }
    }
}
