import Foundation
import ObjectStorage
import StorageServer
import Testing

@testable import OSSSync

@Suite("The doctor")
struct DoctorTests {
    private static let keys = [
        "OSS_ACCESS_KEY_ID": "doctor-key-id", "OSS_ACCESS_KEY_SECRET": "secret-canary",
        "OSS_REGION": "cn-test-1",
    ]

    private func examine(
        _ home: TemporaryHome,
        directory: String? = nil,
        _ environment: [String: String],
        checksWrite: Bool = false
    ) async -> [DoctorFinding] {
        let doctor = MirrorDoctor(
            directory: directory.map(home.path),
            sources: home.sources(environment)
        )
        let findings = await doctor.examine(checksWrite: checksWrite)
        #expect(!findings.contains { $0.message.contains("canary") })
        return findings
    }

    /// Runs `body` with the environment of a server that has the bucket `bucket`.
    private func withServer(
        _ home: TemporaryHome,
        _ body: ([String: String]) async throws -> Void
    ) async throws {
        let server = try StorageServer(
            configuration: ServerConfiguration(
                root: home.path("server"),
                buckets: ["bucket"],
                credentials: [
                    ServerCredentials(accessKeyID: "doctor-key-id", secret: "secret-canary")
                ],
                region: "cn-test-1"
            )
        )
        _ = try server.start()
        defer { server.stop() }
        try await body(Self.keys.merging(["OSS_ENDPOINT": server.url]) { $1 })
    }

    private func link(
        _ home: TemporaryHome,
        _ remote: String,
        _ environment: [String: String],
        profile: String? = nil
    ) throws {
        try DirectoryMirror(
            directory: home.path("dir"),
            remote: BucketLocation(parsing: remote),
            allowsRebinding: true,
            sources: home.sources(environment) { $0.profile = profile }
        ).writeLink()
    }

    @Test func `without a directory looks at the credentials`() async throws {
        let home = try TemporaryHome()
        let good = await examine(home, Self.keys)
        #expect(good.map(\.subject) == ["credentials", "directory"])
        #expect(good.map(\.state) == [.good, .warning])
        #expect(good[0].message == "OSS: a long-lived key, doct…id, from the environment")
        let token = await examine(home, Self.keys.merging(["OSS_SESSION_TOKEN": "canary"]) { $1 })
        #expect(token[0].message == "OSS: a key with a token, doct…id, from the environment")
        let short = await examine(home, Self.keys.merging(["OSS_ACCESS_KEY_ID": "12345678"]) { $1 })
        #expect(short[0].message == "OSS: a long-lived key, ****, from the environment")
        let none = await examine(home, [:])
        #expect(none[0].state == .bad)
        #expect(none[0].message.hasPrefix("OSS: no credentials were found (tried: "))
        #expect(none[1].message.hasPrefix("S3: no credentials were found (tried: "))
        let amazon = ["AWS_ACCESS_KEY_ID": "amazon-key", "AWS_SECRET_ACCESS_KEY": "canary"]
        let other = await examine(home, amazon)
        #expect(other.map(\.subject) == ["credentials", "directory"])
        #expect(other[0].message == "S3: a long-lived key, amaz…ey, from the environment")
        let both = await examine(home, Self.keys.merging(amazon) { $1 })
        #expect(both.map { $0.message.prefix(4) } == ["OSS:", "S3: ", "none"])
        // What cannot be had is said, though there is the other one.
        let half = await examine(home, Self.keys.merging(["AWS_ACCESS_KEY_ID": "half"]) { $1 })
        #expect(half.map(\.state) == [.good, .bad, .warning])
        let path = try home.write(
            ".ossutilconfig",
            "[default]\naccess-key-id = x\naccess-key-secret = canary\n",
            mode: 0o644
        )
        let open = await examine(home, [:])
        #expect(open[0].state == .bad)
        #expect(open[0].message.hasSuffix("run: chmod 600 '\(path)'"))
    }

    @Test func `finds a working mirror good`() async throws {
        let home = try TemporaryHome()
        try await withServer(home) { environment in
            try link(home, "oss://bucket/p", environment)
            let findings = await examine(home, directory: "dir", environment)
            let subjects = [
                "configuration", "credentials", "endpoint", "bucket", "clock", "disk",
                "last success",
            ]
            try #require(findings.map(\.subject) == subjects, "\(findings)")
            #expect(!findings.contains { $0.state == .bad })
            #expect(
                findings[0].message == "'\(home.path("dir"))' is linked with 'oss://bucket/p/'"
            )
            #expect(findings[3].message == "'oss://bucket/p/' can be listed")
            #expect(findings[4].message == "the service accepts requests signed by it")
            #expect(findings[5].message.hasSuffix("iB are free"))
            #expect(findings[6].message.hasPrefix("no complete run of the whole mirror yet"))
            let written = await examine(home, directory: "dir", environment, checksWrite: true)
            #expect(written.map(\.subject)[5] == "writing")
            #expect(written[5].message == "objects can be written")
        }
    }

    @Test func `looks with the profile of the directory`() async throws {
        let home = try TemporaryHome()
        try home.write(
            ".config/osssync/config",
            """
            [profile mine]
            access-key-id = profile-key-id
            access-key-secret = canary
            region = cn-test-1
            endpoint = http://127.0.0.1:1
            """
        )
        try link(home, "oss://bucket", [:], profile: "mine")
        let mirror = try DirectoryMirror(
            directory: home.path("dir"),
            remote: nil,
            allowsRebinding: false,
            sources: home.sources()
        )
        let key = try await mirror.credentials.credentials().accessKeyID
        #expect(key == "profile-key-id")
    }

    @Test func `tells what is wrong with each thing`() async throws {
        let home = try TemporaryHome()
        let absent = await examine(home, directory: "dir", Self.keys)
        #expect(absent.map(\.subject) == ["configuration"])
        #expect(absent.map(\.state) == [.bad])
        #expect(absent[0].message.contains("does not exist"))

        try await withServer(home) { environment in
            try link(home, "oss://other-bucket", environment)
            let bucket = await examine(home, directory: "dir", environment)
            #expect(bucket.first { $0.subject == "bucket" }?.state == .bad)
            #expect(bucket.first { $0.subject == "disk" }?.state != .bad)

            try link(home, "oss://bucket", environment)
            let wrong = environment.merging(["OSS_ACCESS_KEY_SECRET": "canary-2"]) { $1 }
            let key = await examine(home, directory: "dir", wrong)
            #expect(key.first { $0.subject == "bucket" }?.state == .bad)

            let region = environment.merging(["OSS_REGION": "no region"]) { $1 }
            let configuration = await examine(home, directory: "dir", region)
            #expect(configuration[0].subject == "configuration")
            #expect(configuration[0].state == .bad)
        }
    }
}
