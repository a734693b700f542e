import SyncModel
import Synchronization
import Testing

@testable import ObjectStorage

@Suite("Credentials of processes and services")
struct CredentialsServiceTests {
    @Test(arguments: [
        #""AccessKeyId":"A","AccessKeySecret":"B","SecurityToken":"T","Expiration":"#
            + #""2026-01-02T03:04:05Z""#,
        #""mode":"StsToken","access_key_id":"A","access_key_secret":"B","sts_token":"T","#
            + #""expiration":"2026-01-02T03:04:05Z""#,
        #""Version":1,"AccessKeyId":"A","SecretAccessKey":"B","SessionToken":"T","#
            + #""Expiration":"2026-01-02T03:04:05+00:00""#,
    ])
    func `a process may print any of the known forms`(members: String) async throws {
        let found = try await run("/bin/echo '{\(members)}'")
        #expect(found.accessKeyID == "A")
        #expect(found.accessKeySecret == Secret("B"))
        #expect(found.securityToken == Secret("T"))
        #expect(found.expires == Timestamp(seconds: 1_767_323_045))
    }

    @Test(arguments: [
        ("/bin/false", "the credentials process ended with status 1; run it by hand to see why"),
        (
            "/bin/sh -c 'echo first >&2; echo sign in again >&2; exit 3'",
            "the credentials process ended with status 3: sign in again"
        ),
        (
            "/bin/sh -c 'echo key=wJalrXUtnFEMI7MDENG is wrong >&2; exit 1'",
            "the credentials process ended with status 1: … is wrong"
        ),
        ("/nonexistent/tool", "the credentials process was not started: there is no such program"),
        (
            "/bin/echo canary",
            "the credentials process: the answer is not the JSON of "
                + "credentials (byte 0 is unexpected)"
        ),
        ("/bin/echo '{}'", "the credentials process has credentials without an access key"),
        (
            "/bin/echo '{\"AccessKeyId\":\"A\"}'",
            "the credentials process has credentials without an access key secret"
        ),
        ("/bin/cat /dev/zero", "the credentials process printed more than 65536 bytes"),
        ("/bin/sh -c 'kill -9 $$'", "the credentials process was ended by signal 9"),
    ])
    func `a process that fails is told, without what it printed`(
        command: String,
        message: String
    ) async {
        let error = await #expect(throws: CredentialsError.self) { try await run(command) }
        #expect(error?.message == message)
    }

    @Test func `a process gets what it needs to reach its service, and no key`() {
        let names = [
            "AWS_CONFIG_FILE", "HTTPS_PROXY", "PATH", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR",
            "AWS_CA_BUNDLE", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "OSS_ACCESS_KEY_SECRET",
            "AWS_ACCESS_KEY_ID", "GITHUB_TOKEN",
        ]
        #expect(names.filter(CredentialsProcess.isInherited) == Array(names.prefix(6)))
    }

    @Test(arguments: ["/bin/sleep 600", "/bin/sh -c '/bin/sleep 600 & exec 1>&-; wait'"])
    func `a process that hangs is killed after its time`(command: String) async throws {
        let process = try CredentialsProcess(
            command: command,
            environment: [:],
            timeLimit: .milliseconds(50)
        )
        let error = await #expect(throws: CredentialsError.self) {
            try await process.credentials()
        }
        #expect(error?.message == "the credentials process did not answer within 0 s")
    }

    @Test func `a process of a cancelled task is killed`() async throws {
        let process = try CredentialsProcess(
            command: "/bin/sleep 600",
            environment: [:],
            timeLimit: .seconds(600)
        )
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await #expect(throws: CredentialsError.cancelled) {
                    try await process.credentials()
                }
            }
            group.cancelAll()
        }
    }

    @Test func `a process sees only what programs need`() async throws {
        let script = #"/bin/sh -c 'test -z "$OSS_ACCESS_KEY_SECRET" -a "$HOME" = /h && echo {}'"#
        let process = try CredentialsProcess(
            command: script,
            environment: ["OSS_ACCESS_KEY_SECRET": "canary", "HOME": "/h", "PATH": "/bin"],
            timeLimit: .seconds(10)
        )
        let error = await #expect(throws: CredentialsError.self) {
            try await process.credentials()
        }
        #expect(error?.message == "the credentials process has credentials without an access key")
    }

    @Test func `a command is split into words as a shell would`() throws {
        let words = try commandWords(#"tool  'a b' "c \"d\" 'e'" f\ g '' 'x|y'"#)
        #expect(words == ["tool", "a b", "c \"d\" 'e'", "f g", "", "x|y"])
        for command in [
            "a | b", "a; b", "a && b", "a > b", "a $HOME", "a \"$HOME\"", "a `b`", "~/a", "a *", "",
            "  ", "a 'b", "a \"b", "a \\",
        ] {
            #expect(throws: CredentialsError.self, "\(command)") { try commandWords(command) }
        }
    }

    @Test func `an address gives credentials`() async throws {
        let service = ScriptedHTTP([
            "GET http://localhost:1/x": (200, Self.role)
        ])
        let source = CredentialsURI(address: "http://localhost:1/x", http: service.send)
        #expect(try await source.credentials().accessKeyID == "STS.A")
        let missing = CredentialsURI(address: "http://localhost:1/other", http: service.send)
        let error = await #expect(throws: CredentialsError.self) { try await missing.credentials() }
        #expect(error?.message == "the credentials URI: it answered 404")
        let odd = CredentialsURI(address: "file:///etc/passwd", http: service.send)
        await #expect(throws: CredentialsError.self) { try await odd.credentials() }
    }

    @Test func `the metadata service is asked with a token`() async throws {
        let service = ScriptedHTTP([
            "PUT http://m/latest/api/token": (200, "TOKEN"),
            "GET http://m\(Self.path)": (200, "my-role\n"),
            "GET http://m\(Self.path)my-role": (200, Self.role),
        ])
        let found = try await role(service, name: nil, required: true)
        #expect(found.accessKeyID == "STS.A")
        #expect(found.expires == Timestamp(seconds: 1_767_344_400))
        #expect(
            service.requests == [
                "PUT http://m/latest/api/token X-aliyun-ecs-metadata-token-ttl-seconds: 21600",
                "GET http://m\(Self.path) X-aliyun-ecs-metadata-token: TOKEN",
                "GET http://m\(Self.path)my-role X-aliyun-ecs-metadata-token: TOKEN",
            ]
        )
    }

    @Test func `a service without tokens is asked without one, unless that is forbidden`()
        async throws
    {
        let service = ScriptedHTTP(["GET http://m\(Self.path)r%2Fx": (200, Self.role)])
        #expect(try await role(service, name: "r/x", required: true).accessKeyID == "STS.A")
        #expect(service.requests.last == "GET http://m\(Self.path)r%2Fx")
        let error = await #expect(throws: CredentialsError.self) {
            try await role(service, name: "r/x", required: true, allowsFirstVersion: false)
        }
        #expect(error?.message == "the ECS instance role: it gave no token (status 404)")
    }

    @Test func `a machine without a role is another source's turn, unless a role was asked for`()
        async
    {
        let service = ScriptedHTTP([:])
        await #expect(throws: CredentialsError.absent(source: "the ECS instance role")) {
            try await role(service, name: nil, required: false)
        }
        await #expect(
            throws: CredentialsError.requestFailed(
                source: "the ECS instance role",
                reason: "asked for the role's name, it answered 404"
            )
        ) {
            try await role(service, name: nil, required: true)
        }
        let unreachable = InstanceRoleCredentials(settings(nil, false, true)) { _, _, _, _ in
            throw TransportError.timedOut
        }
        await #expect(throws: CredentialsError.absent(source: "the ECS instance role")) {
            try await unreachable.credentials()
        }
    }

    @Test func `an answer that is no success is told by its code`() async {
        let service = ScriptedHTTP([
            "GET http://m\(Self.path)r": (200, #"{"Code":"Failed","AccessKeySecret":"canary"}"#)
        ])
        let error = await #expect(throws: CredentialsError.self) {
            try await role(service, name: "r", required: true)
        }
        #expect(error?.message == "the ECS instance role: the answer's code is 'Failed'")
    }

    @Test func `variables disable the metadata service or name the role`() {
        func settings(_ variables: [String: String]) -> InstanceRoleCredentials.Settings? {
            InstanceRoleCredentials.Settings(
                environment: variables,
                roleName: nil,
                isRequired: false
            )
        }
        #expect(settings(["ALIBABA_CLOUD_ECS_METADATA_DISABLED": "true"]) == nil)
        #expect(settings([:])?.isRequired == false)
        let named = settings([
            "ALIBABA_CLOUD_ECS_METADATA": "r", "ALIBABA_CLOUD_IMDSV1_DISABLED": "TRUE",
        ])
        #expect(named?.roleName == "r")
        #expect(named?.isRequired == true)
        #expect(named?.allowsFirstVersion == false)
    }

    private static let path = "/latest/meta-data/ram/security-credentials/"
    private static let role =
        #"{"Code":"Success","AccessKeyId":"STS.A","AccessKeySecret":"B","#
        + #""SecurityToken":"T","Expiration":"2026-01-02T09:00:00Z","LastUpdated":"x"}"#

    private func run(_ command: String) async throws -> Credentials {
        try await CredentialsProcess(
            command: command,
            environment: ["PATH": "/usr/bin:/bin"],
            timeLimit: .seconds(30)
        ).credentials()
    }

    private func settings(
        _ name: String?,
        _ isRequired: Bool,
        _ allowsFirstVersion: Bool
    ) -> InstanceRoleCredentials.Settings {
        InstanceRoleCredentials.Settings(
            roleName: name,
            allowsFirstVersion: allowsFirstVersion,
            isRequired: isRequired,
            origin: "http://m"
        )
    }

    private func role(
        _ service: ScriptedHTTP,
        name: String?,
        required: Bool,
        allowsFirstVersion: Bool = true
    ) async throws -> Credentials {
        let settings = settings(name, required, allowsFirstVersion)
        return try await InstanceRoleCredentials(settings, http: service.send).credentials()
    }
}

/// Answers what it was told to, and 404 to anything else.
final class ScriptedHTTP: Sendable {
    private let answers: [String: (status: Int, body: String)]
    private let log = Mutex<[String]>([])
    private let sent = Mutex<[String]>([])

    init(_ answers: [String: (Int, String)]) {
        self.answers = answers.mapValues { (status: $0.0, body: $0.1) }
    }

    var requests: [String] { log.withLock { $0 } }
    var bodies: [String] { sent.withLock { $0 } }

    var send: CredentialsHTTP {
        { url, method, headers, body in
            let line = method.rawValue + " " + url
            let text = headers.map { " \($0.0): \($0.1)" }.joined()
            self.log.withLock { $0.append(line + text) }
            self.sent.withLock { $0.append(String(decoding: body, as: UTF8.self)) }
            let answer = self.answers[line] ?? (404, "")
            return (answer.status, [UInt8](answer.body.utf8))
        }
    }
}
