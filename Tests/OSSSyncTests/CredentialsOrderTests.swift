import ObjectStorage
import Testing

@testable import OSSSync

@Suite("The order of credentials")
struct CredentialsOrderTests {
    private static let variables = [
        "OSS_ACCESS_KEY_ID": "env", "OSS_ACCESS_KEY_SECRET": "s", "OSS_REGION": "cn-hangzhou",
    ]
    private static let region = ["OSS_REGION": "cn-hangzhou"]

    /// An INI section with a key.
    private static func section(_ name: String, _ id: String) -> String {
        "[\(name)]\naccess-key-id = \(id)\naccess-key-secret = s\n"
    }

    private static func aliyun(_ profiles: String...) -> String {
        let list = profiles.map {
            #"{"name":"\#($0)","mode":"AK","access_key_id":"aliyun-\#($0)","#
                + #""access_key_secret":"s"}"#
        }
        return #"{"current":"\#(profiles[0])","profiles":[\#(list.joined(separator: ","))]}"#
    }

    private func keyID(
        _ home: TemporaryHome,
        _ environment: [String: String] = region,
        link: LinkFile? = nil,
        remote: String = "oss://bucket",
        _ change: (inout ConnectionOptions) -> Void = { _ in }
    ) async throws -> String {
        let found = try home.resolve(environment, link: link, remote: remote, change)
        return try await found.credentials.credentials().accessKeyID
    }

    @Test func `is the environment, then osssync's file, ossutil's and aliyun's`() async throws {
        let home = try TemporaryHome()
        try home.write(".config/osssync/config", Self.section("default", "own"))
        try home.write(".ossutilconfig", Self.section("default", "ossutil"))
        try home.write(".aliyun/config.json", Self.aliyun("main"))
        let alibaba = [
            "ALIBABA_CLOUD_ACCESS_KEY_ID": "alibaba", "ALIBABA_CLOUD_ACCESS_KEY_SECRET": "s",
        ]
        let both = alibaba.merging(Self.variables) { $1 }
        #expect(try await keyID(home, both) == "env")
        #expect(try await keyID(home, alibaba.merging(Self.region) { $1 }) == "alibaba")
        #expect(try await keyID(home) == "own")
        try home.write(".config/osssync/config", "[default]\nregion = cn-hangzhou\n")
        #expect(try await keyID(home, [:]) == "ossutil")
        try home.write(".ossutilconfig", "[Credentials]\naccessKeyID=v1\naccessKeySecret=s\n")
        #expect(try await keyID(home) == "v1")
        try home.write(".ossutilconfig", "")
        #expect(try await keyID(home) == "aliyun-main")
    }

    @Test func `ends with what to set`() async throws {
        let home = try TemporaryHome()
        let error = await #expect(throws: CredentialsError.self) { try await keyID(home) }
        let tried =
            ["environment"]
            + [".config/osssync/config", ".ossutilconfig", ".aliyun/config.json"].map(home.path)
            + ["$ALIBABA_CLOUD_CREDENTIALS_URI", "$ALIBABA_CLOUD_OIDC_PROVIDER_ARN"]
        #expect(
            error?.message == "no credentials were found (tried: "
                + tried.joined(separator: ", ")
                + "); set OSS_ACCESS_KEY_ID and OSS_ACCESS_KEY_SECRET"
        )
        let amazon = await #expect(throws: CredentialsError.self) {
            try await keyID(home, remote: "s3://bucket")
        }
        #expect(
            amazon?.message.hasSuffix("; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY") == true
        )
    }

    @Test func `stops at half a key`() async throws {
        let home = try TemporaryHome()
        try home.write(".ossutilconfig", Self.section("default", "ossutil"))
        let half = ["OSS_ACCESS_KEY_ID": "env", "OSS_REGION": "cn-hangzhou"]
        let error = await #expect(throws: CredentialsError.self) { try await keyID(home, half) }
        #expect(error?.message == "OSS_ACCESS_KEY_ID has credentials without an access key secret")
        let path = try home.write(".config/osssync/config", "[default]\naccess-key-id = own\n")
        let refused = await #expect(throws: TransferError.self) { try await keyID(home) }
        #expect(refused?.code == .configuration)
        #expect(refused?.message == "\(path) has credentials without an access key secret")
    }

    @Test func `of s3 has AWS's names and files only`() async throws {
        let home = try TemporaryHome()
        try home.write(".ossutilconfig", Self.section("default", "ossutil"))
        let path = ".aws/credentials"
        try home.write(path, "[default]\naws_access_key_id=aws\naws_secret_access_key=s\n")
        #expect(try await keyID(home, Self.variables, remote: "s3://bucket") == "aws")
        let variables = ["AWS_ACCESS_KEY_ID": "env", "AWS_SECRET_ACCESS_KEY": "s"]
        #expect(try await keyID(home, variables, remote: "s3://bucket") == "env")
        try home.write(".config/osssync/config", Self.section("default", "own"))
        #expect(try await keyID(home, remote: "s3://bucket") == "own")
    }

    // MARK: - Profiles

    @Test func `begins with a profile that was asked for`() async throws {
        let home = try TemporaryHome()
        try home.write(".config/osssync/config", Self.section("profile a", "own-a"))
        try home.write(".ossutilconfig", Self.section("profile b", "ossutil-b"))
        try home.write(".aliyun/config.json", Self.aliyun("main", "c"))
        for (name, id) in [("a", "own-a"), ("b", "ossutil-b"), ("c", "aliyun-c")] {
            #expect(try await keyID(home, Self.variables) { $0.profile = name } == id)
            // The directory's own profile gives way to the environment.
            let link = TemporaryHome.link { $0.profile = name }
            #expect(try await keyID(home, Self.variables, link: link) == "env")
            #expect(try await keyID(home, link: link) == id)
        }
        let link = TemporaryHome.link { $0.profile = "b" }
        #expect(try await keyID(home, link: link) { $0.profile = "a" } == "own-a")
    }

    @Test func `takes the environment for a profile without a key`() async throws {
        let home = try TemporaryHome()
        try home.write(".config/osssync/config", "[profile a]\nregion = cn-beijing\n")
        let variables = ["OSS_ACCESS_KEY_ID": "env", "OSS_ACCESS_KEY_SECRET": "s"]
        #expect(try await keyID(home, variables) { $0.profile = "a" } == "env")
        #expect(try home.resolve(variables) { $0.profile = "a" }.endpoint.region == "cn-beijing")
    }

    @Test func `never takes another account for a profile that nobody has`() async throws {
        let home = try TemporaryHome()
        try home.write(".config/osssync/config", Self.section("default", "own"))
        // The first version of ossutil has one account, whatever profile is asked for.
        try home.write(".ossutilconfig", "[Credentials]\naccessKeyID=v1\naccessKeySecret=s\n")
        try home.write(".aliyun/config.json", Self.aliyun("main"))
        let files = [".config/osssync/config", ".ossutilconfig", ".aliyun/config.json"]
        let message =
            "there is no profile 'typo' in " + files.map(home.path).joined(separator: ", ")
        let asked = await #expect(throws: TransferError.self) {
            try await keyID(home, Self.variables) { $0.profile = "typo" }
        }
        #expect(asked?.code == .configuration)
        #expect(asked?.message == message)
        let link = TemporaryHome.link { $0.profile = "typo" }
        let linked = await #expect(throws: TransferError.self) { try await keyID(home, link: link) }
        #expect(linked?.message == message)
        for variable in [true, false] {
            let error = await #expect(throws: TransferError.self) {
                try await keyID(
                    home,
                    variable ? ["AWS_PROFILE": "typo"] : [:],
                    remote: "s3://bucket"
                ) {
                    $0.profile = variable ? nil : "typo"
                }
            }
            #expect(error?.message.hasPrefix("there is no profile 'typo' in ") == true)
        }
        #expect(try await keyID(home) { $0.profile = "default" } == "own")
    }

    @Test func `an unknown profile is named before what it would have said`() async throws {
        let home = try TemporaryHome()
        for remote in ["oss://bucket", "s3://bucket"] {
            let error = #expect(throws: TransferError.self) {
                try home.resolve(Self.variables, remote: remote) {
                    ($0.profile, $0.endpoint, $0.region) = ("typo", nil, nil)
                }
            }
            #expect(error?.message.hasPrefix("there is no profile 'typo'") == true)
        }
    }

    @Test func `takes the profile that AWS_PROFILE names before any default`() async throws {
        let home = try TemporaryHome()
        try home.write(
            ".config/osssync/config",
            Self.section("default", "own") + Self.section("profile both", "own-both")
        )
        func aws(_ name: String) -> String {
            "[\(name)]\naws_access_key_id = aws-\(name)\naws_secret_access_key = s\n"
        }
        try home.write(".aws/credentials", aws("default") + aws("work") + aws("both"))
        func key(_ profile: String?, _ asked: String? = nil) async throws -> String {
            try await keyID(
                home,
                profile.map { ["AWS_PROFILE": $0] } ?? [:],
                remote: "s3://bucket"
            ) { $0.profile = asked }
        }
        #expect(try await key("work") == "aws-work")
        #expect(try await key("default") == "aws-default")
        #expect(try await key("both") == "own-both")
        #expect(try await key("work", "both") == "own-both")
        #expect(try await key("work", "default") == "own")
        #expect(try await key("") == "own")
        // The variable is none of OSS's business.
        #expect(try await keyID(home, ["AWS_PROFILE": "work"].merging(Self.region) { $1 }) == "own")
    }

    // MARK: - Files with secrets, and processes

    @Test func `refuses secrets that others can read`() async throws {
        let secrets = [
            (".config/osssync/config", Self.section("default", "own")),
            (".ossutilconfig", Self.section("default", "ossutil")),
            (".ossutilconfig", "[Credentials]\naccessKeyID=v1\naccessKeySecret=canary\n"),
            (".aliyun/config.json", Self.aliyun("main")),
            (".config/osssync/config", "[default]\ncredential-process = /bin/true\n"),
        ]
        for (name, content) in secrets {
            for mode in [0o640, 0o604, 0o666] {
                let home = try TemporaryHome()
                let path = try home.write(name, content, mode: mode)
                let error = #expect(throws: TransferError.self) { try home.resolve(Self.region) }
                #expect(error?.code == .configuration)
                #expect(
                    error?.message == "'\(path)' holds secrets and is open to other users; "
                        + "run: chmod 600 '\(path)'"
                )
                // Nothing of the file is used, so nothing is refused.
                #expect(try await keyID(home, Self.variables) == "env")
            }
        }
        let home = try TemporaryHome()
        try home.write(".config/osssync/config", "[default]\nregion = cn-hangzhou\n", mode: 0o644)
        #expect(throws: Never.self) { try home.resolve() }
    }

    @Test func `asks the process of a profile`() async throws {
        let home = try TemporaryHome()
        let answer = try home.write("answer", #"{"AccessKeyId":"made","AccessKeySecret":"s"}"#)
        try home.write(
            ".config/osssync/config",
            """
            [profile tool]
            credential-process = /bin/cat \(answer)
            [profile keys]
            access-key-id = own
            access-key-secret = s
            credential-process = /bin/false
            [profile broken]
            mode = Process
            """
        )
        #expect(try await keyID(home, Self.variables) { $0.profile = "tool" } == "made")
        #expect(try await keyID(home) { $0.profile = "keys" } == "own")
        let error = #expect(throws: TransferError.self) {
            try home.resolve(Self.region) { $0.profile = "broken" }
        }
        #expect(error?.message.hasSuffix("has credentials without a credential-process") == true)
    }

    @Test func `asks a service at last`() async throws {
        let home = try TemporaryHome()
        let found = try home.resolve([
            "OSS_REGION": "cn-hangzhou", "ALIBABA_CLOUD_CREDENTIALS_URI": "ftp://nowhere",
        ])
        let error = await #expect(throws: CredentialsError.self) {
            try await found.credentials.credentials()
        }
        #expect(
            error?.message == "the credentials URI: it must begin with http:// or https://"
        )
    }
}
