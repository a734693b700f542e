import OSSBucket
import OSSTransfer
import ObjectStorage
import StoreFixture
import SyncTestSupport
import Testing

@Suite("What an upload writes beside the content")
struct UploadHeaderTests {
    private static func properties() -> ObjectProperties {
        var properties = ObjectProperties.none
        properties.contentType = "text/x"
        properties.contentHeaders = [
            "Cache-Control": "max-age=60", "content-disposition": "attachment; filename=\"a.txt\"",
        ]
        properties.metadata = ["owner": "me"]
        properties.tags = ["kind": "a b", "ü/1": "x=1&y", "empty": ""]
        properties.encryption = .kms(keyID: "key-1")
        return properties
    }

    /// A server that refuses everything and keeps what it was sent.
    private func refusing() -> ScriptedServer {
        ScriptedServer { _, _ in [.response("403 Forbidden")] }
    }

    private func client(
        _ server: ScriptedServer,
        _ dialect: StoreDialect
    ) throws -> BucketClient {
        try BucketClient(
            "bucket",
            dialect: dialect,
            configuration: StoreConfiguration(
                region: "cn-hangzhou",
                endpoint: server.url,
                credentials: .fixed(AccessKey(id: "id", secret: "secret"))
            )
        )
    }

    @Test(arguments: [StoreDialect.oss, .s3]) func `is in the headers of its first request`(
        dialect: StoreDialect
    ) async throws {
        let server = refusing()
        defer { server.stop() }
        let client = try client(server, dialect)
        let options = PutOptions(properties: Self.properties())
        await #expect(throws: TransferError.self) {
            try await client.put([1], to: "k", options: options)
        }
        await #expect(throws: TransferError.self) {
            try await client.multipartUpload(of: "k", options: options)
        }
        let requests = server.requests
        #expect(requests.map(\.method) == ["PUT", "POST"])
        let prefix = dialect == .oss ? "x-oss-" : "x-amz-"
        for request in requests {
            #expect(request["content-type"] == "text/x")
            #expect(request["cache-control"] == "max-age=60")
            #expect(request["content-disposition"] == "attachment; filename=\"a.txt\"")
            #expect(request[prefix + "meta-owner"] == "me")
            #expect(request[prefix + "tagging"] == "empty=&kind=a%20b&%C3%BC%2F1=x%3D1%26y")
            let method = request[prefix + "server-side-encryption"]
            #expect(method == (dialect == .oss ? "KMS" : "aws:kms"))
        }
    }

    @Test(arguments: [1_000, 450_000]) func `is kept by the store`(size: Int) async throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        try fixture.write("file", StoreFixture.ramp(size))
        var options = UploadOptions()
        options.partSize = 200_000
        options.properties = Self.properties()
        _ = try await fixture.resumable(options).run()
        let url = try await fixture.client().presignedURL(
            .get,
            key: "k",
            lifetime: .seconds(60),
            query: ["tagging": ""]
        )
        let (status, body) = try await PlainRequests().send(url, .get, [], [])
        #expect(status == 200)
        let text = String(decoding: body, as: UTF8.self)
        #expect(text.contains("<Tag><Key>kind</Key><Value>a b</Value></Tag>"), "\(text)")
        #expect(text.contains("<Tag><Key>ü/1</Key><Value>x=1&amp;y</Value></Tag>"), "\(text)")
    }

    @Test func `is refused before a request if no store takes it`() async throws {
        let server = refusing()
        defer { server.stop() }
        let client = try client(server, .oss)
        func refused(_ change: (inout ObjectProperties) -> Void) async throws -> String? {
            var options = UploadOptions()
            change(&options.properties)
            let put = PutOptions(properties: options.properties)
            let errors = [
                await #expect(throws: TransferError.self) {
                    try await client.put([1], to: "k", options: put)
                },
                await #expect(throws: TransferError.self) {
                    try await client.multipartUpload(of: "k", options: put)
                },
                #expect(throws: TransferError.self) {
                    try ResumableUpload(of: "file", to: client, key: "k", options: options)
                },
            ]
            #expect(errors.allSatisfy { $0?.code == .configuration })
            #expect(Set(errors.map { $0?.message }).count == 1)
            return errors[0]?.message
        }
        #expect(
            try await refused { $0.metadata = ["a": ""] }
                == "the metadata 'a' must have a name and a value"
        )
        #expect(
            try await refused { $0.metadata = ["osssync-upload": "x"] }
                == "osssync itself writes the metadata 'osssync-upload'"
        )
        #expect(
            try await refused { $0.contentHeaders = ["range": "x"] }
                == "'range' is not stored with an object: expected one of cache-control, "
                + "content-disposition, content-encoding, content-language, expires"
        )
        let tags =
            "an object has at most 10 tags, with names of 1 to 128 characters and values of at "
            + "most 256"
        #expect(try await refused { $0.tags = ["": "x"] } == tags)
        #expect(
            try await refused { properties in
                for number in 0...10 { properties.tags["\(number)"] = "" }
            } == tags
        )
        #expect(server.requests.isEmpty)
    }
}
