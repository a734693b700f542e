internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

/// What the library asks a closure of the app for.
///
/// One rule for keys, signed addresses, signed requests and what a transfer of a manager moves: a
/// passing error is a lost connection, which the caller waits for; any other one ends what was
/// asked for, with its own code and text. Whoever is cancelled waits no longer for an answer,
/// whether the closure minds that or not.
struct AppQuestion: Sendable {
    /// What messages call the closure.
    let source: String

    func ask<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws(CredentialsError) -> Value {
        switch await AbandonableCall<Value>().run(body) {
        case .returned(.success(let value)): return value
        case .returned(.failure(is CancellationError)) where Task.isCancelled,
            .abandoned, .timedOut:
            throw .cancelled
        // One that the app throws of its own accord is an answer as any other.
        case .returned(.failure(let error)): throw .app(source: source, AppFailure(error))
        }
    }
}

extension AppFailure {
    /// What an error of the app's own means.
    init(_ error: any Error) {
        switch error {
        case let error as TransferError where error.isPassingForApps:
            self = .passing(displayText(error.message))
        case let error as TransferError:
            self = .refused(displayText(error.message), code: error.code.description)
        case _ where Self.isLostConnection(error):
            self = .passing("no connection (\(error._domain) \(error._code))")
        case _ where error._domain == Self.urlDomain:
            // Its description has the address, which may be a secret.
            self = .refused("\(error._domain) \(error._code)", code: nil)
        default: self = .refused(displayText(String(describing: error)), code: nil)
        }
    }

    private static let urlDomain = "NSURLErrorDomain"

    /// What `URLSession` throws where there is no network, no host or no answer in time.
    ///
    /// Known by number: this module imports no Foundation.
    private static func isLostConnection(_ error: any Error) -> Bool {
        guard error._domain == urlDomain else { return false }
        return switch error._code {
        // Timed out; host not found, not reached, connection lost, name not resolved; offline.
        case -1001, -1003, -1004, -1005, -1006, -1009: true
        // The server ended the connection without an answer, or in the middle of one, as where it
        // is started anew; Linux says so with the first two.
        case -1011, -1017: true
        // Roaming is off, a call is active, no data is allowed, only the cache was asked.
        case -1018, -1019, -1020, -2000: true
        default: false
        }
    }
}

extension TransferError {
    /// An app tells by a status, too, that its server has a fault of the moment.
    var isPassingForApps: Bool { isRetryable || status.map { $0 / 100 == 5 } == true }
}
