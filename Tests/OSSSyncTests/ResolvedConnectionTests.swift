import ObjectStorage
import Testing

@testable import OSSSync

@Suite("A connection")
struct ResolvedConnectionTests {
    /// A home in which every file says another region and endpoint.
    private func fullHome() throws -> TemporaryHome {
        let home = try TemporaryHome()
        try home.write(".config/osssync/config", Self.own)
        try home.write(".ossutilconfig", Self.ossutil)
        try home.write(".aliyun/config.json", Self.aliyun)
        return home
    }

    private static let own = "[default]\nregion = own-1\nendpoint = own.example\nsignature = v1\n"
    private static let ossutil = """
        [default]
        region = ossutil-1
        endpoint = ossutil.example
        addressing-style = path
        sign-version = v4
        """
    private static let aliyun =
        #"{"current":"main","profiles":[{"name":"main","mode":"AK","region_id":"aliyun-1"}]}"#

    @Test func `is what the first of its sources says`() throws {
        let home = try fullHome()
        let link = TemporaryHome.link {
            $0.region = "link-1"
            $0.endpoint = "link.example"
        }
        let environment = ["OSS_REGION": "env-1", "OSS_ENDPOINT": "env.example"]
        let asked = try home.resolve(environment, link: link) {
            $0.region = "option-1"
            $0.endpoint = "option.example"
        }
        #expect(asked.endpoint.region == "option-1")
        #expect(asked.endpoint.host == "option.example")
        let set = try home.resolve(environment, link: link)
        #expect(set.endpoint.region == "env-1")
        #expect(set.endpoint.host == "env.example")
        let other = try home.resolve(["ALIBABA_CLOUD_REGION_ID": "env-2"], link: link)
        #expect(other.endpoint.region == "env-2")
        let linked = try home.resolve(link: link)
        #expect(linked.endpoint.region == "link-1")
        #expect(linked.endpoint.host == "link.example")
        let configured = try home.resolve()
        #expect(configured.endpoint.region == "own-1")
        #expect(configured.endpoint.host == "own.example")
        #expect(configured.endpoint.addressing == .path, "what own leaves open, ossutil says")
        #expect(configured.signature == .v1)
    }

    @Test func `falls to the files of other tools in their order`() throws {
        let home = try TemporaryHome()
        try home.write(".aliyun/config.json", Self.aliyun)
        #expect(try home.resolve().endpoint.host == "oss-aliyun-1.aliyuncs.com")
        try home.write(".ossutilconfig", Self.ossutil)
        let second = try home.resolve()
        #expect(second.endpoint.host == "ossutil.example")
        #expect(second.endpoint.region == "ossutil-1")
        try home.write(
            ".ossutilconfig",
            "[Credentials]\nendpoint=one.example\n[Bucket-Endpoint]\nbucket=two.example\n"
        )
        let first = try home.resolve()
        #expect(first.endpoint.host == "two.example")
        #expect(first.endpoint.region == "aliyun-1")
    }

    @Test func `takes empty values for absent ones`() throws {
        let home = try fullHome()
        let link = TemporaryHome.link { $0.region = "" }
        let found = try home.resolve(["OSS_REGION": "", "OSS_ENDPOINT": ""], link: link) {
            $0.region = ""
        }
        #expect(found.endpoint.region == "own-1")
    }

    @Test func `never signs for another region than its endpoint names`() throws {
        let home = try TemporaryHome()
        try home.write(".ossutilconfig", "[default]\nregion = cn-hangzhou\n")
        let shanghai = "oss-cn-shanghai-internal.aliyuncs.com"
        #expect(try home.resolve { $0.endpoint = shanghai }.endpoint.region == "cn-shanghai")
        #expect(try home.resolve(["OSS_ENDPOINT": shanghai]).endpoint.region == "cn-shanghai")
        // A host that names no region takes what any source says.
        #expect(try home.resolve { $0.endpoint = "oss.example" }.endpoint.region == "cn-hangzhou")
        // Whoever says both is believed.
        let both = try home.resolve(["OSS_ENDPOINT": shanghai]) { $0.region = "cn-beijing" }
        #expect(both.endpoint.region == "cn-beijing")
        let amazon = try home.resolve(remote: "s3://bucket") {
            $0.endpoint = "s3.eu-central-1.amazonaws.com"
        }
        #expect(amazon.endpoint.region == "eu-central-1")
    }

    @Test func `reads another file of profiles where one is named`() throws {
        let home = try fullHome()
        let path = try home.write(
            "mine.ini",
            "[default]\nregion = mine-1\nendpoint = mine.example\n"
        )
        #expect(try home.resolve { $0.configurationFile = path }.endpoint.region == "mine-1")
        let missing = home.path("missing.ini")
        expect("\(missing): there is no such file") {
            try home.resolve { $0.configurationFile = missing }
        }
    }

    @Test func `of s3 obeys the provider that was recorded or asked for`() throws {
        let home = try TemporaryHome()
        expect(
            "the provider 'minio' has no default endpoint; specify --endpoint or set "
                + "AWS_ENDPOINT_URL"
        ) {
            try namingOptions { try home.resolve(remote: "s3://bucket") { $0.provider = "minio" } }
        }
        expect("'gcs' is not a provider; supported are aws, minio, seaweedfs, r2, ceph, generic") {
            try home.resolve(remote: "s3://bucket") { $0.provider = "gcs" }
        }
        expect("--provider is for s3:// remotes") {
            try home.resolve(["OSS_REGION": "cn-hangzhou"]) { $0.provider = "aws" }
        }
        let link = TemporaryHome.link {
            $0.provider = "r2"
            $0.endpoint = "https://media.example"
        }
        let found = try home.resolve(link: link, remote: "s3://bucket")
        #expect(found.endpoint.region == "auto")
        try home.write(".config/osssync/config", "[default]\nprovider = seaweedfs\n")
        let own = try home.resolve(["AWS_ENDPOINT_URL": "https://e.example"], remote: "s3://bucket")
        #expect(own.dialect.lostKeyByte == UInt8(ascii: "\\"))
        _ = try home.resolve(["OSS_REGION": "cn-hangzhou"])
    }

    @Test func `of s3 ignores what is for OSS`() throws {
        let home = try fullHome()
        try home.write(
            ".aws/config",
            "[default]\nregion = eu-west-1\nendpoint_url = https://s3.example\n"
        )
        let found = try home.resolve(
            ["OSS_REGION": "env-1", "OSS_ENDPOINT": "env.example"],
            remote: "s3://bucket"
        ) {
            $0.configurationFile = nil
        }
        #expect(found.endpoint.host == "own.example", "osssync's own file is for both")
        let amazon = try TemporaryHome()
        let set = try amazon.resolve(["AWS_REGION": "eu-west-1"], remote: "s3://bucket")
        #expect(set.endpoint.host == "s3.eu-west-1.amazonaws.com")
        let url = [
            "AWS_ENDPOINT_URL": "https://a.example", "AWS_ENDPOINT_URL_S3": "https://b.example",
        ]
        #expect(try amazon.resolve(url, remote: "s3://bucket").endpoint.host == "b.example")
        let ignored = url.merging(["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"]) { $1 }
        #expect(
            try amazon.resolve(ignored, remote: "s3://bucket").endpoint.host
                == "s3.us-east-1.amazonaws.com"
        )
    }

    @Test func `leaves out every endpoint of the aws tools if the environment wants that`() throws {
        let home = try TemporaryHome()
        try home.write(
            ".aws/config",
            "[default]\nregion = eu-west-1\nendpoint_url = https://s3.example\n"
        )
        func host(_ environment: [String: String]) throws -> String {
            try home.resolve(environment, remote: "s3://bucket").endpoint.host
        }
        #expect(try host([:]) == "s3.example")
        let ignored = ["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"]
        #expect(try host(ignored) == "s3.eu-west-1.amazonaws.com")
        #expect(
            try host(ignored.merging(["AWS_ENDPOINT_URL": "https://a.example"]) { $1 })
                == "s3.eu-west-1.amazonaws.com"
        )
    }

    @Test func `over plain http is refused beyond this machine`() throws {
        let home = try TemporaryHome()
        for host in ["http://oss-cn-hangzhou.aliyuncs.com", "http://10.0.0.1:9000"] {
            let shown = host.hasPrefix("http://10") ? host : "http://oss-cn-hangzhou.aliyuncs.com"
            expect(
                "'\(shown)' is plain http, where anyone on the network path can read and change "
                    + "everything; use https, or --insecure-http"
            ) {
                try namingOptions {
                    try home.resolve(["OSS_REGION": "cn-hangzhou", "OSS_ENDPOINT": host])
                }
            }
            let allowed = try home.resolve(["OSS_REGION": "cn-hangzhou", "OSS_ENDPOINT": host]) {
                $0.allowsInsecureHTTP = true
            }
            #expect(allowed.endpoint.scheme == .http)
        }
        for host in ["http://127.0.0.1:9000", "http://localhost", "http://[::1]:80"] {
            #expect(throws: Never.self) {
                try home.resolve(["OSS_REGION": "cn-hangzhou", "OSS_ENDPOINT": host])
            }
        }
    }

    @Test func `without what it needs is told what to give`() throws {
        let home = try TemporaryHome()
        expect("no endpoint and no region is configured; specify --endpoint or --region") {
            try namingOptions { try home.resolve() }
        }
        expect(
            "the region of 'oss.example' is not known, and V4 signatures need it; specify "
                + "--region"
        ) {
            try namingOptions { try home.resolve { $0.endpoint = "oss.example" } }
        }
        let old = try home.resolve {
            $0.endpoint = "oss.example"
            $0.signature = "v1"
        }
        #expect(old.endpoint.region == nil)
        expect("'sideways' is not an addressing style") {
            try home.resolve {
                $0.region = "cn-hangzhou"
                $0.addressing = "sideways"
            }
        }
        expect("'v5' is not a supported signature version") {
            try home.resolve {
                $0.region = "cn-hangzhou"
                $0.signature = "v5"
            }
        }
        expect("'v1' is not a supported signature version") {
            try home.resolve(remote: "s3://bucket") { $0.signature = "v1" }
        }
        expect("the certificate authorities '/nonexistent' can't be read") {
            try home.resolve {
                $0.region = "cn-hangzhou"
                $0.caFile = "/nonexistent"
            }
        }
    }

    @Test func `is not made from a broken file`() throws {
        let home = try TemporaryHome()
        for (name, content) in [
            (".config/osssync/config", "[default\ncanary"), (".ossutilconfig", "canary\n"),
            (".aliyun/config.json", "{\"canary"),
        ] {
            let path = try home.write(name, content)
            let error = #expect(throws: TransferError.self) {
                try home.resolve(["OSS_REGION": "cn-hangzhou"])
            }
            #expect(error?.code == .configuration)
            #expect(error?.message.hasPrefix(path + ": ") == true)
            #expect(error?.message.contains("canary") == false)
            try home.write(name, name.hasSuffix("json") ? "{}" : "")
        }
    }

    private func expect(_ message: String, _ body: () throws -> ResolvedConnection) {
        let error = #expect(throws: TransferError.self) { try body() }
        #expect(error?.code == .configuration)
        #expect(error?.message == message)
    }
}
