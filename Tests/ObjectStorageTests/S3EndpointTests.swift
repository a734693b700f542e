import SyncModel
import Testing

@testable import ObjectStorage

@Suite("Endpoints of S3")
struct S3EndpointTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var text: String?
        var region: String?
        var addressing = AddressingChoice.auto
        var provider: StoreProvider?
        var bucket = "bucket"
        var origin: String
        var path: String
        var signed: String
        var testDescription: String { text ?? "none" }
    }

    @Test(arguments: [
        Case(origin: "https://bucket.s3.us-east-1.amazonaws.com", path: "/k", signed: "us-east-1"),
        Case(
            region: "cn-north-1",
            origin: "https://bucket.s3.cn-north-1.amazonaws.com.cn",
            path: "/k",
            signed: "cn-north-1"
        ),
        Case(
            region: "eu-west-1",
            bucket: "a.b",
            origin: "https://s3.eu-west-1.amazonaws.com",
            path: "/a.b/k",
            signed: "eu-west-1"
        ),
        Case(
            text: "http://127.0.0.1:8333/",
            addressing: .virtual,
            origin: "http://127.0.0.1:8333",
            path: "/bucket/k",
            signed: "us-east-1"
        ),
        Case(
            text: "minio.example.com",
            origin: "https://minio.example.com",
            path: "/bucket/k",
            signed: "us-east-1"
        ),
        Case(
            text: "minio.example.com",
            addressing: .virtual,
            origin: "https://bucket.minio.example.com",
            path: "/k",
            signed: "us-east-1"
        ),
        Case(
            text: "https://s3.dualstack.eu-west-2.amazonaws.com",
            origin: "https://bucket.s3.dualstack.eu-west-2.amazonaws.com",
            path: "/k",
            signed: "eu-west-2"
        ),
        Case(
            text: "https://s3.fr-par.scw.cloud",
            origin: "https://s3.fr-par.scw.cloud",
            path: "/bucket/k",
            signed: "fr-par"
        ),
        Case(
            text: "https://x.r2.cloudflarestorage.com",
            origin: "https://x.r2.cloudflarestorage.com",
            path: "/bucket/k",
            signed: "auto"
        ),
        Case(
            text: "https://s3.oss-cn-hangzhou.aliyuncs.com",
            origin: "https://bucket.s3.oss-cn-hangzhou.aliyuncs.com",
            path: "/k",
            signed: "cn-hangzhou"
        ),
        Case(
            text: "https://storage.example.com",
            provider: .aws,
            origin: "https://bucket.storage.example.com",
            path: "/k",
            signed: "us-east-1"
        ),
        Case(
            text: "https://storage.example.com",
            provider: .aws,
            bucket: "a.b",
            origin: "https://storage.example.com",
            path: "/a.b/k",
            signed: "us-east-1"
        ),
        Case(
            text: "https://media.example.com",
            provider: .r2,
            origin: "https://media.example.com",
            path: "/bucket/k",
            signed: "auto"
        ),
        Case(
            text: "https://s3.gateway.aliyuncs.com",
            provider: .ceph,
            origin: "https://s3.gateway.aliyuncs.com",
            path: "/bucket/k",
            signed: "us-east-1"
        ),
        Case(
            text: "https://s3.oss-cn-hangzhou.aliyuncs.com",
            provider: .generic,
            origin: "https://bucket.s3.oss-cn-hangzhou.aliyuncs.com",
            path: "/k",
            signed: "cn-hangzhou"
        ),
    ])
    func `the address says where the bucket is`(_ example: Case) throws {
        let endpoint = try Endpoint(
            parsingS3: example.text,
            region: example.region,
            addressing: example.addressing,
            provider: example.provider,
            bucket: example.bucket
        )
        #expect(endpoint.origin(bucket: example.bucket) == example.origin)
        #expect(endpoint.path(bucket: example.bucket, key: "k") == example.path)
        #expect(endpoint.region == example.signed)
    }

    @Test func `only a host of Amazon changes with the region`() throws {
        let amazon = try Endpoint(
            parsingS3: nil,
            region: nil,
            addressing: .auto,
            provider: nil,
            bucket: "b"
        )
        #expect(amazon.moved(to: "eu-west-1").host == "s3.eu-west-1.amazonaws.com")
        let other = try Endpoint(
            parsingS3: "https://s3.example.com",
            region: nil,
            addressing: .auto,
            provider: nil,
            bucket: "b"
        )
        #expect(other.moved(to: "eu-west-1").host == "s3.example.com")
        #expect(other.moved(to: "eu-west-1").region == "eu-west-1")
    }

    @Test func `what is no region is refused`() {
        #expect(throws: EndpointError.invalidRegion("a/b")) {
            try Endpoint(
                parsingS3: nil,
                region: "a/b",
                addressing: .auto,
                provider: nil,
                bucket: "b"
            )
        }
    }

    @Test(arguments: StoreProvider.allCases)
    func `a store of one's own is never looked for at Amazon`(provider: StoreProvider) throws {
        let make = {
            try Endpoint(
                parsingS3: nil,
                region: nil,
                addressing: .auto,
                provider: provider,
                bucket: "b"
            )
        }
        if provider == .aws {
            #expect(try make().host == "s3.us-east-1.amazonaws.com")
        } else {
            #expect(throws: EndpointError.missingOf(provider: provider.rawValue)) { try make() }
        }
    }
}
