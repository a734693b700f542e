import Foundation
import ObjectStorage
import SyncModel
import Synchronization
import Testing

@testable import SyncEngine

extension EngineRuns {
    /// What renames, the trash, restorations and changed permissions copy within the bucket.
    @Suite("Copies within the bucket")
    struct BucketCopyTests {
        private static let content = MirrorFixture.ramp(300_000)

        private static func dialect(_ dialect: StorageDialect) -> StorageDialect {
            var dialect = dialect
            dialect.maximumCopySize = 100_000
            return dialect
        }

        private static func options(_ change: (inout RunOptions) -> Void = { _ in }) -> RunOptions {
            MirrorFixture.options { options in
                options.deletesKnown = true
                change(&options)
            }
        }

        private static let lost = StorageError(
            kind: .service(status: 500, code: "InternalError"),
            operation: "CopyObject"
        )

        /// What a program puts there that changes content and takes over metadata.
        private static func replace(
            _ key: String,
            _ other: Data,
            claiming content: Data,
            _ fixture: MirrorFixture
        ) async throws -> ETag {
            let store = try fixture.store(StoreObserver())
            let whole = ObjectKey("mirror/" + key)
            let claim = String(CRC64(of: [UInt8](content)).value)
            let request = PutRequest(
                key: whole,
                userMetadata: [(name: StorageDialect.checksumMetadataName, value: claim)]
            )
            return try await store.put(request, body: .bytes([UInt8](other))) { _ in }.etag
        }

        /// Another writer's object stands where a copy was to be, with what the copy claims.
        @Test func `are not proven by what their metadata claim`() async throws {
            let fixture = try MirrorFixture(dialect: .s3)
            try fixture.write("a/film", Self.content)
            try await fixture.run("a", .push)
            try fixture.rename("a/film", to: "a/moved")
            let other = MirrorFixture.ramp(300_000, 9)
            let theirs = Mutex<ETag?>(nil)
            let engine = try fixture.engine("a") { store in
                HookedStore(store) { (call) throws(StorageError) in
                    guard call.operation == "CopyObject", call.moment == .after else { return }
                    let etag = try? await Self.replace(
                        "moved",
                        other,
                        claiming: Self.content,
                        fixture
                    )
                    theirs.withLock { $0 = etag }
                    throw Self.lost
                }
            }
            let summary = try await engine.run(.push, options: Self.options(), onEvent: { _ in })
            #expect(summary.renamed == 0, "\(summary)")
            let status = try await fixture.engine("a").status(options: Self.options())
            #expect(!status.isInStep)
            // Neither version is lost.
            let store = try fixture.store(StoreObserver())
            let found = try await store.head("mirror/moved", versionID: nil)
            #expect(found.etag == theirs.withLock { $0 })
            #expect(fixture.content("a/moved") == Self.content)
        }

        enum Copy: CaseIterable {
            case rename, trash, restoration, permissions
        }

        /// Makes everything ready for the copy, and returns what makes it.
        private func prepare(
            _ copy: Copy,
            _ fixture: MirrorFixture
        ) async throws -> @Sendable (MirrorEngine) async throws -> Void {
            try fixture.write("a/film", Self.content)
            try fixture.write("a/kept", MirrorFixture.ramp(10))
            try await fixture.run("a", .push)
            switch copy {
            case .rename: try fixture.rename("a/film", to: "a/moved")
            case .trash: try fixture.remove("a/film")
            case .permissions:
                let path = fixture.directory("a") + "/film"
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o600],
                    ofItemAtPath: path
                )
            case .restoration:
                try fixture.remove("a/film")
                try await fixture.run("a", .push) { options in
                    (options.deletesKnown, options.trash) = (true, .remote)
                }
                return { engine in
                    var request = RestoreRequest(
                        paths: ["film"],
                        version: .latest,
                        target: nil,
                        replaces: false
                    )
                    request.isUndo = true
                    let report = try await engine.restoreObjects(
                        request,
                        from: .trash,
                        names: .skip
                    ) { _ in }.report
                    if !report.isComplete { throw CancellationError() }
                }
            }
            return { engine in
                let summary = try await engine.run(
                    .push,
                    options: Self.options { $0.trash = copy == .trash ? .remote : .local },
                    onEvent: { _ in }
                )
                if !summary.isComplete { throw CancellationError() }
            }
        }

        private func openUploads(_ fixture: MirrorFixture) async throws -> [String] {
            let store = try fixture.store(StoreObserver())
            return try await store.listMultipartUploads(ListUploadsRequest(prefix: "mirror/"))
                .entries.map { $0.key.display }
        }

        /// As if the process had been killed between two parts.
        @Test(arguments: Copy.allCases)
        func `in parts that are cut off leave no upload behind`(copy: Copy) async throws {
            let fixture = try MirrorFixture(dialect: Self.dialect(.oss))
            let make = try await prepare(copy, fixture)
            let engine = try fixture.engine("a") { store in
                HookedStore(store) { (call) throws(StorageError) in
                    let isRefused = ["UploadPartCopy", "AbortMultipartUpload"].contains(
                        call.operation
                    )
                    guard isRefused, call.moment == .before else { return }
                    throw StorageError(kind: .cancelled, operation: call.operation)
                }
            }
            await #expect(throws: (any Error).self) { try await make(engine) }
            #expect(try await openUploads(fixture).count == 1)
            // Whatever is to be copied by then.
            if copy == .restoration { try fixture.write("a/film", Self.content) }
            let summary = try await fixture.engine("a").run(
                .push,
                options: Self.options { $0.trash = copy == .trash ? .remote : .local },
                onEvent: { _ in }
            )
            #expect(summary.isComplete && summary.isInStep, "\(summary)")
            #expect(try await openUploads(fixture) == [])
        }

        @Test(arguments: [StorageDialect.oss, .s3], Copy.allCases)
        func `in parts keep what other tools put on the object`(
            dialect: StorageDialect,
            copy: Copy
        ) async throws {
            let fixture = try MirrorFixture(dialect: Self.dialect(dialect))
            try fixture.write("a/film", Self.content)
            try await fixture.run("a", .push) { options in
                options.properties.contentHeaders = ["cache-control": "max-age=60"]
            }
            let make = try await prepare(copy, fixture)
            try await make(fixture.engine("a"))
            #expect(fixture.operations.contains("UploadPartCopy"))
            let key = try #require(
                try await fixture.objects().first { $0 != "kept" && $0 != "a" }
            )
            let store = try fixture.store(StoreObserver())
            let found = try await store.head(ObjectKey("mirror/" + key), versionID: nil)
            #expect(found.contentHeaders["cache-control"] == "max-age=60", "\(found)")
            #expect(found.userMetadata["mtime"] != nil)
        }

        private func etag(_ key: String, _ fixture: MirrorFixture) async throws -> ETag? {
            let store = try fixture.store(StoreObserver())
            return try await store.head(ObjectKey("mirror/" + key), versionID: nil).etag
        }

        @Test(arguments: [StorageDialect.oss, .s3], [Copy.rename, .permissions])
        func `in parts that are other content are not made`(
            dialect: StorageDialect,
            copy: Copy
        ) async throws {
            let fixture = try MirrorFixture(dialect: Self.dialect(dialect))
            _ = try await prepare(copy, fixture)
            let before = try await etag("film", fixture)
            try fixture.damageStored(Self.content)
            let log = EventLog()
            let engine = try fixture.engine("a")
            let summary = try await engine.run(.push, options: Self.options(), onEvent: log.add)
            #expect(fixture.operations.contains("UploadPartCopy"))
            #expect(try await openUploads(fixture) == [])
            guard copy == .permissions else {
                #expect(summary.renamed == 0 && summary.isInStep, "\(summary)")
                #expect(try await fixture.object("moved") == Self.content)
                return
            }
            #expect(try await etag("film", fixture) == before)
            if dialect == .s3 {
                let isTold = log.warnings.contains { $0.contains("'film' are not mirrored") }
                #expect(summary.failed == 0 && isTold, "\(log.warnings)")
            } else {
                #expect(summary.failed == 1, "\(summary)")
            }
        }

        @Test func `in parts are those of the source, and have its tag`() async throws {
            let fixture = try MirrorFixture(dialect: Self.dialect(.s3))
            // Of no tool's usual size: the store tells it.
            let partSize = 6 << 20
            try fixture.write("a/film", MirrorFixture.ramp(2 * partSize + 1_000))
            try await fixture.run("a", .push) { $0.partSize = Int64(partSize) }
            let before = try await etag("film", fixture)
            try fixture.rename("a/film", to: "a/moved")
            let summary = try await fixture.run("a", .push) { options in
                (options.partSize, options.deletesKnown) = (Int64(2 * partSize), true)
            }
            #expect(summary.renamed == 1 && summary.isInStep, "\(summary)")
            #expect(try await etag("moved", fixture) == before)
        }
    }
}
