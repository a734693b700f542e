import OSSSync
import Testing

@Suite("The connection to a signed URL")
struct SignedConnectionTests {
    private static let url = "https://b.oss-cn-hangzhou.aliyuncs.com/k?x-oss-signature=s"

    private func settings(
        _ url: String,
        _ environment: [String: String],
        _ change: (inout ConnectionOptions) -> Void = { _ in }
    ) throws -> ConnectionSettings {
        var options = ConnectionOptions()
        change(&options)
        let sources = ConfigurationSources(
            options: options,
            environment: environment,
            homeDirectory: nil,
            hostName: "host"
        )
        return try ConnectionSettings(to: url, sources: sources, connectionLimit: 3)
    }

    @Test func `goes over the environment's proxy, but for hosts that do without`() throws {
        let environment = ["https_proxy": "http://proxy:3128", "no_proxy": "internal.example"]
        #expect(try settings(Self.url, environment).proxy == "http://proxy:3128")
        #expect(try settings("https://a.internal.example/k", environment).proxy == nil)
        #expect(try settings("http://127.0.0.1:9000/k", ["all_proxy": "p"]).proxy == nil)
    }

    @Test func `is as the options say`() throws {
        let settings = try settings(Self.url, [:]) { options in
            options.timeout = .seconds(5)
            options.retries = 2
            options.retryWait = .seconds(1)
            options.caFile = "ca.pem"
            options.allowsInsecureHTTP = true
        }
        #expect(settings.stallTimeout == .seconds(5))
        #expect(settings.retries == 2)
        #expect(settings.longestRetryPause == .seconds(1))
        #expect(settings.caFile == "ca.pem")
        #expect(settings.allowsInsecureHTTP)
        #expect(settings.connectionLimit == 3)
        #expect(throws: TransferError.self) { try self.settings("ftp://host/k", [:]) }
    }
}
