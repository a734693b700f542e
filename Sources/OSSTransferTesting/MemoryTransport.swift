internal import ObjectStorage
internal import SyncModel

/// Hands requests to a function of this process instead of a network.
final class MemoryTransport: HTTPSending {
    struct Request: Sendable {
        let method: HTTPMethod
        let url: String
        let headers: [(name: String, value: String)]
        let body: [UInt8]

        /// The value of a header, by its name in lower case.
        subscript(name: String) -> String? {
            headers.first { $0.name.lowercased() == name }?.value
        }
    }

    struct Answer: Sendable {
        var status: Int
        /// Names in lower case; the length is added.
        var headers: [(name: String, value: String)]
        var body: [UInt8]

        init(
            status: Int,
            headers: [(name: String, value: String)] = [],
            body: [UInt8] = []
        ) {
            self.status = status
            self.headers = headers
            self.body = body
        }
    }

    private static let pieceLength = 64 << 10

    private let answer: @Sendable (Request) -> Answer

    init(_ answer: @escaping @Sendable (Request) -> Answer) {
        self.answer = answer
    }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let exchange = Exchange(request)
        let change = Condition()
        let result = await withTaskCancellationHandler {
            await perform(exchange, change)
        } onCancel: {
            exchange.cancel()
            change.raise()
        }
        return try result.get()
    }

    private func perform(
        _ exchange: Exchange,
        _ change: Condition
    ) async -> Result<HTTPResponse, TransportError> {
        let request = exchange.request
        guard exchange.willSend(), let body = Self.body(of: exchange) else {
            return exchange.finish(.cancelled)
        }
        let answer = answer(
            Request(method: request.method, url: request.url, headers: request.headers, body: body)
        )
        let length = (name: "content-length", value: String(answer.body.count))
        let head = ResponseHead(status: answer.status, headers: answer.headers + [length])
        guard exchange.receive(head, resume: { change.raise() }), request.method != .head else {
            return exchange.finish(nil)
        }
        var rest = answer.body[...]
        while !rest.isEmpty, !exchange.isCancelled {
            let piece = rest.prefix(Self.pieceLength)
            let version = change.version
            switch unsafe piece.withUnsafeBytes({ unsafe exchange.receive($0) }) {
            case .taken:
                rest = rest.dropFirst(piece.count)
                // A pause can come between two pieces.
                await Task.yield()
            case .paused:
                await change.wait(after: version)
                exchange.resumed()
            case .ended: return exchange.finish(nil)
            }
            if exchange.endsWhenDry, !rest.isEmpty { exchange.cancel() }
        }
        return exchange.finish(nil)
    }

    /// Nil if it could not be read, as the exchange knows.
    private static func body(of exchange: Exchange) -> [UInt8]? {
        var body = [UInt8](repeating: 0, count: Int(exchange.request.body.length))
        var taken = 0
        while taken < body.count {
            let count = unsafe body.withUnsafeMutableBytes { bytes in
                let end = min(taken + pieceLength, bytes.count)
                return unsafe exchange.send(
                    into: UnsafeMutableRawBufferPointer(rebasing: bytes[taken..<end])
                )
            }
            guard let count, count > 0 else { return nil }
            taken += count
        }
        return body
    }
}
