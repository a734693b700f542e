import Foundation
import Testing

@testable import OSSSync

@Suite("A mirror's link")
struct MirrorTests {
    private static let environment = ["OSS_REGION": "cn-hangzhou"]

    private func mirror(
        _ home: TemporaryHome,
        _ remote: String? = nil,
        rebinds: Bool = false,
        environment: [String: String] = environment,
        _ change: (inout ConnectionOptions) -> Void = { _ in }
    ) throws -> DirectoryMirror {
        try DirectoryMirror(
            directory: home.path("dir"),
            remote: remote.map(BucketLocation.init(parsing:)),
            allowsRebinding: rebinds,
            sources: home.sources(environment, change)
        )
    }

    @Test func `is read back, and knows where its bucket is`() throws {
        let home = try TemporaryHome()
        let first = try mirror(home, "oss://bucket/p") { $0.region = "cn-beijing" }
        #expect(!first.isLinked)
        try first.writeLink()
        let second = try mirror(home)
        #expect(second.isLinked)
        #expect(second.remote.text == "oss://bucket/p/")
        #expect(try mirror(home, "oss://bucket/p", environment: [:]).isLinked)
        // What is not said again stays.
        try mirror(home, "oss://bucket/p", environment: [:]) { $0.signature = "v1" }.writeLink()
        let path = home.path("dir/.osssync/config")
        let content = try String(contentsOfFile: path, encoding: .utf8)
        #expect(content.contains("region = cn-beijing\n"))
        #expect(content.contains("signature = v1\n"))
        // What was used is recorded, also if the environment said so.
        let endpoint = "https://oss.example.com"
        try mirror(
            home,
            environment: ["OSS_REGION": "cn-hangzhou", "OSS_ENDPOINT": endpoint]
        ).writeLink()
        let later = try String(contentsOfFile: path, encoding: .utf8)
        #expect(later.contains("region = cn-hangzhou\nendpoint = \(endpoint)\nsignature = v1\n"))
    }

    @Test func `to another remote is refused unless that is meant`() throws {
        let home = try TemporaryHome()
        try mirror(home, "oss://bucket/p") { $0.region = "cn-beijing" }.writeLink()
        let error = #expect(throws: TransferError.self) { try mirror(home, "oss://bucket/q") }
        #expect(error?.code == .refused)
        #expect(
            error?.message == "'\(home.path("dir"))' is linked with 'oss://bucket/p/', not with "
                + "'oss://bucket/q/'; nothing was changed. If the remote changed on purpose, "
                + "use --rebind"
        )
        let moved = try mirror(home, "oss://bucket/q", rebinds: true)
        #expect(!moved.isLinked)
        try moved.writeLink()
        let content = try String(contentsOfFile: home.path("dir/.osssync/config"), encoding: .utf8)
        #expect(!content.contains("cn-beijing"), "the old remote's region is not the new one's")
    }

    @Test func `is missed where there is none`() throws {
        let home = try TemporaryHome()
        for problem in [
            "does not exist; check that its disk is mounted, or create it",
            "is not linked with a remote; specify one as oss://BUCKET/PREFIX or s3://BUCKET/PREFIX,"
                + " or run 'osssync init DIR REMOTE' first",
        ] {
            let error = #expect(throws: TransferError.self) { try mirror(home) }
            #expect(error?.message == "'\(home.path("dir"))' \(problem)")
            #expect(!FileManager.default.fileExists(atPath: home.path("dir/.osssync")))
            try FileManager.default.createDirectory(
                atPath: home.path("dir"),
                withIntermediateDirectories: true
            )
        }
    }

    @Test func `lies where the state is`() throws {
        let home = try TemporaryHome()
        let state = home.path("state")
        try mirror(home, "oss://bucket/p") { $0.stateDirectory = state }.writeLink()
        #expect(FileManager.default.fileExists(atPath: state + "/config"))
        #expect(try mirror(home) { $0.stateDirectory = state }.isLinked)
        #expect(throws: TransferError.self) { try mirror(home) }
    }

    @Test func `that was edited badly is told with its path and line`() throws {
        let home = try TemporaryHome()
        let path = try home.write("dir/.osssync/config", "[mirror]\nremote\n", mode: 0o600)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o700],
            ofItemAtPath: home.path("dir/.osssync")
        )
        let error = #expect(throws: TransferError.self) { try mirror(home) }
        #expect(error?.message.hasPrefix("'\(path)': line 2 ") == true)
        try home.write("dir/.osssync/config", "[mirror]\nremote = ftp://bucket\n")
        let remote = #expect(throws: TransferError.self) { try mirror(home) }
        #expect(remote?.code == .configuration)
    }
}
