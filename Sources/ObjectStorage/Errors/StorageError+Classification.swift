internal import SyncModel

extension StorageError {
    /// The service's error code, if it answered with one.
    package var serviceCode: String? {
        guard case .service(_, let code) = kind else { return nil }
        return code
    }

    /// The response's status, if the service answered with an error.
    package var status: Int? {
        guard case .service(let status, _) = kind else { return nil }
        return status
    }

    /// The object does not exist; false for a missing bucket or upload.
    package var isNotFound: Bool {
        guard case .service(404, let code) = kind else { return false }
        return code != "NoSuchBucket" && code != "NoSuchUpload"
    }

    package var isNoSuchBucket: Bool { serviceCode == "NoSuchBucket" }

    package var isNoSuchUpload: Bool { serviceCode == "NoSuchUpload" }

    /// The object is not the version that was asked for.
    package var isPreconditionFailed: Bool {
        switch kind {
        case .service(412, _): true
        case .integrity(.objectChanged), .integrity(.otherSize): true
        default: false
        }
    }

    /// The range begins beyond the object's end: it shrank.
    package var isRangeNotSatisfiable: Bool { status == 416 }

    package var isThrottled: Bool {
        if case .throttled = retryClass { true } else { false }
    }

    /// True for what stores say of a quota, some of them as if it were not allowed.
    package static func isOfRoom(_ code: String?) -> Bool {
        guard let name = code?.lowercased().utf8 else { return false }
        return ["quotaexceeded", "storagefull", "insufficientstorage"].contains {
            name.firstIndex(ofBytes: $0.utf8) != nil
        }
    }

    /// The credentials or the permission were refused.
    package var isAccessDenied: Bool {
        switch kind {
        case .credentials: return true
        case .service(let status, let code):
            guard !isArchived else { return false }
            switch code {
            case "InvalidAccessKeyId", "SignatureDoesNotMatch", "SecurityTokenExpired",
                "InvalidSecurityToken", "InvalidToken", "ExpiredToken", "TokenRefreshRequired",
                "RequestTimeTooSkewed", "AccessDenied", "UserDisable":
                return true
            default: return status == 401 || status == 403
            }
        default: return false
        }
    }

    /// The caller may not make this kind of request, which is a right of its own.
    package var isNotAllowed: Bool {
        if case .unsupported = kind { return true }
        return serviceCode == "AccessDenied"
    }

    /// What the credentials or the signed address allowed, they no longer allow.
    package var isExpired: Bool {
        guard case .service(_, let code) = kind else { return false }
        switch code {
        case "SecurityTokenExpired", "ExpiredToken", "TokenRefreshRequired": return true
        // Of a signed address.
        case "AccessDenied":
            let words = serviceMessage?.lowercased().utf8
            return words?.firstIndex(ofBytes: "expired".utf8) != nil
        default: return false
        }
    }

    /// The service does not know the key, or the signature; or there is no key.
    package var refusesCredentials: Bool {
        switch kind {
        case .credentials: true
        case .service where isSignedElsewhere: false
        case .service(let status, let code):
            status == 401
                || [
                    "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidSecurityToken",
                    "InvalidToken", "RequestTimeTooSkewed", "UserDisable",
                ].contains(code)
        default: false
        }
    }

    /// The bucket is elsewhere: another endpoint or region must be configured.
    package var isElsewhere: Bool {
        guard case .service(let status, let code) = kind else { return false }
        if (300..<400).contains(status) { return status != 304 }
        if Self.virtualHostCodes.contains(code) { return true }
        return code == "AuthorizationHeaderMalformed" || ec == "0002-00000226"
    }

    /// The answer sends the request to another place, and says nothing of the bucket.
    package var isRedirect: Bool {
        guard case .service(let status, let code) = kind, regionHint == nil else { return false }
        return (300..<400).contains(status) && status != 304
            && (code.isEmpty || code == Self.unreadableCode)
    }

    /// The bucket's name must be part of the host.
    static let virtualHostCodes: Set<String> = [
        "SecondLevelDomainForbidden", "PathStyleDomainForbidden", "InvalidPathAccess",
        "VirtualHostDomainRequired",
    ]

    /// The service does not make an object of the parts that it has.
    package var refusesParts: Bool {
        ["InvalidPart", "InvalidPartOrder", "EntityTooSmall"].contains(serviceCode)
    }

    /// The service understood the request and rejects it: an argument is wrong, such as a storage
    /// class that it does not support.
    package var isRefusedAsMade: Bool {
        guard case .service(400, let code) = kind else { return false }
        // What answers without a code of its own is perhaps no store at all.
        return !code.isEmpty && code != Self.unreadableCode && retryClass == .never
    }

    /// Stands in place of the service's code if its answer is no error document.
    static let unreadableCode = "BadErrorResponse"

    /// What is configured or asked for must be another: the bucket, the endpoint, or the request.
    package var isMisconfigured: Bool {
        if case .invalidRequest = kind { return true }
        return isNoSuchBucket || isElsewhere || isRefusedAsMade
    }

    /// The object is in an archive class and must be restored before it can be read.
    package var isArchived: Bool {
        serviceCode == "InvalidObjectState"
    }

    /// The object exists although it was not to be overwritten.
    package var isAlreadyExists: Bool {
        switch kind {
        case .service(409, "FileAlreadyExists"), .service(409, "ObjectAlreadyExists"): true
        // Only S3 is given conditions for these.
        case .service(412, _):
            operation == "PutObject" || operation == "CompleteMultipartUpload"
        default: false
        }
    }

    /// The service does not support something in the request, such as a condition.
    var isNotImplemented: Bool {
        guard case .service(let status, let code) = kind else { return false }
        return status == 501 || code == "NotImplemented"
    }

    /// The service does not know the operation at all, or not its document, whatever it calls that.
    var isOperationUnsupported: Bool {
        if isNotImplemented { return true }
        guard case .service(let status, let code) = kind else { return false }
        return [405, 411, 415].contains(status) || code == "MethodNotAllowed"
            || isRefusedAsMade && !isElsewhere
            // To a request for the bucket, which is there.
            || status == 404 && code != "NoSuchBucket"
    }

    /// The service says that it does not support conditional writes.
    ///
    /// Some call the header invalid; other
    /// causes of such an answer must not end in an unguarded write.
    var isConditionUnsupported: Bool {
        if isNotImplemented { return true }
        guard case .service(400, let code) = kind,
            ["InvalidArgument", "InvalidRequest"].contains(code),
            let words = serviceMessage?.lowercased().utf8
        else { return false }
        return words.firstIndex(ofBytes: "if-none-match".utf8) != nil
            || words.firstIndex(ofBytes: "if-match".utf8) != nil
    }

    /// The service says that it does not support checksums of parts.
    var isChecksumUnsupported: Bool {
        if isNotImplemented { return true }
        guard case .service(400, let code) = kind,
            ["InvalidArgument", "InvalidRequest"].contains(code),
            let words = serviceMessage?.lowercased().utf8
        else { return false }
        return words.firstIndex(ofBytes: "checksum".utf8) != nil
    }

    /// The service compared the body with the checksum that came with it, and they differ.
    package var isWrongChecksum: Bool {
        switch kind {
        // The latter is MinIO's.
        case .service(400, "BadDigest"), .service(400, "XAmzContentChecksumMismatch"): true
        default: false
        }
    }

    /// The service requires a digest of each body, as for a bucket with Object Lock.
    var asksForDigest: Bool {
        guard case .service(400, let code) = kind else { return false }
        if code == "MissingContentMD5" { return true }
        guard ["InvalidArgument", "InvalidRequest"].contains(code),
            let words = serviceMessage?.lowercased().utf8
        else { return false }
        return words.firstIndex(ofBytes: "content-md5".utf8) != nil
    }

    package var isCancelled: Bool {
        switch kind {
        case .cancelled, .transport(.cancelled): true
        default: false
        }
    }

    /// The object that was to be made may be there all the same: the answer was lost, or the
    /// repeated request met what the first one made, or another writer's.
    package var mayHaveMadeObject: Bool {
        (isAlreadyExists || isPreconditionFailed || mayHaveReachedServer) && !isCancelled
    }

    /// The request may have had its effect although no answer came.
    package var mayHaveReachedServer: Bool {
        if let reachedServer { return reachedServer }
        return switch kind {
        case .transport(let error): error.mayHaveReachedServer
        case .protocolViolation, .integrity: true
        case .service(let status, _): status >= 500 || status == 408 || status < 300
        case .cancelled: true
        case .credentials, .localIO, .invalidRequest, .unsupported: false
        }
    }
}
