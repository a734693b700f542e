import ObjectStorage
import Testing

@testable import OSSSync

@Suite("Proxies")
struct ProxyTests {
    private static let https = "https://oss-cn-hangzhou.aliyuncs.com"
    private static let http = "http://oss-cn-hangzhou.aliyuncs.com"

    private func proxy(
        _ endpoint: String,
        _ environment: [String: String],
        addressing: String = "virtual"
    ) throws -> String? {
        let home = try TemporaryHome()
        return try home.resolve(environment) {
            $0.endpoint = endpoint
            $0.region = "cn-hangzhou"
            $0.addressing = addressing
            $0.allowsInsecureHTTP = true
        }.network.proxy
    }

    @Test func `are those of the scheme, then those of all`() throws {
        let all = [
            "https_proxy": "s", "http_proxy": "p", "all_proxy": "a", "HTTPS_PROXY": "S",
            "ALL_PROXY": "A",
        ]
        #expect(try proxy(Self.https, all) == "s")
        #expect(try proxy(Self.http, all) == "p")
        #expect(try proxy(Self.https, ["HTTPS_PROXY": "S", "all_proxy": "a"]) == "S")
        #expect(try proxy(Self.https, ["http_proxy": "p", "ALL_PROXY": "A"]) == "A")
        #expect(try proxy(Self.https, ["http_proxy": "p"]) == nil)
        #expect(try proxy(Self.https, [:]) == nil)
        // An empty variable says: none.
        #expect(try proxy(Self.https, ["https_proxy": "", "all_proxy": "a"]) == nil)
    }

    @Test func `in capitals are not believed for http`() throws {
        #expect(try proxy(Self.http, ["HTTP_PROXY": "P"]) == nil)
    }

    @Test(arguments: ["http://127.0.0.1:9000", "https://localhost", "http://[::1]"])
    func `are not asked for this machine`(endpoint: String) throws {
        #expect(try proxy(endpoint, ["all_proxy": "a", "http_proxy": "p"]) == nil)
    }

    @Test(
        arguments: [
            ("*", true), ("aliyuncs.com", true), (".aliyuncs.com", true), ("ALIYUNCS.com", true),
            ("oss-cn-hangzhou.aliyuncs.com", true), ("bucket.oss-cn-hangzhou.aliyuncs.com", true),
            ("aliyuncs.com.", true), ("*.aliyuncs.com.:443", true), ("aliyuncs.com..", false),
            ("a.example, aliyuncs.com ,b.example", true), ("a.example aliyuncs.com", true),
            ("", false), (",", false), ("yuncs.com", false), ("com.aliyuncs", false),
            ("other.oss-cn-hangzhou.aliyuncs.com", false), ("oss-cn-shanghai.aliyuncs.com", false),
        ]
    )
    func `are left out for the hosts of no_proxy`(value: String, isExcepted: Bool) throws {
        for name in ["no_proxy", "NO_PROXY"] {
            let found = try proxy(Self.https, ["https_proxy": "s", name: value])
            #expect((found == nil) == isExcepted)
        }
        let lower = ["https_proxy": "s", "no_proxy": "other", "NO_PROXY": value]
        #expect(try proxy(Self.https, lower) == "s", "lower case comes first")
    }

    @Test(
        arguments: [
            ("10.160.2.3", "10.0.0.0/8", true), ("10.160.2.3", "10.160.*", true),
            ("10.160.2.3", "10.161.0.0/16", false), ("10.160.2.3", "10.16.*", false),
            ("10.160.2.3", "10.160.2.3:9000", true), ("10.160.2.3", "10.160.2.2/31", true),
            ("10.160.2.3", "0.0.0.0/0", true), ("10.160.2.3", "::/0", false),
            ("fd00::12", "fd00::/8", true), ("fd00::12", "[fd00::]/8", true),
            ("fd00::12", "[fd00::12]", true), ("fd00::12", "fe80::/10", false),
            ("oss.corp.example", "*.corp.example", true), ("corp.example", "*.example", true),
            ("oss.corp.example", "*corp.example", true),
            ("osscorp.example", "*.corp.example", false),
        ]
    )
    func `are left out for ranges of addresses and for stars`(
        host: String,
        value: String,
        isExcepted: Bool
    ) throws {
        let environment = ["https_proxy": "s", "no_proxy": "a.example," + value]
        let found = ResolvedConnection.proxy(forHost: host, isHTTPS: true, environment)
        #expect((found == nil) == isExcepted)
    }

    @Test func `an entry that names nothing is warned of, if there is a proxy`() {
        func warnings(_ environment: [String: String]) -> [String] {
            ConfigurationSources(
                options: ConnectionOptions(),
                environment: environment,
                homeDirectory: nil,
                hostName: "h"
            ).warnings
        }
        let value = "10.0.0.0/33, a.example, 10.*.1.2 , http://x"
        let found = warnings(["https_proxy": "s", "no_proxy": value])
        #expect(found.count == 3 && found[0].hasPrefix("'10.0.0.0/33' in no_proxy is ignored"))
        #expect(warnings(["no_proxy": value]).isEmpty)
    }
}
