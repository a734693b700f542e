import OSSSync
import Testing

@Suite("Object references")
struct ObjectReferenceTests {
    @Test(
        arguments: [
            ("oss://media/a.jpg", "a.jpg", "a.jpg"), ("s3://media/p/q/a b+c", "p/q/a b+c", "a b+c"),
            ("oss://media/e\u{301}/%2e", "e\u{301}/%2e", "%2e"), ("oss://media", "", ""),
            ("oss://media/", "", ""), ("oss://media/films/", "films/", ""),
        ]
    )
    func `name one object`(text: String, key: String, name: String) throws {
        let reference = try ObjectReference(parsing: text)
        #expect(Array(reference.key.utf8) == Array(key.utf8))
        #expect(reference.name == name)
        #expect(reference.isDirectory == name.isEmpty)
        #expect(reference.bucket.bucket == "media")
        #expect(reference.bucket.prefix == "")
        #expect(reference.text == (text == "oss://media" ? "oss://media/" : text))
    }

    @Test func `in a directory take a name`() throws {
        let directory = try ObjectReference(parsing: "s3://media/films/")
        #expect(directory.appending("a.mov").text == "s3://media/films/a.mov")
        #expect(try ObjectReference(parsing: "s3://media").appending("a").key == "a")
    }

    @Test(arguments: ["media/a", "https://media/a", "oss://Media/a", "oss://media//a", "oss://"])
    func `are refused where there is no bucket or no key`(text: String) {
        #expect(throws: SyncError.self) { try ObjectReference(parsing: text) }
    }
}

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
        #expect(throws: SyncError.self) { try self.settings("ftp://host/k", [:]) }
    }
}
