internal import SyncModel

/// Why a closure of the app did not give what it was asked for; the texts are safe to print.
package enum AppFailure: Error, Sendable, Hashable {
    /// Its server could not be reached, or is too busy: later it may answer.
    case passing(String)
    /// It does not give it; the code is that of the app's own error, if it had one.
    case refused(String, code: String?)
}

extension StorageRequest {
    /// What a source that gives no credentials is for the request that needed them.
    ///
    /// Nothing was sent. An app's server that is away is a lost connection: the device that loses
    /// the store mostly loses that, too.
    func failure(_ error: CredentialsError) -> StorageError {
        StorageError(error, operation: operation, key: key)
    }
}

extension StorageError {
    init(_ error: CredentialsError, operation: String, key: ObjectKey? = nil) {
        switch error {
        case _ where Task.isCancelled, .cancelled:
            self.init(kind: .cancelled, operation: operation, key: key)
        case .app(_, .passing):
            let kind = Kind.transport(.connectFailed(reason: error.message))
            self.init(kind: kind, operation: operation, key: key)
            isOfApp = true
        case .app(_, .refused(_, let code)):
            self.init(kind: .credentials(error.message), operation: operation, key: key)
            isOfApp = true
            appCode = code
        default: self.init(kind: .credentials(error.message), operation: operation, key: key)
        }
        reachedServer = false
    }
}
