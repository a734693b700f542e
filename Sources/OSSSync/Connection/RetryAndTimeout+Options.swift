internal import OSSTransfer
internal import ObjectStorage

extension RetryAndTimeout {
    /// Attempts while a user waits for the first response.
    private static let hastyAttempts = 2

    init(_ options: ConnectionOptions) {
        self.init()
        if let given = options.timeout { timeout = given }
        if let retries = options.retries { retry.attempts = retries + 1 }
        if options.givesUpSoon { retry.firstAttempts = Self.hastyAttempts }
        if let longest = options.retryWait {
            retry.cap = longest
            retry.retryAfterCap = longest
        }
    }
}
