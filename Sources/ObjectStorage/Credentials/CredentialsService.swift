/// Sends a small request and returns the answer; provided by the owner of the transport.
///
/// It must not follow redirects, must end after a few seconds, and must limit the body: 64 KiB
/// suffice. For services that are near, it must not use a proxy.
package typealias CredentialsHTTP =
    @Sendable (
        _ url: String, _ method: HTTPMethod, _ headers: [(String, String)], _ body: [UInt8]
    ) async throws -> (status: Int, body: [UInt8])

/// A service that is asked for credentials.
struct CredentialsService: Sendable {
    typealias Answer = (status: Int, body: [UInt8])

    /// What messages call it.
    let name: String
    let http: CredentialsHTTP

    /// Nothing of the transport's own error is shown: it could hold an address with a secret in it.
    func send(
        _ method: HTTPMethod,
        _ url: String,
        _ headers: [(String, String)],
        _ body: [UInt8] = []
    ) async throws(CredentialsError) -> Answer {
        do {
            let answer = try await http(url, method, headers, body)
            guard answer.body.count <= CredentialsProcess.maximumOutput else {
                throw CredentialsError.requestFailed(source: name, reason: "the answer is too long")
            }
            return answer
        } catch is CancellationError {
            throw .cancelled
        } catch let error as CredentialsError {
            throw error
        } catch TransportError.cancelled {
            throw .cancelled
        } catch let error as TransportError {
            throw .requestFailed(source: name, reason: error.message)
        } catch {
            throw .requestFailed(source: name, reason: "it could not be reached")
        }
    }

    /// The body of an answer with status 200; `what` is asked for, nil for credentials alone.
    func get(
        _ url: String,
        _ headers: [(String, String)] = [],
        what: String? = nil
    ) async throws(CredentialsError) -> [UInt8] {
        let answer = try await send(.get, url, headers)
        guard answer.status == 200 else {
            let question = what.map { "asked for \($0), " } ?? ""
            throw .requestFailed(source: name, reason: "\(question)it answered \(answer.status)")
        }
        return answer.body
    }

    func credentials(
        at url: String,
        _ headers: [(String, String)] = [],
        what: String? = nil
    ) async throws(CredentialsError) -> Credentials {
        try CredentialsAnswer.credentials(
            of: try await get(url, headers, what: what),
            source: name
        )
    }
}
