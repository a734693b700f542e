import Foundation
import ManifestStore
import ObjectStorage
import StorageServer
import SyncModel
import Testing

@testable import SyncEngine

extension EngineRuns {
    /// Large files that change a little: what did not change is copied in the bucket.
    @Suite("Uploads of changed parts")
    struct ChangedPartTests {
        /// Nine parts and a piece of 1,000 bytes, of an object of this dialect.
        private struct Image {
            let fixture: MirrorFixture
            let partSize: Int

            init(_ dialect: StorageDialect) throws {
                fixture = try MirrorFixture(dialect: dialect)
                partSize = Int(max(1 << 20, dialect.minimumPartSize))
                try write(content(parts: 9))
            }

            /// Of parts that are all different.
            func content(parts: Int) -> Data {
                var content = Data()
                for number in 0..<parts {
                    content += MirrorFixture.ramp(partSize, number)
                }
                return content + MirrorFixture.ramp(1_000, 77)
            }

            func write(_ content: Data) throws { try fixture.write("a/disk", content) }

            private func options(_ change: (inout RunOptions) -> Void = { _ in }) -> RunOptions {
                MirrorFixture.options {
                    $0.partSize = Int64(partSize)
                    change(&$0)
                }
            }

            func push(_ change: (inout RunOptions) -> Void = { _ in }) async throws -> RunSummary {
                try await fixture.run("a", .push) { $0 = options(change) }
            }

            /// A push that asks the hook about each request.
            @discardableResult
            func push(asking hook: @escaping HookedStore.Hook) async throws -> RunSummary {
                try await fixture.engine("a") { HookedStore($0, hook: hook) }
                    .run(.push, options: options()) { _ in }
            }

            /// A push that ends at this moment of the request that makes the object.
            func push(endingAt moment: HookedStore.Moment) async {
                await #expect(throws: (any Error).self) {
                    try await push(asking: { call throws(StorageError) in
                        guard call.operation == "CompleteMultipartUpload", call.moment == moment
                        else { return }
                        throw StorageError(kind: .cancelled, operation: call.operation)
                    })
                }
            }

            /// What `explain` says of a push.
            func explained(_ policy: ConflictPolicy = .skip) async throws -> Explanation.Outlook {
                let options = [SyncDirection.push: options { $0.conflictPolicy = policy }]
                let found = try await fixture.engine("a").explain(path: "disk", of: options)
                return try #require(found.outlooks[.push])
            }

            /// How often each operation was asked for in the last upload.
            func counts(_ operations: String...) -> [Int] {
                let all = fixture.server.requestLog.map(\.operation)
                let start = all.lastIndex(of: "InitiateMultipartUpload") ?? 0
                return operations.map { name in all[start...].count { $0 == name } }
            }

            var isEqual: Bool {
                get async throws { try await fixture.object("disk") == fixture.content("a/disk") }
            }
        }

        static let dialects: [StorageDialect] = [.oss, .s3]

        @Test(arguments: dialects)
        func `are sent, and the others are copied from the version before`(
            dialect: StorageDialect
        ) async throws {
            let image = try Image(dialect)
            #expect(try await image.push().bytesCopied == 0)
            var content = image.content(parts: 9)
            // Twice: what was copied the first time is known the second time.
            for part in [3, 7] {
                content[part * image.partSize + 5] ^= 1
                try image.write(content)
                let push = try await image.push()
                #expect((push.transferred, push.failed) == (1, 0))
                #expect(push.bytes == Int64(image.partSize))
                #expect(push.bytesCopied == Int64(content.count - image.partSize))
                #expect(image.counts("UploadPart", "UploadPartCopy") == [1, 9])
                #expect(try await image.isEqual)
            }
            let verified = try await image.push { $0.comparesContent = true }
            #expect((verified.unchanged, verified.damaged) == (1, 0))
        }

        @Test(arguments: dialects)
        func `a file that became longer or shorter sends what its end has`(
            dialect: StorageDialect
        ) async throws {
            let image = try Image(dialect)
            _ = try await image.push()
            let known = Int64(image.content(parts: 9).count)
            try image.write(image.content(parts: 9) + Data(repeating: 9, count: image.partSize))
            let engine = try image.fixture.engine("a")
            let status = try await engine.status(options: MirrorFixture.options())
            #expect(status.push.bytes == known + Int64(image.partSize))
            #expect((status.push.bytesCopied, status.pull.bytesCopied) == (known, 0))
            let outlooks = try await engine.explain(path: "disk", of: [:]).outlooks
            #expect(outlooks[.push]?.bytesCopied == known)
            #expect(outlooks[.pull]?.bytesCopied == 0)
            #expect(try await image.push().bytesCopied == Int64(9 * image.partSize))
            #expect(try await image.isEqual)
            try image.write(image.content(parts: 9).prefix(8 * image.partSize + 17))
            #expect(try await image.push().bytesCopied == Int64(8 * image.partSize))
            #expect(try await image.isEqual)
            // What has too few parts is not remembered.
            for copied in [3 * image.partSize, 0] {
                try image.write(image.content(parts: 3) + Data(repeating: 1, count: copied + 1))
                let push = try await image.push()
                #expect(push.bytes + push.bytesCopied == Int64(3 * image.partSize + copied + 1_001))
                #expect((push.bytesCopied > 0) == (copied > 0))
                #expect(try await image.isEqual)
            }
        }

        @Test(arguments: [
            (StorageDialect.oss, 400), (.oss, 403), (.oss, 404), (.s3, 412), (.s3, 501),
        ])
        func `a store that refuses copies gets all parts`(
            dialect: StorageDialect,
            status: Int
        ) async throws {
            let image = try Image(dialect)
            _ = try await image.push()
            try image.fixture.setFaults(
                """
                [{"match": {"operation": "UploadPartCopy"},
                  "effect": {"fail": {"status": \(status), "code": "Nothing"}}}]
                """
            )
            var content = image.content(parts: 9)
            content[0] ^= 1
            try image.write(content)
            let push = try await image.push()
            #expect((push.transferred, push.failed, push.bytesCopied) == (1, 0, 0))
            // Those that were under way when the first was refused.
            let counts = image.counts("UploadPart", "UploadPartCopy")
            #expect(counts[0] == 10 && counts[1] <= 12)
            #expect(try await image.isEqual)
            // What says something of the store is not asked for anew.
            let isRemembered = [400, 501].contains(status)
            content[0] ^= 2
            try image.write(content)
            let plan = try await image.push { $0.isDryRun = true }
            #expect((plan.bytesCopied == 0) == isRemembered)
            let reason = try await image.explained().reason
            #expect(reason.contains("all of it: the store refused copies of") == isRemembered)
            #expect(try await image.push().transferred == 1)
            #expect((image.counts("UploadPartCopy") == [0]) == isRemembered)
            #expect(try await image.isEqual)
            guard isRemembered else { return }
            // It may have become newer.
            try await image.fixture.inState { session in
                try await session.manifest.setSetting("remote.refuses-part-copies", "1000")
            }
            try image.fixture.setFaults("[]")
            content[0] ^= 4
            try image.write(content)
            #expect(try await image.push().bytesCopied > 0)
            #expect(try await image.isEqual)
        }

        @Test func `copies that the store does not tell of are sent, too`() async throws {
            let image = try Image(.oss)
            _ = try await image.push()
            try image.fixture.setFaults(
                #"""
                [{"match": {"operation": "ListParts"},
                  "effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]
                """#
            )
            var content = image.content(parts: 9)
            content[0] ^= 1
            try image.write(content)
            let push = try await image.push()
            #expect((push.transferred, push.failed, push.bytesCopied) == (1, 0, 0))
            #expect(push.bytes == Int64(content.count))
            #expect(try await image.isEqual)
        }

        /// Where a copy that holds something else is noticed.
        enum Lie: CaseIterable, Sendable {
            /// In its tag.
            case none
            /// Its tag is the one that was expected.
            case tag
        }

        @Test(arguments: dialects, Lie.allCases)
        func `a part that is another one in the bucket by now is sent`(
            dialect: StorageDialect,
            lie: Lie
        ) async throws {
            let image = try Image(dialect)
            _ = try await image.push()
            var content = image.content(parts: 9)
            let part = content[(2 * image.partSize)..<(3 * image.partSize)]
            try image.fixture.damageStored(Data(part))
            if lie == .tag {
                let tag = hexadecimalText(Digest.md5([UInt8](part)))
                try image.fixture.setFaults(
                    """
                    [{"match": {"operation": "UploadPartCopy", "part": 3},
                      "effect": {"body": "<CopyPartResult><ETag>\(tag)</ETag></CopyPartResult>"}}]
                    """
                )
            }
            content[0] ^= 1
            try image.write(content)
            let push = try await image.push()
            #expect((push.transferred, push.failed) == (1, 0))
            #expect(try await image.isEqual)
        }

        @Test func `an interrupted upload goes on with what was copied`() async throws {
            let image = try Image(.oss)
            _ = try await image.push()
            try image.fixture.setFaults(
                #"""
                [{"match": {"operation": "CompleteMultipartUpload"},
                  "effect": {"fail": {"status": 500, "code": "InternalError"}}}]
                """#
            )
            var content = image.content(parts: 9)
            content[0] ^= 1
            try image.write(content)
            #expect(try await image.push().failed == 1)
            try image.fixture.setFaults("[]")
            let push = try await image.push()
            #expect((push.transferred, push.bytes) == (1, 0))
            #expect(push.bytesResumed == Int64(content.count))
            #expect(try await image.isEqual)
        }

        @Test(arguments: dialects, [true, false])
        func `those of an object that a run could not record are known to the next one`(
            dialect: StorageDialect,
            isFirst: Bool
        ) async throws {
            let image = try Image(dialect)
            var content = image.content(parts: 9)
            let size = Int64(content.count)
            if !isFirst {
                _ = try await image.push()
                content[0] ^= 1
                try image.write(content)
            }
            await image.push(endingAt: .after)
            let push = try await image.push()
            #expect((push.adopted, push.transferred) == (1, 0))
            content[image.partSize] ^= 1
            try image.write(content)
            let next = try await image.push()
            #expect((next.bytes, next.bytesCopied) == (Int64(image.partSize), size - next.bytes))
            #expect(try await image.isEqual)
        }

        @Test(arguments: dialects)
        func `and to one that finds the file changed again`(dialect: StorageDialect) async throws {
            let image = try Image(dialect)
            _ = try await image.push()
            var content = image.content(parts: 9)
            content[0] ^= 1
            try image.write(content)
            await image.push(endingAt: .after)
            content[image.partSize] ^= 1
            try image.write(content)
            let size = Int64(content.count)
            #expect(try await image.explained(.local).bytesCopied == size)
            let push = try await image.push()
            #expect((push.conflicts, push.transferred) == (0, 1))
            #expect((push.bytes, push.bytesCopied) == (Int64(image.partSize), size - push.bytes))
            #expect(try await image.isEqual)
        }

        @Test(arguments: dialects)
        func `and to one whose listing did not have the object yet`(
            dialect: StorageDialect
        ) async throws {
            let image = try Image(dialect)
            await image.push(endingAt: .before)
            var found: UploadCheckpoint?
            try await image.fixture.inState { session in
                found = try await session.manifest.first(.upload("disk"))
            }
            let left = try #require(found)
            let request = CompleteRequest(
                key: "mirror/disk",
                upload: try #require(left.uploadID),
                parts: left.parts
            )
            let store = try image.fixture.store(StoreObserver())
            // The store made the object late.
            let push = try await image.push(asking: { call throws(StorageError) in
                guard call.operation == "ListParts", call.moment == .before else { return }
                _ = try await store.completeMultipartUpload(request)
            })
            #expect((push.transferred, push.failed) == (1, 0))
            var content = image.content(parts: 9)
            content[image.partSize] ^= 1
            try image.write(content)
            #expect(try await image.push().bytes == Int64(image.partSize))
            #expect(try await image.isEqual)
        }

        @Test(arguments: [(StorageDialect.oss, "Standard", "IA"), (.s3, "STANDARD", "STANDARD_IA")])
        func `of a storage class that charges for what is read, nothing is copied`(
            dialect: StorageDialect,
            ordinary: String,
            name: String
        ) async throws {
            let image = try Image(dialect)
            _ = try await image.push { $0.properties.storageClass = name }
            var content = image.content(parts: 9)
            content[0] ^= 1
            try image.write(content)
            let reason = try await image.explained().reason
            #expect(reason.hasSuffix("storage class \(name) are charged by their bytes"))
            #expect(try await image.push { $0.isDryRun = true }.bytesCopied == 0)
            let push = try await image.push { $0.properties.storageClass = ordinary }
            #expect((push.bytes, push.bytesCopied) == (Int64(content.count), 0))
            // What was sent as the ordinary class is a source again.
            content[0] ^= 2
            try image.write(content)
            #expect(try await image.explained().bytesCopied == Int64(content.count))
            #expect(try await image.push().bytes == Int64(image.partSize))
            #expect(try await image.isEqual)
        }

        @Test func `another writer's version is no source`() async throws {
            let image = try Image(.oss)
            _ = try await image.push()
            try await image.fixture.put("disk", image.content(parts: 8))
            var content = image.content(parts: 9)
            content[0] ^= 1
            try image.write(content)
            let reason = try await image.explained(.local).reason
            #expect(reason.contains("an upload sends all of it: nothing is recorded of"))
            let push = try await image.push { $0.conflictPolicy = .local }
            #expect((push.transferred, push.bytesCopied) == (1, 0))
            #expect(try await image.isEqual)
        }

        @Test(arguments: dialects)
        func `a renamed file sends what changes later, and a dry run says how much it may copy`(
            dialect: StorageDialect
        ) async throws {
            let image = try Image(dialect)
            _ = try await image.push()
            let folder = image.fixture.folder.appendingPathComponent("a")
            let new = folder.appendingPathComponent("disk2")
            try FileManager.default.moveItem(at: folder.appendingPathComponent("disk"), to: new)
            #expect(try await image.push { $0.deletesKnown = true }.renamed == 1)
            var content = image.content(parts: 9)
            content[4 * image.partSize] ^= 1
            try content.write(to: new)
            let size = Int64(content.count)
            let plan = try await image.push { $0.isDryRun = true }
            #expect((plan.transferred, plan.bytes, plan.bytesCopied) == (1, size, size))
            let push = try await image.push()
            #expect((push.transferred, push.bytes) == (1, Int64(image.partSize)))
            #expect(push.bytesCopied == size - Int64(image.partSize))
            #expect(try await image.fixture.object("disk2") == content)
        }

        @Test func `what is known goes with its row`() async throws {
            let image = try Image(.oss)
            _ = try await image.push()
            try await image.fixture.inState { session in
                let known = try await session.manifest.sentParts(of: "disk")
                #expect(known?.partSize == Int64(image.partSize))
                try await session.manifest.record([.forget("disk")])
                let left = try await session.manifest.sentParts(of: "disk")
                #expect(left == nil)
            }
        }
    }
}
