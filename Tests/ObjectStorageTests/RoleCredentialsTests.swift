import FoundationEssentials
import SyncModel
import Testing

@testable import ObjectStorage

@Suite("Credentials of roles")
struct RoleCredentialsTests {
    private static let alibaba = """
        {"RequestId":"R","Credentials":{"AccessKeyId":"STS.A","AccessKeySecret":"B",
        "SecurityToken":"T","Expiration":"2026-01-02T09:00:00Z"},"AssumedRoleUser":{"Arn":"x"}}
        """
    private static let aws = """
        <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
        <AssumeRoleWithWebIdentityResult><Credentials><SessionToken>T</SessionToken>
        <SecretAccessKey>B</SecretAccessKey><Expiration>2026-01-02T09:00:00Z</Expiration>
        <AccessKeyId>ASIA</AccessKeyId></Credentials></AssumeRoleWithWebIdentityResult>
        </AssumeRoleWithWebIdentityResponse>
        """

    private func context(
        _ service: ScriptedHTTP,
        _ environment: [String: String] = [:],
        allowsInsecureHTTP: Bool = false
    ) -> CredentialsContext {
        CredentialsContext(
            environment: environment,
            http: service.send,
            remoteHTTP: service.send,
            allowsInsecureHTTP: allowsInsecureHTTP,
            now: { Timestamp(seconds: 1_767_323_045) },
            nonce: { "once" },
            processTimeLimit: .seconds(1)
        )
    }

    private func withToken<Value>(
        _ text: String,
        _ body: (String) async throws -> Value
    ) async throws -> Value {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("osssync-token-\(UUID().uuidString)").path
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await body(path)
    }

    private func aliyun(_ text: String) throws -> AliyunConfig {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("osssync-aliyun-\(UUID().uuidString)").path
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try AliyunConfig(try #require(try ConfigurationFile(path: path)))
    }

    /// The example of the public documentation of signatures of the RPC interface.
    @Test func `a request is signed as the documentation shows`() {
        let query = AssumedRole.encoded([
            ("Version", "2014-05-26"), ("Timestamp", "2016-02-23T12:46:24Z"),
            ("SignatureVersion", "1.0"), ("Format", "XML"), ("AccessKeyId", "testid"),
            ("SignatureNonce", "3ee8c1b8-83d3-44af-a94f-4e0ad82fd6cf"),
            ("SignatureMethod", "HMAC-SHA1"), ("Action", "DescribeRegions"),
        ])
        let key = Credentials(accessKeyID: "testid", accessKeySecret: Secret("testsecret"))
        #expect(
            AssumedRole.signature(of: query, method: "GET", key) == "OLeaidS1JvxuMvnyHOwuJ+uX5qY="
        )
    }

    @Test func `a role is assumed by the key of its profile, and by a chain of profiles`()
        async throws
    {
        let service = ScriptedHTTP([
            "POST https://sts.aliyuncs.com/": (200, Self.alibaba),
            "POST https://sts.cn-hangzhou.aliyuncs.com/": (200, Self.alibaba),
        ])
        let text = """
            {"current":"chain","profiles":[
            {"name":"base","mode":"RamRoleArn","access_key_id":"ID","access_key_secret":"canary",
             "ram_role_arn":"acs:ram::1:role/a","ram_session_name":"s","expired_seconds":900},
            {"name":"chain","mode":"ChainableRamRoleArn","source_profile":"base",
             "ram_role_arn":"acs:ram::2:role/b","sts_region":"cn-hangzhou","external_id":"x y"},
            {"name":"loop","mode":"ChainableRamRoleArn","source_profile":"loop",
             "ram_role_arn":"r"},
            {"name":"bare","mode":"RamRoleArn","access_key_id":"ID","access_key_secret":"s"}]}
            """
        let config = try aliyun(text)
        let source = try #require(try config.source(profile: nil))
        #expect(source.needsPrivateFile)
        let found = try await context(service).provider(for: source).credentials()
        #expect(found.accessKeyID == "STS.A" && found.securityToken == Secret("T"))
        #expect(found.expires == Timestamp(seconds: 1_767_344_400))
        #expect(service.requests.count == 2)
        let first = service.bodies[0]
        #expect(
            first.hasPrefix("AccessKeyId=ID&Action=AssumeRole&DurationSeconds=900&Format=JSON&")
        )
        #expect(first.contains("&RoleArn=acs%3Aram%3A%3A1%3Arole%2Fa&RoleSessionName=s&"))
        #expect(first.contains("&Timestamp=2026-01-02T03%3A04%3A05Z&") && !first.contains("canary"))
        let second = service.bodies[1]
        #expect(second.contains("AccessKeyId=STS.A&") && second.contains("&ExternalId=x%20y&"))
        #expect(
            second.contains("&SecurityToken=T&") && second.contains("&RoleSessionName=osssync&")
        )
        #expect(throws: CredentialsError.self) { try config.source(profile: "loop") }
        let bare = #expect(throws: CredentialsError.self) { try config.source(profile: "bare") }
        #expect(bare?.message.contains("without a ram_role_arn") == true)
    }

    @Test func `a token in a file is exchanged, and read anew each time`() async throws {
        let service = ScriptedHTTP(["POST https://sts.aliyuncs.com/": (200, Self.alibaba)])
        try await withToken("first\n") { path in
            let text = """
                {"current":"pod","profiles":[{"name":"pod","mode":"OIDC","ram_role_arn":"r",
                "oidc_provider_arn":"p/q","oidc_token_file":"\(path)"}]}
                """
            let source = try #require(try aliyun(text).source(profile: nil))
            let provider = try context(service).provider(for: source)
            _ = try await provider.credentials()
            try Data("second".utf8).write(to: URL(fileURLWithPath: path))
            #expect(try await provider.credentials().accessKeyID == "STS.A")
            #expect(service.bodies[0].contains("Action=AssumeRoleWithOIDC&"))
            #expect(service.bodies[0].contains("OIDCProviderArn=p%2Fq&OIDCToken=first&RoleArn=r&"))
            #expect(service.bodies[1].contains("OIDCToken=second&"))
        }
    }

    @Test func `variables name the role and the token, and the region of the service`()
        async throws
    {
        let service = ScriptedHTTP([
            "POST https://sts-vpc.cn-beijing.aliyuncs.com/": (200, Self.alibaba),
            "POST https://sts.eu-west-1.amazonaws.com/": (200, Self.aws),
            "POST https://sts.cn-north-1.amazonaws.com.cn/": (200, Self.aws),
            "POST http://127.0.0.1:9/x/": (200, Self.aws),
        ])
        try await withToken("tok") { path in
            let oss = [
                "ALIBABA_CLOUD_ROLE_ARN": "r", "ALIBABA_CLOUD_OIDC_PROVIDER_ARN": "p",
                "ALIBABA_CLOUD_OIDC_TOKEN_FILE": path, "ALIBABA_CLOUD_STS_REGION": "cn-beijing",
                "ALIBABA_CLOUD_VPC_ENDPOINT_ENABLED": "true",
            ]
            let role = try #require(context(service, oss).alibabaTokenFile)
            #expect(try await role.credentials().accessKeyID == "STS.A")
            var aws = [
                "AWS_ROLE_ARN": "r", "AWS_WEB_IDENTITY_TOKEN_FILE": path,
                "AWS_REGION": "eu-west-1", "AWS_ROLE_SESSION_NAME": "night",
            ]
            let first = try #require(context(service, aws).awsTokenFile)
            let found = try await first.credentials()
            #expect(found.accessKeyID == "ASIA" && found.securityToken == Secret("T"))
            #expect(found.expires == Timestamp(seconds: 1_767_344_400))
            #expect(service.bodies.last?.contains("WebIdentityToken=tok&RoleArn=r&") == true)
            aws["AWS_REGION"] = "cn-north-1"
            _ = try await context(service, aws).awsTokenFile?.credentials()
            aws["AWS_ENDPOINT_URL_STS"] = "http://127.0.0.1:9/x/"
            _ = try await context(service, aws).awsTokenFile?.credentials()
            #expect(service.requests.last?.hasPrefix("POST http://127.0.0.1:9/x/ ") == true)
            aws["AWS_ENDPOINT_URL_STS"] = "http://far.example"
            let open = context(service, aws).awsTokenFile
            let error = await #expect(throws: CredentialsError.self) {
                try await open?.credentials()
            }
            #expect(error?.message.contains("over https") == true)
            #expect(context(service, ["AWS_ROLE_ARN": "r"]).awsTokenFile == nil)
            #expect(context(service, ["ALIBABA_CLOUD_ROLE_ARN": "r"]).alibabaTokenFile == nil)
        }
    }

    @Test func `a refusal is told by its code, and without a secret`() async throws {
        let refusal = #"{"Code":"NoPermission","Message":"canary","RequestId":"R"}"#
        let error = """
            <ErrorResponse><Error><Type>Sender</Type><Code>ExpiredTokenException</Code>
            <Message>canary</Message></Error></ErrorResponse>
            """
        let service = ScriptedHTTP([
            "POST https://sts.aliyuncs.com/": (403, refusal),
            "POST https://sts.amazonaws.com/": (400, error),
        ])
        let source = ConfiguredSource.role(
            RoleSettings(role: "r", session: nil, region: nil),
            by: .keys(Credentials(accessKeyID: "A", accessKeySecret: Secret("canary")))
        )
        let refused = await #expect(throws: CredentialsError.self) {
            try await context(service).provider(for: source).credentials()
        }
        #expect(
            refused?.message == "the role 'r' by a given key: the token service answered 403 with "
                + "'NoPermission'"
        )
        try await withToken("canary") { path in
            let environment = ["AWS_ROLE_ARN": "r", "AWS_WEB_IDENTITY_TOKEN_FILE": path]
            let role = try #require(context(service, environment).awsTokenFile)
            let expired = await #expect(throws: CredentialsError.self) {
                try await role.credentials()
            }
            #expect(expired?.message.hasSuffix("answered 400 with 'ExpiredTokenException'") == true)
            #expect(expired?.message.contains("canary") == false)
        }
        let environment = [
            "AWS_ROLE_ARN": "r", "AWS_WEB_IDENTITY_TOKEN_FILE": "/nonexistent/token",
        ]
        let missing = try #require(context(service, environment).awsTokenFile)
        let absent = await #expect(throws: CredentialsError.self) {
            try await missing.credentials()
        }
        #expect(absent?.message.hasSuffix("there is no such file") == true)
    }

    @Test func `the agent of a container is asked with its token`() async throws {
        let answer =
            #"{"AccessKeyId":"ASIA","SecretAccessKey":"B","Token":"T","#
            + #""Expiration":"2026-01-02T09:00:00Z"}"#
        let service = ScriptedHTTP([
            "GET http://169.254.170.2/creds": (200, answer),
            "GET http://169.254.170.23/v1/credentials": (200, answer),
        ])
        func agent(_ variables: [String: String]) -> ContainerCredentials? {
            let environment = Dictionary(
                uniqueKeysWithValues: variables.map { ("AWS_CONTAINER_" + $0.key, $0.value) }
            )
            return ContainerCredentials(environment: environment, http: service.send)
        }
        #expect(agent([:]) == nil)
        let ecs = try #require(agent(["CREDENTIALS_RELATIVE_URI": "/creds"]))
        let found = try await ecs.credentials()
        #expect(found.accessKeyID == "ASIA" && found.securityToken == Secret("T"))
        try await withToken("Bearer x\n") { path in
            let eks = try #require(
                agent([
                    "CREDENTIALS_FULL_URI": "http://169.254.170.23/v1/credentials",
                    "AUTHORIZATION_TOKEN_FILE": path,
                ])
            )
            _ = try await eks.credentials()
            #expect(service.requests.last?.hasSuffix(" Authorization: Bearer x") == true)
        }
        for address in ["http://far.example/c", "ftp://127.0.0.1/c", "http://127.0.0.1@far/c"] {
            let open = try #require(agent(["CREDENTIALS_FULL_URI": address]))
            await #expect(throws: CredentialsError.self, "\(address)") {
                try await open.credentials()
            }
        }
        let split = try #require(
            agent(["CREDENTIALS_RELATIVE_URI": "/creds", "AUTHORIZATION_TOKEN": "a\r\nb"])
        )
        await #expect(throws: CredentialsError.self) { try await split.credentials() }
    }
}
