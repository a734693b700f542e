package import SyncModel

/// What may be done about an error.
package enum RetryClass: Sendable, Hashable {
    case never
    /// Repeat after a pause.
    case transient
    /// Repeat at most so many times after a pause: what damaged the answer will likely do so again.
    case limited(retries: Int)
    /// There is no connection at all: all requests wait until one of them has found it again.
    case unreachable
    /// Repeat after a longer pause, and ask for less at once.
    case throttled(retryAfter: Duration?)
    /// Sign again by the server's clock.
    case clockSkew(serverTime: Timestamp?)
    /// Sign again with newer credentials.
    case refreshCredentials
    /// Ask again in the region where the bucket is.
    case otherRegion(String)
    /// The multipart upload is unusable: begin a new one.
    case restartUpload
    /// The object is another version than the one that was pinned: look it up again.
    case objectChanged
}

extension StorageError {
    /// The one place that decides what may be repeated: oss-protocol "Codes".
    package var retryClass: RetryClass {
        switch kind {
        case .service(let status, let code): serviceRetryClass(status: status, code: code)
        case .transport(let error): error.retryClass
        case .integrity(let failure): failure.retryClass
        case .protocolViolation: .limited(retries: 2)
        case .credentials, .localIO, .cancelled, .invalidRequest, .unsupported: .never
        }
    }

    private func serviceRetryClass(status: Int, code: String) -> RetryClass {
        if let regionHint, isOtherRegion(status: status, code: code) {
            return .otherRegion(regionHint)
        }
        switch code {
        case "RequestTimeTooSkewed":
            return .clockSkew(serverTime: serverTime)
        case "InvalidArgument":
            let isSigningDate =
                ec == "0002-00000212"
                || serviceMessage?.utf8.starts(with: "Invalid signing date".utf8) == true
            return isSigningDate ? .clockSkew(serverTime: serverTime) : .never
        case "SecurityTokenExpired", "InvalidSecurityToken", "InvalidToken", "ExpiredToken",
            "TokenRefreshRequired":
            return .refreshCredentials
        case "InvalidAccessKeyId":
            // An STS key that has expired may be unknown already.
            return .refreshCredentials
        case "SlowDown", "ServiceUnavailable", "DownloadTrafficRateLimitExceeded",
            "UploadTrafficRateLimitExceeded", "MetaOperationQpsLimitExceeded",
            "TotalQpsLimitExceeded", "ActiveRequestLimitExceeded", "CpuLimitExceeded",
            "QpsLimitExceeded":
            return .throttled(retryAfter: retryAfter)
        case "InvalidDigest": return .limited(retries: 1)
        case "BadDigest", "XAmzContentSHA256Mismatch", "XAmzContentChecksumMismatch":
            return .limited(retries: 2)
        case "RequestTimeout", "BadRequest", "StaleFile", "ConditionalRequestConflict",
            "OperationAborted", "InternalError":
            return .transient
        case "NoSuchUpload", "InvalidPart", "InvalidPartOrder", "EntityTooSmall":
            return .restartUpload
        case "PreconditionFailed": return .objectChanged
        case "NotModified": return .never
        default: return statusRetryClass(status, code: code)
        }
    }

    /// An answer to HEAD has only its status and the header with the region.
    private func isOtherRegion(status: Int, code: String) -> Bool {
        switch code {
        case "PermanentRedirect", "TemporaryRedirect", "AuthorizationHeaderMalformed",
            "IllegalLocationConstraintException":
            true
        case "": status == 301 || status == 307 || status == 400
        default: false
        }
    }

    private func statusRetryClass(_ status: Int, code: String) -> RetryClass {
        if ec == "0002-00000006" || ec == "0002-00000007" { return .refreshCredentials }
        // An expired token has no code in the answer to a HEAD.
        if status == 400, code.isEmpty { return .refreshCredentials }
        return switch status {
        case 412, 416: .objectChanged
        case 429, 503: .throttled(retryAfter: retryAfter)
        case 408, 500, 502, 504: .transient
        // Asked for by no header of ours: a proxy's mistake.
        case 304: .limited(retries: 1)
        case 505...599: .transient
        default: .never
        }
    }
}

extension TransportError {
    var retryClass: RetryClass {
        switch self {
        case .tlsFailed, .proxyFailed, .cancelled, .localIO, .sourceChanged: .never
        case .unsendable, .encoded: .never
        case .dnsFailed, .connectFailed: .unreachable
        case .bodyTooLong, .malformedResponse: .limited(retries: 1)
        case .timedOut, .stalled, .connectionLost, .bodyTooShort: .transient
        }
    }
}

extension IntegrityFailure {
    var retryClass: RetryClass {
        switch self {
        case .rangeIgnored: .limited(retries: 1)
        case .wrongContentRange, .wrongLength, .unexpectedEncoding: .limited(retries: 2)
        case .wrongDigest, .wrongPartChecksum, .wrongChecksum: .limited(retries: 2)
        case .objectChanged, .otherSize: .objectChanged
        case .sourceChanged, .unpacked, .sealed: .never
        }
    }
}
