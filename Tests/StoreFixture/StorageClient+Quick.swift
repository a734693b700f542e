internal import Foundation
package import ObjectStorage
package import SyncModel

extension StorageClient {
    /// A client of a server on this machine, whose pauses between attempts are short.
    package convenience init(
        quickTo url: String,
        bucket: String,
        dialect: StorageDialect = .oss,
        now: @escaping @Sendable () -> Timestamp = {
            Timestamp(seconds: Int64(Date().timeIntervalSince1970), nanoseconds: 0)
        },
        observe: @escaping @Sendable (StorageObservation) -> Void = { _ in }
    ) throws {
        try self.init(
            configuration: StorageConfiguration(
                dialect: dialect,
                endpoint: Endpoint(parsing: url, region: "cn-hangzhou", addressing: .auto),
                bucket: bucket,
                credentials: StaticCredentials(
                    Credentials(accessKeyID: "id", accessKeySecret: Secret("secret"))
                ),
                network: .quick
            ),
            environment: StorageEnvironment(
                now: now,
                sleep: { try await ContinuousClock().sleep(for: $0) },
                randomUnit: { Double.random(in: 0..<1) },
                observe: observe
            )
        )
    }
}

extension NetworkSettings {
    fileprivate static var quick: NetworkSettings {
        var network = NetworkSettings()
        network.connectTimeout = .seconds(5)
        network.retry = RetryPolicy(
            attempts: 8,
            base: .milliseconds(20),
            throttleBase: .milliseconds(50),
            cap: .milliseconds(500),
            retryAfterCap: .seconds(2),
            runBudget: 200
        )
        return network
    }
}
