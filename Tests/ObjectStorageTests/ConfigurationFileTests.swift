import FoundationEssentials
import Testing

@testable import ObjectStorage

@Suite("Configuration files of other tools")
struct ConfigurationFileTests {
    @Test func `ossutil 1 gives keys and the place of each bucket`() async throws {
        let text = """
            [Credentials]
            language=EN
            endpoint=oss-cn-hangzhou.aliyuncs.com
            accessKeyID=LTAI
            accessKeySecret=secret
            stsToken=token
            [Bucket-Endpoint]
            one=oss-cn-shanghai.aliyuncs.com
            [Bucket-Cname]
            two-b=files.example.com
            """
        let found = try await credentials(text, .ossutil)
        #expect(found.accessKeyID == "LTAI")
        #expect(found.accessKeySecret == Secret("secret"))
        #expect(found.securityToken == Secret("token"))
        let config = try withFile(text) { try OssutilConfig($0) }
        let location = config.location(profile: nil, bucket: "other")
        #expect(location.endpoint == "oss-cn-hangzhou.aliyuncs.com")
        #expect(
            config.location(profile: nil, bucket: "one").endpoint == "oss-cn-shanghai.aliyuncs.com"
        )
        let cname = config.location(profile: nil, bucket: "two-b")
        #expect(cname.endpoint == "files.example.com")
        #expect(cname.addressing == "cname")
    }

    @Test func `ossutil 2 gives profiles and buckets`() async throws {
        let text = """
            [default]
            access-key-id = A
            access_key_secret = B
            region = cn-hangzhou
            [profile dev]
            mode = EcsRamRole
            ecs-role-name = role
            region = cn-shanghai
            sign-version = v1
            [profile tool]
            mode = Process
            credential-process = "/usr/bin/tool --get"
            [profile far]
            mode = RamRoleArn
            [buckets mine]
            region = cn-beijing
            endpoint = https://oss-cn-beijing.aliyuncs.com
            addressing-style = path
            """
        #expect(try await credentials(text, .ossutil).accessKeyID == "A")
        let config = try withFile(text) { try OssutilConfig($0) }
        #expect(try config.source(profile: "dev") == .instanceRole(name: "role"))
        #expect(try config.source(profile: "tool") == .process(command: "/usr/bin/tool --get"))
        #expect(try config.source(profile: "absent") == nil)
        #expect(config.hasProfile("dev") && !config.hasProfile("absent"))
        let error = #expect(throws: CredentialsError.self) { try config.source(profile: "far") }
        #expect(error?.message.contains("'RamRoleArn'") == true)
        #expect(config.location(profile: "dev", bucket: nil).region == "cn-shanghai")
        #expect(config.location(profile: "dev", bucket: nil).signature == "v1")
        let mine = config.location(profile: nil, bucket: "mine")
        #expect(mine.region == "cn-beijing")
        #expect(mine.addressing == "path")
    }

    @Test func `the aliyun tool's profiles are read by mode`() async throws {
        let text = """
            {"current":"main","profiles":[
             {"name":"main","mode":"AK","access_key_id":"A","access_key_secret":"B",
              "sts_token":"old","region_id":"cn-hangzhou","expired_seconds":900},
             {"name":"sts","mode":"StsToken","access_key_id":"C","access_key_secret":"D",
              "sts_token":"T"},
             {"name":"role","mode":"EcsRamRole","ram_role_name":""},
             {"name":"ext","mode":"External","process_command":"tool get"},
             {"name":"uri","mode":"CredentialsURI","credentials_uri":"http://localhost/x"},
             {"name":"sso","mode":"CloudSSO"},{"name":"empty","mode":"AK"}]}
            """
        let found = try await credentials(text, .aliyun)
        #expect(found.accessKeyID == "A")
        #expect(found.securityToken == nil, "a key of its own has no token")
        #expect(try await credentials(text, .aliyun, profile: "sts").securityToken == Secret("T"))
        let config = try withFile(text) { try AliyunConfig($0) }
        #expect(try config.source(profile: "role") == .instanceRole(name: nil))
        #expect(try config.source(profile: "ext") == .process(command: "tool get"))
        #expect(try config.source(profile: "uri") == .uri("http://localhost/x"))
        #expect(try config.source(profile: "empty") == nil)
        #expect(throws: CredentialsError.self) { try config.source(profile: "sso") }
        #expect(try config.source(profile: "absent") == nil)
        #expect(config.hasProfile("sts") && !config.hasProfile("absent"))
        #expect(config.location(profile: nil).region == "cn-hangzhou")
    }

    @Test func `a section of osssync's own file is read like a profile`() async throws {
        let text = "[remote]\nendpoint=x\naccess-key-id=A\naccess-key-secret=B\n[other]\nx=y\n"
        #expect(try await credentials(text, .section("remote")).accessKeyID == "A")
        for section in ["other", "absent"] {
            await #expect(throws: CredentialsError.self) {
                try await credentials(text, .section(section))
            }
        }
    }

    @Test(arguments: [0o644, 0o640, 0o604, 0o660, 0o620, 0o602])
    func `a file with secrets that others can open is refused`(mode: Int) async throws {
        let text = "[default]\naccessKeyID=A\naccessKeySecret=B\n"
        let error = await #expect(throws: CredentialsError.self) {
            try await credentials(text, .ossutil, mode: mode)
        }
        guard case .exposedFile(let path, _) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(error?.message.hasSuffix("run: chmod 600 '\(path)'") == true)
        #expect(ConfigurationFile.exposure(mode: 0o100_400, owner: 0) == nil)
        #expect(ConfigurationFile.exposure(mode: 0o100_600, owner: 54_321) != nil)
    }

    @Test func `broken files are errors without their contents`() async {
        for (text, format) in [
            ("{\"profiles\":[{\"access_key_secret\": 1canary}]}", FileCredentials.Format.aliyun),
            ("[default]\ncanary canary", .ossutil),
        ] {
            let error = await #expect(throws: CredentialsError.self) {
                try await credentials(text, format)
            }
            #expect(error?.message.contains("canary") == false)
        }
        await #expect(throws: CredentialsError.self) {
            try await FileCredentials(
                path: "/",
                format: .ossutil,
                profile: nil,
                context: .withoutServices
            ).credentials()
        }
    }

    private func credentials(
        _ text: String,
        _ format: FileCredentials.Format,
        profile: String? = nil,
        mode: Int = 0o600
    ) async throws -> Credentials {
        let path = try write(text, mode: mode)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await FileCredentials(
            path: path,
            format: format,
            profile: profile,
            context: .withoutServices
        ).credentials()
    }

    private func withFile<Result>(
        _ text: String,
        _ body: (ConfigurationFile) throws -> Result
    ) throws -> Result {
        let path = try write(text, mode: 0o600)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(try #require(try ConfigurationFile(path: path)))
    }

    private func write(_ text: String, mode: Int) throws -> String {
        let manager = FileManager.default
        let path = manager.temporaryDirectory.appending(path: "config-\(UUID())").path
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        try manager.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }
}
