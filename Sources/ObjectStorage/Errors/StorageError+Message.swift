internal import CLibrary
internal import SyncModel

extension StorageError {
    /// What failed, on which key, and what to do; without any secret or signed address.
    ///
    /// The id of the request travels beside it.
    package var message: String {
        var text = "there is no connection: "
        // Which request found that out says nothing.
        if isOfThisMachine {
            text = ""
        } else if !isOutage {
            text = "\(operation)"
            if let key { text += " of '\(key.display)'" }
            text += " failed: "
        }
        text += isOutage ? outage : reason
        if let advice { text += ". " + advice }
        return text
    }

    /// True if no request was made, so that none failed.
    private var isOfThisMachine: Bool {
        switch kind {
        case .credentials, .cancelled: true
        case .invalidRequest: key == nil
        default: false
        }
    }

    /// The reason, for a message about a missing connection.
    private var outage: String {
        guard case .transport(.connectFailed(let place)) = kind else { return reason }
        return place
    }

    /// Why it failed, in a few words.
    package var cause: String {
        switch kind {
        case .service(let status, let code):
            "the service answered \(status)" + (code.isEmpty ? "" : " \(displayText(code.utf8))")
        default: reason
        }
    }

    private var reason: String {
        switch kind {
        case .service(let status, let code):
            var text = "the service answered \(status)"
            if !code.isEmpty { text += " \(displayText(code.utf8))" }
            if let serviceMessage, !serviceMessage.isEmpty { text += " (\(serviceMessage))" }
            if let ec { text += ", EC \(displayText(ec.utf8))" }
            return text
        case .transport(.dnsFailed):
            guard let host else { return TransportError.dnsFailed.message }
            return "the name of the host '\(displayText(host.utf8))' could not be resolved"
        case .transport(let error): return error.message
        case .integrity(let failure): return failure.message
        case .protocolViolation(let what):
            return "the endpoint did not answer as an object store (\(what))"
        case .credentials(let what): return what
        case .localIO(let errno, let call): return "\(call) failed: \(Self.text(ofErrno: errno))"
        case .cancelled: return "interrupted"
        case .invalidRequest(let what), .unsupported(let what): return what
        }
    }

    /// What the user can do, where that is known.
    private var advice: String? {
        if isOfApp { return nil }
        if let regionHint, status.map({ $0 < 404 }) == true {
            return "The bucket is in the region '\(displayText(regionHint.utf8))'"
        }
        if let endpointHint {
            if isRedirect, isSignedURL || isSignedElsewhere {
                return "Redirects are not followed: use a URL of the host"
                    + " '\(displayText(endpointHint.utf8))'"
            }
            return "Use the endpoint '\(displayText(endpointHint.utf8))'"
        }
        switch kind {
        case .transport(.tlsFailed(let reason)) where Self.isPlainText(reason):
            return "Nothing was sent. The endpoint answers without TLS: specify it as"
                + " http://\(displayText((host ?? "HOST").utf8))"
        case .transport(.tlsFailed):
            return "Nothing was sent. Check the endpoint's name and the system's certificates"
                + Wording.of(
                    library: Self.authoritySetting,
                    program: ", or specify a certificate authority with --ca-file"
                )
        case .transport(.dnsFailed), .transport(.connectFailed):
            return "Check the endpoint's name and the network"
        case .transport(.proxyFailed):
            return Wording.of(
                library: "Check the proxy, and whether its URL has the user and the password",
                program: "Check http_proxy, https_proxy and all_proxy in the environment, and"
                    + " whether the proxy's address there has its user and password"
            )
        case .protocolViolation where key == nil:
            return
                "Check the endpoint: a web page, a login portal or a proxy may have answered in its"
                + " place"
        case .service(let status, let code): return serviceAdvice(status: status, code: code)
        default: return nil
        }
    }

    /// URLSession takes the system's authorities only.
    private static var authoritySetting: String {
        #if SystemLibraries
        ", or set caFile to a file of certificate authorities"
        #else
        ""
        #endif
    }

    /// True for what OpenSSL says of an answer in plain text.
    private static func isPlainText(_ reason: String) -> Bool {
        ["wrong version number", "packet length too long", "record layer failure", "http request"]
            .contains { reason.utf8.firstIndex(ofBytes: $0.utf8) != nil }
    }

    /// OSS names the region neither by a code of its own nor in the answer.
    var isOfOtherRegion: Bool {
        ec == "0002-00000226" || serviceCode == "AuthorizationHeaderMalformed"
            || serviceMessage?.utf8.starts(with: "Invalid signing region".utf8) == true
    }

    private func serviceAdvice(status: Int, code: String) -> String? {
        if isOfOtherRegion {
            return "Requests are signed for another region than the bucket's: specify the right"
                + " one" + Wording.of(library: "", program: " with --region") + signed
        }
        if isSignedURL, isAccessDenied {
            return isExpired
                ? "The signed URL has expired: get a new one from what signed it"
                : "The signed URL may have expired, or does not allow this request: get a new one"
                    + " from what signed it"
        }
        if isSignedElsewhere, isAccessDenied {
            return isExpired
                ? "The signature has expired: sign for longer, and check the clock of what signs"
                : "Check what signs the requests, its key, and the key's permissions"
        }
        switch code {
        case "InvalidAccessKeyId", "SignatureDoesNotMatch":
            return "Check the access key" + signed
        case "SecurityTokenExpired", "InvalidSecurityToken", "ExpiredToken", "InvalidToken":
            return "Get new temporary credentials" + signed
        case "InvalidPart"
        where serviceMessage?.utf8.firstIndex(ofBytes: "same length".utf8) != nil:
            return "This store takes parts of one size only: specify "
                + Wording.of(library: "the provider r2", program: "--provider r2")
        case "RequestTimeTooSkewed": return "Set this machine's clock"
        case "InvalidObjectState": return "Restore the object first"
        case "NoSuchBucket":
            let name = bucket.map { " '\(displayText($0.utf8))'" } ?? ""
            return "There is no bucket\(name) at this endpoint: check its name and region"
        case "PublicEndpointForbidden":
            return "This account can read and write data only through its own domain (CNAME) or"
                + " the internal endpoint"
        case _ where Self.virtualHostCodes.contains(code):
            return "Specify "
                + Wording.of(library: "the addressing virtual", program: "--addressing virtual")
        case Self.unreadableCode:
            return "The answer is not that of an object store: check the endpoint"
        case "TransferAccelerationDisabled":
            return "Enable transfer acceleration on the bucket, or use its ordinary endpoint"
        case "UserDisable": return "The account is blocked or has an unpaid bill" + signed
        case _ where Self.isOfRoom(code) || status == 507:
            return "The bucket is full: delete something in it, or raise its quota"
        case "AccessDenied": return "Check the permissions of the access key" + signed
        default:
            if (300..<400).contains(status), status != 304 {
                return "Redirects are not followed: specify the right endpoint"
            }
            // A refused HEAD has no document that says more.
            if status == 401 || status == 403 {
                return "Check the access key and its permissions" + signed
            }
            return nil
        }
    }

    /// Which key was used, after an advice about it.
    private var signed: String { signer.map { " (\($0))" } ?? "" }

    /// The system's sentence for an error number.
    private static func text(ofErrno number: Int32) -> String {
        guard let text = unsafe strerror(number) else { return "error \(number)" }
        return unsafe String(cString: text)
    }
}
