import SyncModel
import Testing

@testable import ObjectStorage

@Suite("Endpoints")
struct EndpointTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let text: String?
        var region: String? = nil
        var choice = AddressingChoice.auto
        /// Scheme, host header and target of bucket `b` and key `k x`.
        let url: String
        let signedRegion: String?
        var testDescription: String { "\(text ?? "nil") \(choice)" }
    }

    static let cases = [
        Case(
            text: nil,
            region: "cn-hangzhou",
            url: "https://b.oss-cn-hangzhou.aliyuncs.com/k%20x",
            signedRegion: "cn-hangzhou"
        ),
        Case(
            text: nil,
            region: "oss-cn-hangzhou",
            url: "https://b.oss-cn-hangzhou.aliyuncs.com/k%20x",
            signedRegion: "cn-hangzhou"
        ),
        Case(
            text: "oss-cn-hangzhou.aliyuncs.com",
            url: "https://b.oss-cn-hangzhou.aliyuncs.com/k%20x",
            signedRegion: "cn-hangzhou"
        ),
        Case(
            text: "HTTP://OSS-us-west-1-internal.aliyuncs.com/",
            url: "http://b.oss-us-west-1-internal.aliyuncs.com/k%20x",
            signedRegion: "us-west-1"
        ),
        Case(
            text: "ap-southeast-1.oss.aliyuncs.com",
            url: "https://b.ap-southeast-1.oss.aliyuncs.com/k%20x",
            signedRegion: "ap-southeast-1"
        ),
        Case(
            text: "s3.oss-cn-beijing.aliyuncs.com",
            url: "https://b.s3.oss-cn-beijing.aliyuncs.com/k%20x",
            signedRegion: "cn-beijing"
        ),
        Case(
            text: "oss-accelerate.aliyuncs.com",
            url: "https://b.oss-accelerate.aliyuncs.com/k%20x",
            signedRegion: nil
        ),
        Case(
            text: "oss-accelerate-overseas.aliyuncs.com",
            region: "cn-hongkong",
            url: "https://b.oss-accelerate-overseas.aliyuncs.com/k%20x",
            signedRegion: "cn-hongkong"
        ),
        Case(
            text: "cb-123.cn-hangzhou.oss-cloudbox.aliyuncs.com",
            url: "https://b.cb-123.cn-hangzhou.oss-cloudbox.aliyuncs.com/k%20x",
            signedRegion: "cb-123"
        ),
        Case(
            text: "https://img.example.com",
            choice: .cname,
            url: "https://img.example.com/k%20x",
            signedRegion: nil
        ),
        Case(
            text: "b.oss-cn-hangzhou.aliyuncs.com",
            choice: .cname,
            url: "https://b.oss-cn-hangzhou.aliyuncs.com/k%20x",
            signedRegion: "cn-hangzhou"
        ),
        Case(
            text: "https://store.example.com:8443",
            choice: .path,
            url: "https://store.example.com:8443/b/k%20x",
            signedRegion: nil
        ),
        Case(
            text: "http://127.0.0.1:9000",
            url: "http://127.0.0.1:9000/b/k%20x",
            signedRegion: nil
        ),
        Case(
            text: "http://127.0.0.1:80",
            choice: .virtual,
            url: "http://127.0.0.1/b/k%20x",
            signedRegion: nil
        ),
        Case(
            text: "http://[::1]:9000",
            choice: .cname,
            url: "http://[::1]:9000/b/k%20x",
            signedRegion: nil
        ),
        Case(
            text: "https://[2001:DB8::1]",
            url: "https://[2001:db8::1]/b/k%20x",
            signedRegion: nil
        ),
        Case(text: "::1", url: "https://[::1]/b/k%20x", signedRegion: nil),
        Case(
            text: "http://localhost:1234",
            url: "http://localhost:1234/b/k%20x",
            signedRegion: nil
        ),
        Case(
            text: "http://localhost:1234",
            choice: .virtual,
            url: "http://b.localhost:1234/k%20x",
            signedRegion: nil
        ),
        Case(
            text: "https://my_store:443",
            url: "https://b.my_store/k%20x",
            signedRegion: nil
        ),
    ]

    @Test(arguments: cases)
    func `an endpoint is read and addressed`(item: Case) throws {
        let endpoint = try Endpoint(
            parsing: item.text,
            region: item.region,
            addressing: item.choice
        )
        #expect(endpoint.origin(bucket: "b") + endpoint.path(bucket: "b", key: "k x") == item.url)
        #expect(endpoint.region == item.signedRegion)
    }

    @Test func `a service without a bucket has its own host and path`() throws {
        for choice in [AddressingChoice.virtual, .path] {
            let endpoint = try Endpoint(parsing: "h.example", region: nil, addressing: choice)
            #expect(endpoint.hostHeader(bucket: nil) == "h.example")
            #expect(endpoint.path(bucket: nil, key: nil) == "/")
        }
        let path = try Endpoint(parsing: "h.example", region: nil, addressing: .path)
        #expect(path.path(bucket: "b", key: nil) == "/b/")
    }

    @Test func `keys go into a path byte by byte`() throws {
        let endpoint = try Endpoint(parsing: "h.example", region: nil, addressing: .virtual)
        #expect(endpoint.path(bucket: "b", key: "a/./b/../c//d?#") == "/a/./b/../c//d%3F%23")
        #expect(endpoint.path(bucket: "b", key: ObjectKey([0xFF, 0x00])) == "/%FF%00")
    }

    @Test(arguments: [
        ("localhost", true), ("a.localhost", true), ("127.0.0.1", true), ("127.9.9.9", true),
        ("[::1]", true), ("[::2]", false), ("128.0.0.1", false), ("localhost.example", false),
        ("10.0.0.1", false), ("[::ffff:127.0.0.1]", false),
    ])
    func `only hosts of this machine are loopback`(host: String, expected: Bool) throws {
        let endpoint = try Endpoint(parsing: "http://" + host, region: nil, addressing: .auto)
        #expect(endpoint.isLoopback == expected)
    }

    @Test(arguments: [
        ("ftp://h.example", EndpointError.unknownScheme("ftp")),
        ("file:///etc/passwd", .unknownScheme("file")),
        ("https://h.example/bucket", .notAHost("https://h.example/bucket")),
        ("https://u:p@h.example", .notAHost("https://u:p@h.example")),
        ("https://h.example?x", .notAHost("https://h.example?x")),
        ("h.example\\evil", .notAHost("h.example\\evil")),
        ("https://", .invalidHost("")),
        ("h..example", .invalidHost("h..example")),
        ("-h.example", .invalidHost("-h.example")),
        ("h.exämple", .invalidHost("h.exämple")),
        ("127.1", .invalidHost("127.1")),
        ("0x7f.0.0.0x1", .invalidHost("0x7f.0.0.0x1")),
        ("256.1.1.1", .invalidHost("256.1.1.1")),
        ("http://[::1", .invalidHost("[::1")),
        ("http://[zz]", .invalidHost("zz")),
        ("http://[::1]9", .notAHost("http://[::1]9")),
        ("fe80::1%eth0", .invalidHost("fe80::1%eth0")),
        ("h.example:0", .invalidPort("0")),
        ("h.example:65536", .invalidPort("65536")),
        ("h.example:", .invalidPort("")),
        ("h.example:80x", .invalidPort("80x")),
    ])
    func `what is no host is refused`(text: String, expected: EndpointError) {
        #expect(throws: expected) {
            try Endpoint(parsing: text, region: nil, addressing: .auto)
        }
    }

    @Test(arguments: [
        ("https://u:secret@h.example", "https://…@h.example'"),
        ("u:se@cret@h.example", "'…@h.example'"),
        ("https://h.example/?token=secret", "'https://h.example/…'"),
        ("https://h.example#secret", "'https://h.example/…'"),
        ("h.example\\evil", "'h.example\\\\evil'"),
    ])
    func `a refused address is shown without what may be secret`(text: String, shown: String) {
        do throws(EndpointError) {
            _ = try Endpoint(parsing: text, region: nil, addressing: .auto)
            Issue.record("it was taken")
        } catch {
            #expect(error.message.contains(shown), "\(error.message)")
            #expect(!error.message.contains("secret") && !error.message.contains("cret@"))
        }
    }

    @Test func `neither endpoint nor region, and a broken region, are refused`() {
        #expect(throws: EndpointError.missing) {
            try Endpoint(parsing: nil, region: nil, addressing: .auto)
        }
        for region in ["", "oss-", "cn hangzhou", "cn-hangzhou/x", "évil", "a\nb"] {
            #expect(throws: EndpointError.invalidRegion(region)) {
                try Endpoint(parsing: nil, region: region, addressing: .auto)
            }
        }
    }

    @Test func `an endpoint that names a bucket is told from one that does not`() throws {
        let error = #expect(throws: EndpointError.self) {
            try Endpoint(
                parsing: "mybucket.oss-cn-hangzhou.aliyuncs.com",
                region: nil,
                addressing: .auto
            )
        }
        #expect(
            error?.message
                == "the endpoint 'mybucket.oss-cn-hangzhou.aliyuncs.com' already contains a "
                + "bucket; specify 'oss-cn-hangzhou.aliyuncs.com'"
        )
    }
}
