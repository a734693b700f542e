import OSSBucket
import OSSTransfer
import ObjectStorage
import StorageServer
import StoreFixture
import Synchronization
import Testing

@Suite("Configuration by an app")
struct StoreConfigurationTests {
    @Test func `asks its source of keys once for all, and again when a key is refused`()
        async throws
    {
        let asked = Mutex(0)
        let fixture = try StoreFixture(
            credentials: .provider {
                let count = asked.withLock { asked in
                    asked += 1
                    return asked
                }
                return AccessKey(id: count == 1 ? "revoked" : "id", secret: "secret")
            }
        )
        defer { fixture.stop() }
        let client = try fixture.client()
        try await client.put([1], to: "a")
        async let first = client.head("a")
        async let second = client.head("a")
        _ = try await (first, second)
        #expect(asked.withLock { $0 } == 2)
    }

    @Test func `sends the token of temporary keys`() async throws {
        let fixture = try StoreFixture(
            credentials: .fixed(AccessKey(id: "sts", secret: "s", securityToken: "token")),
            servers: [ServerCredentials(accessKeyID: "sts", secret: "s", securityToken: "token")]
        )
        defer { fixture.stop() }
        try await fixture.client().put([1], to: "a")
    }

    @Test func `names the providers that the command line names`() {
        let names = StoreConfiguration.Provider.allCases.map(\.rawValue)
        #expect(names == StoreProvider.allCases.map(\.rawValue))
    }

    private struct Refusal: Error {}

    @Test func `tells what the source of keys threw`() async throws {
        let fixture = try StoreFixture(credentials: .provider { throw Refusal() })
        defer { fixture.stop() }
        let client = try fixture.client()
        let error = await expectError(.credentials) { try await client.head("a") }
        #expect(error?.message == "the app's source of credentials: Refusal()")
    }

    @Test func `shows no secret`() {
        let key = AccessKey(id: "id", secret: "topsecret", securityToken: "token")
        #expect("\(key)" == "AccessKey(id)")
        #expect(String(reflecting: key) == "AccessKey(id)")
        var text = ""
        dump(key, to: &text)
        #expect(!text.contains("topsecret") && !text.contains("token"))
    }

    @Test(
        arguments: [
            (nil, nil, "no endpoint and no region is configured; specify one of them"),
            (
                "cn-hangzhou", "http://example.com",
                "'http://example.com' is plain http, where anyone on the network path can read "
                    + "and change everything; use https, or set allowsInsecureHTTP"
            ),
            (
                nil, "https://example.com",
                "the region of 'example.com' is not known, and V4 signatures need it; specify "
                    + "the region"
            ),
        ] as [(String?, String?, String)]
    )
    func `that reaches no bucket is refused`(
        region: String?,
        endpoint: String?,
        message: String
    ) {
        let configuration = StoreConfiguration(
            region: region,
            endpoint: endpoint,
            credentials: .fixed(AccessKey(id: "id", secret: "secret"))
        )
        let error = #expect(throws: TransferError.self) {
            try BucketClient(
                "bucket",
                configuration: configuration
            )
        }
        #expect(error?.code == .configuration)
        #expect(error?.message == message)
    }

    #if SystemLibraries
    @Test func `with a file of authorities that is not there is refused`() throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        let error = #expect(throws: TransferError.self) {
            try fixture.client { $0.connection.caFile = "/nowhere/ca.pem" }
        }
        #expect(error?.code == .configuration)
    }

    @Test func `holds its bandwidth on the average`() async throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        let bytes = StoreFixture.ramp(300_000)
        try await fixture.client().put(bytes, to: "a")
        let slow = try fixture.client { $0.connection.bandwidthLimit = 200_000 }
        let start = ContinuousClock.now
        let read = try await slow.get("a", maxBytes: 1 << 20).value
        let elapsed = ContinuousClock.now - start
        #expect(read?.bytes == bytes)
        // 50,000 may go at once; the rest takes 1.25 s. Nothing but the limit can make it slower
        // than that at this size, and nothing may make it faster.
        #expect(elapsed > .seconds(1))
    }
    #endif
}
