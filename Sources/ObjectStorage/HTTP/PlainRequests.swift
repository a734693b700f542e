internal import Synchronization

/// Small unsigned requests: to services on this machine or network that hand out credentials, and
/// to what is told of runs.
///
/// No redirects, a few seconds at most, 64 KiB of answer. The thread is started by the
/// first request, which most runs never make.
package final class PlainRequests: Sendable {
    private static let limit = 64 << 10
    private static let stallLimits = StallLimits(
        idleLimit: .seconds(5),
        minimumBytes: 1,
        totalLimit: .seconds(10)
    )

    private let transport = Mutex<HTTPTransport?>(nil)
    private let settings: NetworkSettings

    /// Without a proxy, and only for hosts that are near.
    package convenience init() {
        self.init(connectTimeout: .seconds(1), caFile: nil, proxy: nil)
    }

    package init(connectTimeout: Duration, caFile: String?, proxy: String?) {
        var settings = NetworkSettings()
        settings.connectTimeout = connectTimeout
        settings.connectionLimit = 1
        (settings.caFile, settings.proxy) = (caFile, proxy)
        self.settings = settings
    }

    /// Sends one request, without a body if that is empty.
    @Sendable package func send(
        _ url: String,
        _ method: HTTPMethod,
        _ headers: [(String, String)],
        _ body: [UInt8]
    ) async throws -> (status: Int, body: [UInt8]) {
        let body = body.isEmpty ? RequestBody.none : .bytes(body)
        return try await send(url, method, headers, body: body, truncates: false)
    }

    /// Posts a JSON document; returns the status of the answer.
    package func post(json: String, to url: String) async throws -> Int {
        let headers = [("Content-Type", "application/json")]
        let body = RequestBody.bytes([UInt8](json.utf8))
        return try await send(url, .post, headers, body: body, truncates: true).status
    }

    private func send(
        _ url: String,
        _ method: HTTPMethod,
        _ headers: [(String, String)],
        body: RequestBody,
        truncates: Bool
    ) async throws -> (status: Int, body: [UInt8]) {
        let transport = try transport.withLock { transport in
            if let transport { return transport }
            let made = try HTTPTransport(settings)
            transport = made
            return made
        }
        let response = try await transport.send(
            HTTPRequest(
                method: method,
                url: url,
                headers: headers.map { (name: $0.0, value: $0.1) },
                body: body,
                stallLimits: Self.stallLimits,
                isReplayable: method != .post,
                needsFreshConnection: false,
                onSent: { _ in },
                classify: { _ in .memory(limit: Self.limit, truncates: truncates) }
            )
        )
        return (response.head.status, response.body)
    }
}
