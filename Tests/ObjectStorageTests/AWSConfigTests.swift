import FoundationEssentials
import Testing

@testable import ObjectStorage

@Suite("Configuration files of the aws tools")
struct AWSConfigTests {
    private let configuration = """
        # The first line is a comment.
        [default]
        region = eu-west-1 ; and so is this
        s3 =
            addressing_style = path
            max_concurrent_requests = 20
        output = json

        [profile tool]
        credential_process = "/opt/my tool" --get 'a b'
        services = local
        region = us-west-2

        [profile role]
        role_arn = arn:aws:iam::1:role/r
        aws_access_key_id = AKIA-OF-THE-SOURCE
        aws_secret_access_key = canary

        [profile pod]
        role_arn = arn:aws:iam::1:role/pod
        role_session_name = nightly
        web_identity_token_file = /run/token
        region = eu-central-1

        [profile single]
        sso_session = my-sso
        sso_account_id = 1

        [profile login]
        login_session = arn:aws:iam::1:user/u

        [services local]
        dynamodb =
          endpoint_url = http://127.0.0.1:1
        s3 =
          endpoint_url = http://127.0.0.1:2
        """
    private let keys = """
        [default]
        aws_access_key_id=AKIA
        aws_secret_access_key=se/cr+et=
        aws_session_token = token
        """

    /// Runs `body` with the two files, which only the user can read.
    private func with<Value>(
        credentials: String?,
        config: String?,
        mode: Int = 0o600,
        _ body: (_ credentials: String?, _ config: String?) async throws -> Value
    ) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("osssync-aws-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var paths: [String?] = []
        for (name, text) in [("credentials", credentials), ("config", config)] {
            let path = folder.appendingPathComponent(name).path
            paths.append(path)
            guard let text else { continue }
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        return try await body(paths[0], paths[1])
    }

    private func config(_ profile: String?) async throws -> AWSConfig? {
        try await with(credentials: keys, config: configuration) { credentials, config in
            try AWSConfig(credentialsPath: credentials, configPath: config, profile: profile)
        }
    }

    @Test func `a profile is read from both files`() async throws {
        let config = try #require(try await config(nil))
        #expect(
            try config.source()
                == .keys(
                    Credentials(
                        accessKeyID: "AKIA",
                        accessKeySecret: Secret("se/cr+et="),
                        securityToken: Secret("token")
                    )
                )
        )
        let location = LocationSettings(endpoint: nil, region: "eu-west-1", addressing: "path")
        #expect(config.location == location)
    }

    @Test(arguments: [#""my own"  "#, "'my own'", "  \"my own\""]) func `a quoted name is a name`(
        name: String
    ) async throws {
        let text = "[profile \(name)]\nregion = eu-west-9\n[profile  plain\t]\nregion = eu-west-8\n"
        try await with(credentials: nil, config: text) { credentials, config in
            for (profile, region) in [("my own", "eu-west-9"), ("plain", "eu-west-8")] {
                let found = try AWSConfig(
                    credentialsPath: credentials,
                    configPath: config,
                    profile: profile
                )
                #expect(found?.location.region == region)
            }
        }
    }

    @Test func `endpoints are left out where the profile says so`() async throws {
        let text = "[default]\nendpoint_url = http://a\nignore_configured_endpoint_urls = TRUE\n"
        try await with(credentials: nil, config: text) { credentials, config in
            let found = try AWSConfig(
                credentialsPath: credentials,
                configPath: config,
                profile: nil
            )
            #expect(found?.location.endpoint == nil)
        }
    }

    @Test func `nested keys belong to their service`() async throws {
        let config = try #require(try await config("tool"))
        #expect(try config.source() == .process(command: "\"/opt/my tool\" --get 'a b'"))
        #expect(config.location.endpoint == "http://127.0.0.1:2")
        #expect(config.location.region == "us-west-2")
        #expect(config.location.addressing == nil)
    }

    /// Keys beside a role are those that ask for it: to use them would be to act as another one.
    @Test(arguments: [
        ("role", "role_arn"), ("single", "sso_session"), ("login", "login_session"),
    ])
    func `what is not supported is named, with what to do`(
        profile: String,
        setting: String
    ) async throws {
        let config = try #require(try await config(profile))
        let message = #expect(throws: CredentialsError.self) { try config.source() }?.message
        #expect(message?.contains("the profile '\(profile)' in '") == true)
        #expect(message?.contains("/config' gets its credentials from '\(setting)'") == true)
        #expect(
            message?.hasSuffix(
                "credential_process = aws configure export-credentials "
                    + "--profile \(profile)"
            ) == true
        )
    }

    @Test func `a role with the file of a token is taken with its settings`() async throws {
        let config = try #require(try await config("pod"))
        let settings = RoleSettings(
            role: "arn:aws:iam::1:role/pod",
            session: "nightly",
            region: "eu-central-1"
        )
        #expect(try config.source() == .tokenFile(settings, .aws, path: "/run/token"))
    }

    @Test func `keys that others can read are refused`() async throws {
        try await with(credentials: keys, config: nil, mode: 0o644) { credentials, config in
            let provider = FileCredentials(
                path: try #require(credentials),
                format: .aws(credentials: credentials, config: config),
                profile: nil,
                context: .withoutServices
            )
            let error = await #expect(throws: CredentialsError.self) {
                try await provider.credentials()
            }
            #expect(error?.message.contains("chmod 600") == true)
        }
    }

    @Test(arguments: [(0o644, true), (0o664, false), (0o646, false)] as [(Int, Bool)])
    func `a command may be read by others, and not changed`(
        mode: Int,
        isTaken: Bool
    ) async throws {
        let text = "[default]\ncredential_process = /bin/true\n"
        try await with(credentials: nil, config: text, mode: mode) { _, path in
            let config = try #require(
                try AWSConfig(credentialsPath: nil, configPath: path, profile: nil)
            )
            let source = try #require(try config.source())
            if isTaken {
                try config.requirePrivacy(of: source)
            } else {
                #expect(throws: CredentialsError.self) { try config.requirePrivacy(of: source) }
            }
        }
    }

    @Test func `without files there is nothing`() async throws {
        try await with(credentials: nil, config: nil) { credentials, config in
            let found = try AWSConfig(
                credentialsPath: credentials,
                configPath: config,
                profile: nil
            )
            #expect(found == nil)
        }
    }
}
