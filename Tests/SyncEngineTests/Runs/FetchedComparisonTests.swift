import Foundation
import LocalStorage
import ObjectStorage
import SyncModel
import Testing

@testable import SyncEngine

extension EngineRuns {
    /// Objects whose tags cannot be computed of a file: parts of different sizes, and no checksum.
    @Suite("Comparing after fetching")
    struct FetchedComparisonTests {
        private static let partSize = (5 << 20) + 1
        private let content = MirrorFixture.ramp(12 << 20)
        private let other = MirrorFixture.ramp(12 << 20, 7)

        /// An object of two parts, the second of which is larger, as another tool puts it.
        private func putInParts(_ key: String, _ content: Data, _ fixture: MirrorFixture)
            async throws
        {
            let store = try fixture.store(StoreObserver())
            let key = ObjectKey("mirror/" + key)
            let upload = try await store.initiateMultipartUpload(PutRequest(key: key))
            let pieces = [content.prefix(Self.partSize), content.dropFirst(Self.partSize)]
            var parts: [UploadedPart] = []
            for (index, piece) in pieces.enumerated() {
                let number = try #require(PartNumber(index + 1))
                let body = RequestBody.bytes([UInt8](piece))
                parts.append(
                    try await store.uploadPart(key, upload, number, body: body) { _ in }
                )
            }
            let request = CompleteRequest(key: key, upload: upload, parts: parts)
            _ = try await store.completeMultipartUpload(request)
        }

        private func gets(_ fixture: MirrorFixture) -> Int {
            fixture.operations.filter { $0 == "GetObject" }.count
        }

        @Test(arguments: [SyncDirection.pull, .push, .sync])
        func `an equal copy is recorded and no conflict`(direction: SyncDirection) async throws {
            let fixture = try MirrorFixture(dialect: .s3)
            try await putInParts("film", content, fixture)
            try fixture.write("a/film", content)
            let log = EventLog()
            let first = try await fixture.run("a", direction, log)
            #expect(first.isInStep, "\(first)")
            #expect((first.adopted, first.conflicts, first.transferred) == (1, 0, 0))
            #expect(first.bytes == Int64(content.count), "it was fetched once")
            #expect(try fixture.tree("a").keys.sorted() == ["film"])
            #expect(log.items.contains { $0.message?.contains("fetched to compare") == true })
            #expect(partials(fixture).isEmpty)
            let again = try await fixture.run("a", direction)
            #expect(again.isInStep)
            #expect(again.bytes == 0)
        }

        @Test(arguments: [SyncDirection.pull, .sync])
        func `what was fetched in the second it was written is no local change`(
            direction: SyncDirection
        ) async throws {
            let fixture = try MirrorFixture(dialect: .s3)
            try await putInParts("film", content, fixture)
            #expect(try await fixture.run("a", .pull).transferred == 1)
            for _ in 0..<3 {
                let again = try await fixture.run("a", direction)
                #expect((again.localChanges, again.transferred, again.bytes) == (0, 0, 0))
                #expect(again.isInStep)
            }
        }

        @Test(arguments: [SyncDirection.pull, .sync])
        func `another content is fetched once and kept beside`(
            direction: SyncDirection
        ) async throws {
            let fixture = try MirrorFixture(dialect: .s3)
            try await putInParts("film", content, fixture)
            try fixture.write("a/film", other)
            let first = try await fixture.run("a", direction)
            #expect((first.adopted, first.conflicts, first.transferred) == (0, 1, 1))
            #expect(first.bytes == Int64(content.count), "it was fetched once")
            #expect(fixture.content("a/film") == content)
            let kept = try fixture.tree("a").filter { $0.key.contains(".conflict-") }
            #expect(Array(kept.values) == [other])
            #expect(partials(fixture).isEmpty)
        }

        @Test func `a conflict that a push leaves is fetched in the first run only`() async throws {
            let fixture = try MirrorFixture(dialect: .s3)
            try await putInParts("film", content, fixture)
            try fixture.write("a/film", other)
            let first = try await fixture.run("a", .push)
            #expect((first.conflicts, first.bytes) == (1, Int64(content.count)))
            #expect(partials(fixture).isEmpty)
            let requests = gets(fixture)
            let second = try await fixture.run("a", .push)
            #expect((second.conflicts, second.bytes) == (1, 0))
            #expect(gets(fixture) == requests, "what it contains is known")
            // The user puts the object's content there: known to be the same.
            try fixture.write("a/film", content)
            let third = try await fixture.run("a", .push)
            #expect(third.isInStep)
            #expect((third.adopted, third.bytes) == (1, 0))
        }

        @Test func `nothing is fetched to where nothing can be written`() async throws {
            let fixture = try MirrorFixture(dialect: .s3)
            try await putInParts("film", content, fixture)
            try fixture.write("a/film", content)
            try fixture.write("a/small", MirrorFixture.ramp(9))
            let faults = SystemCallFaults(.failFromHereOn(errno: EROFS), at: 1, of: ["faccessat"])
            let calls = SystemCalls(usesOpenat2: true, faults: faults)
            var engine = try fixture.engine("a", calls: calls)
            engine.settings.stateDirectory = fixture.directory("state")
            let options = MirrorFixture.options()
            let dry = try await engine.run(
                .push,
                options: MirrorFixture.options { $0.isDryRun = true },
                onEvent: { _ in }
            )
            #expect((dry.conflicts, dry.failed) == (1, 0))
            let push = try await engine.run(.push, options: options, onEvent: { _ in })
            #expect((push.conflicts, push.transferred, push.failed) == (1, 1, 0))
            #expect(gets(fixture) == 0)
        }

        @Test func `a dry run says that it would be fetched, and fetches nothing`() async throws {
            let fixture = try MirrorFixture(dialect: .s3)
            try await putInParts("film", content, fixture)
            try fixture.write("a/film", content)
            let log = EventLog()
            let preview = try await fixture.run("a", .pull, log) { $0.isDryRun = true }
            #expect(preview.conflicts == 0)
            #expect(preview.bytes == Int64(content.count))
            #expect(gets(fixture) == 0)
            #expect(log.items.first { $0.state == .planned }?.message?.contains("compare") == true)
        }

        @Test func `a comparison that a kill cut off goes on where it stopped`() async throws {
            let fixture = try MirrorFixture(dialect: .s3)
            try await putInParts("film", content, fixture)
            try fixture.write("a/film", content)
            // The last of twelve ranges is never answered.
            try fixture.setFaults(
                #"""
                [{"match": {"operation": "GetObject", "key": "mirror/film",
                            "rangeStart": 11534336},
                  "effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]
                """#
            )
            let cut = try await fixture.run("a", .push)
            #expect((cut.failed, cut.adopted) == (1, 0))
            try fixture.setFaults("[]")
            let again = try await fixture.run("a", .push)
            #expect(again.isInStep)
            #expect(again.bytes < Int64(content.count))
            #expect(again.bytes + cut.bytes <= Int64(content.count) + (1 << 20))
        }

        private func partials(_ fixture: MirrorFixture) -> [String] {
            let path = fixture.directory("a") + "/.osssync/partial"
            return (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        }
    }
}
