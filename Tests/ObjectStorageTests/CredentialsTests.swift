import SyncModel
import Synchronization
import Testing

@testable import ObjectStorage

/// No test may find this in an error or a description.
private let canary = "canary-3Xample"

@Suite("Credentials")
struct CredentialsTests {
    @Test func `a secret has no text but what is asked for`() {
        let secret = Secret(canary)
        let credentials = Credentials(
            accessKeyID: "LTAI",
            accessKeySecret: secret,
            securityToken: secret
        )
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), "\(credentials)", dumped] {
            #expect(!text.contains(canary))
        }
        #expect("\(secret)" == "(secret)")
        #expect(Mirror(reflecting: secret).children.isEmpty)
        #expect(secret.revealedText == canary)
    }

    @Test func `the first complete family of variables counts`() async throws {
        let both = ["OSS_ACCESS_KEY_ID": "a", "OSS_ACCESS_KEY_SECRET": " b\n"]
        let found = try await environment(
            both.merging(["ALIBABA_CLOUD_ACCESS_KEY_ID": "c"]) { $1 }
        )
        #expect(found.accessKeyID == "a")
        #expect(found.accessKeySecret == Secret("b"))
        #expect(found.securityToken == nil)
        let second = try await environment([
            "OSS_ACCESS_KEY_ID": "", "ALIBABA_CLOUD_ACCESS_KEY_ID": "c",
            "ALIBABA_CLOUD_ACCESS_KEY_SECRET": "d", "ALIBABA_CLOUD_SECURITY_TOKEN": "t",
        ])
        #expect(second.accessKeyID == "c")
        #expect(second.securityToken == Secret("t"))
    }

    @Test func `half a pair of variables is an error, not another family`() async {
        let expected = CredentialsError.incomplete(
            source: "OSS_ACCESS_KEY_ID",
            missing: "an access key secret"
        )
        await #expect(throws: expected) {
            try await environment([
                "OSS_ACCESS_KEY_ID": "a", "ALIBABA_CLOUD_ACCESS_KEY_ID": "c",
                "ALIBABA_CLOUD_ACCESS_KEY_SECRET": "d",
            ])
        }
        await #expect(throws: CredentialsError.absent(source: "environment")) {
            try await environment([:])
        }
    }

    @Test func `a key with a line end inside never reaches a header`() async {
        let error = await #expect(throws: CredentialsError.self) {
            try await environment([
                "OSS_ACCESS_KEY_ID": "a", "OSS_ACCESS_KEY_SECRET": canary + "\r\nx",
            ])
        }
        #expect(error?.message == "OSS_ACCESS_KEY_ID: a key has a control character")
    }

    @Test func `a chain takes the first source that is set up`() async throws {
        let chain = CredentialsChain([
            EnvironmentCredentials(environment: [:], families: [.oss]),
            StaticCredentials(Credentials(accessKeyID: "s", accessKeySecret: Secret("x"))),
        ])
        let found = try await chain.credentials()
        #expect(found.accessKeyID == "s")
        #expect(try await chain.refresh(rejected: found) == nil)
    }

    @Test func `a broken source ends the chain, and an empty chain names what was tried`() async {
        let broken = CredentialsChain([
            EnvironmentCredentials(environment: ["OSS_ACCESS_KEY_ID": "a"], families: [.oss]),
            StaticCredentials(Credentials(accessKeyID: "s", accessKeySecret: Secret("x"))),
        ])
        await #expect(throws: CredentialsError.self) { try await broken.credentials() }
        let empty = CredentialsChain([
            EnvironmentCredentials(environment: [:], families: [.oss]),
            FileCredentials(
                path: "/nonexistent/config",
                format: .ossutil,
                profile: nil,
                context: .withoutServices
            ),
        ])
        let error = await #expect(throws: CredentialsError.self) { try await empty.credentials() }
        #expect(error == CredentialsError.none(tried: ["environment", "/nonexistent/config"]))
    }

    private func environment(_ variables: [String: String]) async throws -> Credentials {
        try await EnvironmentCredentials(
            environment: variables,
            families: [.oss, .alibabaCloud]
        ).credentials()
    }
}

@Suite("Cached credentials")
struct CachedCredentialsTests {
    @Test func `credentials are fetched once until shortly before they end`() async throws {
        let source = CountingSource(lifetime: 3_600)
        let clock = ManualClock()
        let cache = CachedCredentials(source.at(clock), now: { clock.now })
        let first = try await cache.credentials()
        clock.advance(3_600 - CachedCredentials.margin - 1)
        #expect(try await cache.credentials() == first)
        #expect(source.count == 1)
        clock.advance(1)
        #expect(try await cache.credentials() != first)
        #expect(source.count == 2)
    }

    @Test func `credentials without an end are fetched once`() async throws {
        let source = CountingSource(lifetime: nil)
        let clock = ManualClock()
        let cache = CachedCredentials(source.at(clock), now: { clock.now })
        _ = try await cache.credentials()
        clock.advance(1_000_000)
        _ = try await cache.credentials()
        #expect(source.count == 1)
    }

    @Test func `short-lived credentials are not fetched for every request`() async throws {
        let source = CountingSource(lifetime: 60)
        let clock = ManualClock()
        let cache = CachedCredentials(source.at(clock), now: { clock.now })
        for _ in 0..<10 {
            _ = try await cache.credentials()
            clock.advance(2)
        }
        #expect(source.count == 1)
    }

    @Test func `callers that wait together share one question`() async throws {
        let source = CountingSource(lifetime: 3_600)
        let clock = ManualClock()
        let cache = CachedCredentials(source.at(clock), now: { clock.now })
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 {
                group.addTask { try await cache.credentials().accessKeyID }
            }
            for try await id in group { #expect(id == "key-1") }
        }
        #expect(source.count == 1)
        let rejected = try await cache.credentials()
        try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<50 {
                group.addTask { try await cache.refresh(rejected: rejected)?.accessKeyID }
            }
            for try await id in group { #expect(id == "key-2") }
        }
        #expect(source.count == 2)
        #expect(try await cache.credentials().accessKeyID == "key-2")
    }

    @Test func `old credentials serve while new ones can't be had, but not longer`() async throws {
        let source = CountingSource(lifetime: 3_600)
        let clock = ManualClock()
        let cache = CachedCredentials(source.at(clock), now: { clock.now })
        let first = try await cache.credentials()
        source.fails = true
        clock.advance(3_600 - 100)
        #expect(try await cache.credentials() == first)
        #expect(try await cache.credentials() == first)
        #expect(source.count == 2, "after a failure there is a pause")
        clock.advance(100)
        await #expect(throws: CredentialsError.self) { try await cache.credentials() }
        source.fails = false
        #expect(try await cache.credentials().accessKeyID == "key-4")
    }
}

final class ManualClock: Sendable {
    private let seconds = Mutex<Int64>(1_767_323_045)
    var now: Timestamp { Timestamp(seconds: seconds.withLock { $0 }) }
    func advance(_ count: Int64) { seconds.withLock { $0 += count } }
}

/// Makes other credentials each time it is asked.
private final class CountingSource: Sendable {
    private let state = Mutex((count: 0, fails: false))
    private let lifetime: Int64?

    init(lifetime: Int64?) { self.lifetime = lifetime }

    var count: Int { state.withLock { $0.count } }
    var fails: Bool {
        get { state.withLock { $0.fails } }
        set { state.withLock { $0.fails = newValue } }
    }

    func at(_ clock: ManualClock) -> any CredentialsProvider {
        Provider(source: self, clock: clock)
    }

    private struct Provider: CredentialsProvider {
        let name = "counted keys"
        let source: CountingSource
        let clock: ManualClock

        func credentials() async throws(CredentialsError) -> Credentials {
            let (count, fails) = source.state.withLock { state in
                state.count += 1
                return state
            }
            await Task.yield()
            if fails { throw .requestFailed(source: "test", reason: "asked to fail") }
            let end = source.lifetime.map { Timestamp(seconds: clock.now.seconds + $0) }
            return Credentials(
                accessKeyID: "key-\(count)",
                accessKeySecret: Secret(canary),
                expires: end
            )
        }
    }
}

extension CredentialsContext {
    /// For sources that must not ask anybody.
    static var withoutServices: CredentialsContext {
        CredentialsContext(
            environment: [:],
            http: { _, _, _, _ in throw CancellationError() },
            remoteHTTP: { _, _, _, _ in throw CancellationError() },
            allowsInsecureHTTP: false,
            now: { Timestamp(seconds: 0) },
            nonce: { "once" },
            processTimeLimit: .seconds(1)
        )
    }
}
