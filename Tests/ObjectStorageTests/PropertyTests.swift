import SyncModel
import SyncTestSupport
import Testing

@testable import ObjectStorage

@Suite("Properties of objects", .timeLimit(.minutes(10)))
struct PropertyTests {
    private var properties: ObjectProperties {
        var properties = ObjectProperties()
        properties.contentType = "text/chosen"
        properties.contentHeaders = ["cache-control": "no-store", "expires": "0"]
        properties.tags = ["b": "x y", "a/1": ""]
        properties.storageClass = "IA"
        properties.encryption = .kms(keyID: "key-1")
        properties.accessControl = "private"
        return properties
    }

    private func request(replaced: ETag? = nil) -> PutRequest {
        var request = PutRequest(key: "k", contentType: "text/guessed", replaced: replaced)
        request.keepsMetadata = true
        request.set(properties)
        return request
    }

    private func check(_ sent: ScriptedRequest, _ dialect: StorageDialect) {
        #expect(sent["content-type"] == "text/chosen")
        #expect(sent["cache-control"] == "no-store")
        #expect(sent["expires"] == "0")
        let prefix = dialect.headerPrefix
        #expect(sent[prefix + "tagging"] == "a%2F1=&b=x%20y")
        #expect(sent[prefix + "storage-class"] == "IA")
        let (method, key) =
            dialect == .oss
            ? ("KMS", "x-oss-server-side-encryption-key-id")
            : ("aws:kms", "x-amz-server-side-encryption-aws-kms-key-id")
        #expect(sent[prefix + "server-side-encryption"] == method)
        #expect(sent[key] == "key-1")
    }

    private func accessControl(_ sent: ScriptedRequest, _ dialect: StorageDialect) -> String? {
        sent[dialect == .oss ? "x-oss-object-acl" : "x-amz-acl"]
    }

    @Test(arguments: [StorageDialect.oss, .s3])
    func `are sent with an object, and replace what an older version had`(
        dialect: StorageDialect
    ) async throws {
        let content = ramp(1_000)
        let fixture = try ClientFixture(dialect: dialect) { request, _ in
            guard request.method == "HEAD" else { return [uploadResponse(content)] }
            return [
                .response(
                    "200 OK",
                    headers: [
                        "ETag: \"A\"", "Content-Type: text/old", "Cache-Control: old",
                        "Content-Language: de", dialect.headerPrefix + "storage-class: Archive",
                    ]
                )
            ]
        }
        for replaced in [nil, ETag(wire: "A")] {
            _ = try await fixture.client.put(
                request(replaced: replaced),
                body: .bytes(content),
                onProgress: { _ in }
            )
            let sent = try #require(fixture.server.requests.last)
            check(sent, dialect)
            #expect(accessControl(sent, dialect) == "private")
            #expect(sent["content-language"] == (replaced == nil ? nil : "de"))
        }
    }

    @Test(arguments: [StorageDialect.oss, .s3])
    func `are sent when an upload begins, and OSS takes the access control at its end`(
        dialect: StorageDialect
    ) async throws {
        let fixture = try ClientFixture(dialect: dialect) { request, _ in
            let document =
                request.target.contains("uploads")
                ? "<InitiateMultipartUploadResult><Key>k</Key><UploadId>U</UploadId>"
                    + "</InitiateMultipartUploadResult>"
                : "<CompleteMultipartUploadResult><Key>k</Key><ETag>C-1</ETag>"
                    + "</CompleteMultipartUploadResult>"
            return [.response("200 OK", body: [UInt8](document.utf8))]
        }
        let upload = try await fixture.client.initiateMultipartUpload(request())
        let part = UploadedPart(
            number: PartNumber(index: 0),
            size: 5,
            etag: ETag(wire: "A"),
            crc64: nil
        )
        var completing = CompleteRequest(key: "k", upload: upload, parts: [part])
        completing.accessControl = properties.accessControl
        _ = try await fixture.client.completeMultipartUpload(completing)
        let seen = fixture.server.requests
        check(seen[0], dialect)
        #expect(accessControl(seen[0], dialect) == (dialect == .oss ? nil : "private"))
        #expect(accessControl(seen[1], dialect) == (dialect == .oss ? "private" : nil))
    }

    @Test(arguments: [StorageDialect.oss, .s3])
    func `of a copy that keeps its source's metadata are the access rights and the encryption`(
        dialect: StorageDialect
    ) async throws {
        let fixture = try ClientFixture(dialect: dialect) { _, _ in
            let document = "<CopyObjectResult><ETag>C</ETag></CopyObjectResult>"
            return [.response("200 OK", body: [UInt8](document.utf8))]
        }
        var request = CopyRequest(source: "a", destination: "k")
        request.properties = properties.ofCopy
        _ = try await fixture.client.copy(request)
        let sent = try #require(fixture.server.requests.last)
        #expect(accessControl(sent, dialect) == "private")
        #expect(sent[dialect.headerPrefix + "server-side-encryption"] != nil)
        #expect(sent[dialect.headerPrefix + "metadata-directive"] == nil)
    }

    @Test(arguments: [StorageDialect.oss, .s3])
    func `of a copy are those of its source but for what is chosen`(
        dialect: StorageDialect
    ) async throws {
        let fixture = try ClientFixture(dialect: dialect) { _, _ in
            let document = "<CopyObjectResult><ETag>C</ETag></CopyObjectResult>"
            return [.response("200 OK", body: [UInt8](document.utf8))]
        }
        var source = ObjectMetadata(size: 1, etag: ETag(wire: "A"), contentType: "text/old")
        source.contentHeaders = ["content-language": "de", "cache-control": "old"]
        var request = CopyRequest(source: "a", destination: "k", userMetadata: [])
        request.kept = source
        request.properties = properties
        _ = try await fixture.client.copy(request)
        let sent = try #require(fixture.server.requests.last)
        check(sent, dialect)
        #expect(sent["content-language"] == "de")
        #expect(accessControl(sent, dialect) == "private")
        #expect(sent[dialect.headerPrefix + "metadata-directive"] == "REPLACE")
        let directive = sent[dialect.headerPrefix + "tagging-directive"]
        #expect(directive == (dialect == .oss ? "Replace" : "REPLACE"))
    }

    @Test func `the store's own keys need no key`() async throws {
        let fixture = try ClientFixture { _, _ in [uploadResponse([])] }
        var request = PutRequest(key: "k")
        request.encryption = .aes256
        _ = try await fixture.client.put(request, body: .none, onProgress: { _ in })
        let sent = try #require(fixture.server.requests.last)
        #expect(sent["x-oss-server-side-encryption"] == "AES256")
        #expect(sent["x-oss-server-side-encryption-key-id"] == nil)
    }
}
