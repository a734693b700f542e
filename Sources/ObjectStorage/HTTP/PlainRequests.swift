internal import Synchronization

/// Small unsigned requests to services on this machine or network that hand out credentials.
///
/// No proxy, no redirects, a few seconds at most, 64 KiB of answer. The thread is started by the
/// first request, which most runs never make.
package final class PlainRequests: Sendable {
    private static let limit = 64 << 10
    private static let stallLimits = StallLimits(
        idleLimit: .seconds(5),
        minimumBytes: 1,
        totalLimit: .seconds(10)
    )

    private let transport = Mutex<HTTPTransport?>(nil)

    package init() {}

    /// Sends one request without a body.
    @Sendable package func send(
        _ url: String,
        _ method: HTTPMethod,
        _ headers: [(String, String)]
    ) async throws -> (status: Int, body: [UInt8]) {
        let transport = try transport.withLock { transport in
            if let transport { return transport }
            let made = try HTTPTransport(
                TransportSettings(
                    connectTimeout: .seconds(1),
                    connectionLimit: 1,
                    caFile: nil,
                    proxy: nil
                )
            )
            transport = made
            return made
        }
        let response = try await transport.send(
            HTTPRequest(
                method: method,
                url: url,
                headers: headers.map { (name: $0.0, value: $0.1) },
                body: .none,
                stallLimits: Self.stallLimits,
                isReplayable: true,
                needsFreshConnection: false,
                onSent: { _ in },
                classify: { _ in .memory(limit: Self.limit, truncates: false) }
            )
        )
        return (response.head.status, response.body)
    }
}
