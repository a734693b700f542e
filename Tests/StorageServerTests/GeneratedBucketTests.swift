import SyncModel
import Testing

@testable import StorageServer

@Suite("Generated buckets")
struct GeneratedBucketTests {
    private static let bucket = GeneratedBucket(name: "many", count: 2_500)

    @Test func `are listed in pages from any key on`() throws {
        let bucket = try #require(Self.bucket)
        #expect(bucket.objects(from: [], limit: 2).map(\.key) == ["obj-00000000", "obj-00000001"])
        let middle = bucket.objects(from: [UInt8]("obj-000019".utf8), limit: 1_000)
        #expect(middle.first?.key == "obj-00001900")
        #expect(middle.last?.key == "obj-00002499")
        #expect(middle.count == 600)
        #expect(bucket.objects(from: [UInt8]("p".utf8), limit: 10).isEmpty)
        #expect(Set(middle.map(\.content.etag)).count == 600)
    }

    @Test func `have the objects that they list, and no others`() throws {
        let bucket = try #require(Self.bucket)
        #expect(bucket.object("obj-00000042")?.content.size == 43)
        #expect(bucket.object("obj-00002500") == nil)
        #expect(bucket.object("obj-42") == nil)
    }

    @Test func `have at most as many objects as keys`() {
        #expect(GeneratedBucket(name: "many", count: GeneratedBucket.largestCount + 1) == nil)
        #expect(GeneratedBucket(name: "many", count: -1) == nil)
    }

    @Test func `can be listed, but neither read nor changed`() throws {
        let bucket = try #require(Self.bucket)
        let server = try TestServer(generated: [bucket])
        let page = try server.send("GET", "/many?list-type=2&start-after=obj-00002497")
        #expect(page.text.contains("<Key>obj-00002498</Key>"))
        #expect(page.text.contains("<KeyCount>2</KeyCount>"))
        #expect(try server.send("GET", "/many/obj-00000009").status == 501)
        #expect(try server.send("GET", "/many/obj-00002500").status == 404)
        #expect(try server.send("PUT", "/many/new", body: [1]).status == 403)
        #expect(try server.send("DELETE", "/many/obj-00000009").status == 403)
    }
}
