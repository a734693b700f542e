import SyncModel
import SyncTestSupport
import Synchronization
import Testing

@testable import ObjectStorage

/// A client of a scripted server, with a clock that does not move and pauses that take no time.
final class ClientFixture: Sendable {
    let server: ScriptedServer
    let client: StorageClient
    let recorder: Recorder

    final class Recorder: Sendable {
        private struct State {
            var pauses: [Duration] = []
            var observations: [StorageObservation] = []
        }
        private let state = Mutex(State())

        func pause(_ duration: Duration) { state.withLock { $0.pauses.append(duration) } }
        func observe(_ what: StorageObservation) {
            state.withLock { $0.observations.append(what) }
        }
        var pauses: [Duration] { state.withLock { $0.pauses } }
        var observations: [StorageObservation] { state.withLock { $0.observations } }

        var clockCorrections: [Int64] {
            observations.compactMap {
                if case .clockCorrected(let offset) = $0 { offset } else { nil }
            }
        }
        var throttles: [Duration?] {
            observations.compactMap { if case .throttled(let after) = $0 { after } else { nil } }
        }
    }

    static let now = Timestamp(seconds: 1_767_323_045)

    init(
        attempts: Int = 4,
        runBudget: Int = 100,
        stallTimeout: Duration = .seconds(5),
        signatureVersion: SignatureVersion = .v4,
        dialect: StorageDialect = .oss,
        credentials: any CredentialsProvider = StaticCredentials(ClientFixture.credentials),
        _ script: @escaping ScriptedServer.Script
    ) throws {
        let network = NetworkSettings(
            stallTimeout: stallTimeout,
            retry: RetryPolicy(
                attempts: attempts,
                base: .milliseconds(200),
                throttleBase: .seconds(1),
                cap: .seconds(20),
                retryAfterCap: .seconds(120),
                runBudget: runBudget
            )
        )
        let recorder = Recorder()
        self.recorder = recorder
        server = ScriptedServer(script)
        client = try StorageClient(
            configuration: StorageConfiguration(
                dialect: dialect,
                endpoint: Endpoint(
                    parsing: server.url,
                    region: "cn-hangzhou",
                    addressing: .auto
                ),
                bucket: "bucket",
                signatureVersion: signatureVersion,
                credentials: credentials,
                network: network
            ),
            environment: StorageEnvironment(
                now: { ClientFixture.now },
                sleep: { duration in
                    recorder.pause(duration)
                    try Task.checkCancellation()
                },
                randomUnit: { 0.5 },
                observe: { recorder.observe($0) }
            )
        )
    }

    deinit { server.stop() }

    static let credentials = Credentials(
        accessKeyID: "key-id",
        accessKeySecret: Secret("canary-secret")
    )
}

/// A scripted error of the service.
func serviceError(
    _ status: String,
    _ code: String,
    message: String = "No.",
    extra: String = "",
    headers: [String] = []
) -> ScriptedAction {
    let document =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>\(code)</Code>"
        + "<Message>\(message)</Message><RequestId>ID</RequestId>\(extra)</Error>"
    return .response(status, headers: headers, body: [UInt8](document.utf8))
}

extension StorageClient {
    /// A client whose answers `network` makes, with the program's number of attempts.
    static func over(
        _ network: any HTTPSending,
        firstAttempts: Int? = nil,
        runBudget: Int,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        observe: @escaping @Sendable (StorageObservation) -> Void = { _ in }
    ) throws -> StorageClient {
        var retry = RetryPolicy(
            attempts: 8,
            base: .milliseconds(200),
            throttleBase: .seconds(1),
            cap: .seconds(30),
            retryAfterCap: .seconds(120),
            runBudget: runBudget
        )
        retry.firstAttempts = firstAttempts
        return StorageClient(
            configuration: StorageConfiguration(
                dialect: .oss,
                endpoint: try Endpoint(
                    parsing: "https://127.0.0.1:1",
                    region: "cn-hangzhou",
                    addressing: .auto
                ),
                bucket: "bucket",
                credentials: StaticCredentials(ClientFixture.credentials),
                network: NetworkSettings(stallTimeout: .seconds(5), retry: retry)
            ),
            environment: StorageEnvironment(
                now: { ClientFixture.now },
                sleep: sleep,
                randomUnit: { 0.5 },
                observe: observe
            ),
            transport: network
        )
    }
}

extension NetworkSettings {
    fileprivate init(stallTimeout: Duration, retry: RetryPolicy) {
        self.init()
        connectTimeout = .seconds(5)
        self.stallTimeout = stallTimeout
        connectionLimit = 4
        userAgent = "osssync-test"
        self.retry = retry
    }
}
