internal import SyncModel

/// SigV4, in the header or the URL: oss-protocol 2.5.
struct S3Verifier {
    let authenticator: Authenticator
    let request: Request
    let now: Timestamp

    /// Throws what the service answers to a request that is not signed as it must be.
    func verify() throws(ServiceError) -> SignedPayload {
        let header = request.header("authorization")
        let isURL = request.hasParameter("X-Amz-Algorithm")
        if header != nil, isURL {
            throw .invalidArgument(
                "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, "
                    + "Signature query string parameter or the Authorization header should be "
                    + "specified"
            )
        }
        if isURL { return try verifyURL() }
        guard let header else {
            throw ServiceError(403, "AccessDenied", "Access Denied")
        }
        let algorithm = "AWS4-HMAC-SHA256"
        guard header.hasPrefix(algorithm) else {
            throw Self.invalidRequest(
                "The authorization mechanism you have provided is not supported. Please use "
                    + "AWS4-HMAC-SHA256."
            )
        }
        return try verifyHeader(header.dropFirst(algorithm.count))
    }

    private static func invalidRequest(_ message: String) -> ServiceError {
        ServiceError(400, "InvalidRequest", message)
    }

    private func verifyHeader(_ parameters: Substring) throws(ServiceError) -> SignedPayload {
        var fields: [String: String] = [:]
        for part in parameters.split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { continue }
            fields[String(pair[0].drop { $0 == " " })] = String(pair[1])
        }
        guard let scope = fields["Credential"].flatMap(S3Scope.init),
            let signature = fields["Signature"], let names = fields["SignedHeaders"]
        else {
            throw ServiceError(
                400,
                "AuthorizationHeaderMalformed",
                "The authorization header is malformed; Credential, SignedHeaders and Signature "
                    + "are needed."
            )
        }
        guard let payload = request.header("x-amz-content-sha256") else {
            throw Self.invalidRequest(
                "Missing required header for this request: x-amz-content-sha256"
            )
        }
        let date = request.header("x-amz-date")
        let written = date.flatMap { Timestamp(basicText: $0) }
        let time = written ?? request.header("date").flatMap { Timestamp(httpText: $0) }
        guard let time, date == nil || written != nil else {
            throw .accessDenied(
                "AWS authentication requires a valid Date or x-amz-date header",
                ec: ""
            )
        }
        try authenticator.checkSkew(of: time, now: now)
        try check(scope, time: time, code: "AuthorizationHeaderMalformed")
        let key = try signingKey(scope, time, token: request.header("x-amz-security-token"))
        try compare(signature, key: key, names: names, payload: payload)
        return try SignedPayload(header: payload, key: key, signature: signature)
    }

    private func verifyURL() throws(ServiceError) -> SignedPayload {
        let code = "AuthorizationQueryParametersError"
        guard request.parameter("X-Amz-Algorithm") == "AWS4-HMAC-SHA256",
            let scope = request.parameter("X-Amz-Credential").flatMap(S3Scope.init),
            let time = request.parameter("X-Amz-Date").flatMap({ Timestamp(basicText: $0) }),
            let expires = request.parameter("X-Amz-Expires").flatMap({ parseDecimal($0.utf8) }),
            let names = request.parameter("X-Amz-SignedHeaders"),
            let signature = request.parameter("X-Amz-Signature")
        else {
            throw ServiceError(
                400,
                code,
                "Query-string authentication version 4 requires the X-Amz-Algorithm, "
                    + "X-Amz-Credential, X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and "
                    + "X-Amz-Expires parameters."
            )
        }
        guard (1...604_800).contains(expires) else {
            throw ServiceError(
                400,
                code,
                "X-Amz-Expires must be less than a week (in seconds) that is 604800"
            )
        }
        guard time.seconds - Authenticator.allowedSkewInSeconds <= now.seconds else {
            throw ServiceError(403, "AccessDenied", "Request is not yet valid")
        }
        guard now.seconds <= time.seconds + expires else {
            let end = Timestamp(seconds: time.seconds + expires)
            throw ServiceError(
                403,
                "AccessDenied",
                "Request has expired",
                details: [
                    ("X-Amz-Expires", String(expires)),
                    ("Expires", CivilTime(end).extendedText(milliseconds: 0)),
                    ("ServerTime", CivilTime(now).extendedText(milliseconds: 0)),
                ]
            )
        }
        try check(scope, time: time, code: code)
        let token = request.parameter("X-Amz-Security-Token")
        let key = try signingKey(scope, time, token: token)
        let payload = request.header("x-amz-content-sha256") ?? "UNSIGNED-PAYLOAD"
        try compare(signature, key: key, names: names, payload: payload)
        return try SignedPayload(header: payload, key: key, signature: signature)
    }

    private func check(_ scope: S3Scope, time: Timestamp, code: String) throws(ServiceError) {
        let wrong: String
        if scope.date != CivilTime(time).basicDateText {
            wrong = "Invalid credential date \"\(scope.date)\"."
        } else if scope.service != "s3" {
            wrong = "incorrect service \"\(scope.service)\". This endpoint belongs to \"s3\"."
        } else if scope.region != authenticator.region {
            wrong = "the region '\(scope.region)' is wrong; expecting '\(authenticator.region)'"
        } else {
            return
        }
        throw ServiceError(
            400,
            code,
            "The authorization header is malformed; " + wrong,
            details: [("Region", authenticator.region)]
        )
    }

    private func signingKey(
        _ scope: S3Scope,
        _ time: Timestamp,
        token: String?
    ) throws(ServiceError) -> S3SigningKey {
        guard let credentials = authenticator.credentials[scope.accessKeyID] else {
            throw ServiceError(
                403,
                "InvalidAccessKeyId",
                "The AWS Access Key Id you provided does not exist in our records.",
                details: [("AWSAccessKeyId", scope.accessKeyID)]
            )
        }
        guard token == credentials.securityToken else {
            throw ServiceError(
                400,
                "InvalidToken",
                "The provided token is malformed or otherwise invalid."
            )
        }
        return S3SigningKey(
            secret: credentials.secret,
            scope: scope,
            time: time,
            keys: authenticator.signingKeys
        )
    }

    private func compare(
        _ provided: String,
        key: S3SigningKey,
        names: String,
        payload: String
    ) throws(ServiceError) {
        let signed = names.split(separator: ";").map { $0.lowercased() }
        let unsigned = request.headers.map(\.name).filter {
            $0 == "host" || $0.hasPrefix("x-amz-") && $0 != "x-amz-content-sha256"
        }.filter { !signed.contains($0) }
        guard unsigned.isEmpty else {
            throw ServiceError(
                403,
                "AccessDenied",
                "There were headers present in the request which were not signed",
                details: [("HeadersNotSigned", unsigned.joined(separator: ", "))]
            )
        }
        let canonical = CanonicalRequest.s3(request, signedHeaders: signed, payload: payload)
        let stringToSign = key.stringToSign(
            algorithm: "AWS4-HMAC-SHA256",
            [hexadecimal(Digests.sha256([UInt8](canonical.utf8)), uppercase: false)]
        )
        guard constantTimeEqual(key.signature(of: stringToSign), provided) else {
            throw ServiceError(
                403,
                "SignatureDoesNotMatch",
                "The request signature we calculated does not match the signature you provided. "
                    + "Check your key and signing method.",
                details: [
                    ("AWSAccessKeyId", key.scope.accessKeyID), ("StringToSign", stringToSign),
                    ("SignatureProvided", provided), ("CanonicalRequest", canonical),
                ]
            )
        }
    }
}

extension CanonicalRequest {
    /// The canonical request of SigV4: the path encoded once, `name=` for an empty value, and
    /// runs of spaces in headers as one.
    static func s3(_ request: Request, signedHeaders: [String], payload: String) -> String {
        let path = [UInt8](request.target.utf8.prefix { $0 != UInt8(ascii: "?") })
        var pairs: [(name: String, value: String)] = []
        for item in request.query where item.name != "X-Amz-Signature" {
            let name = percentEncoded(item.name.utf8, keepingSlash: false)
            pairs.append((name, percentEncoded(item.value.utf8, keepingSlash: false)))
        }
        pairs.sort { $0.name == $1.name ? $0.value < $1.value : $0.name < $1.name }
        let headers = signedHeaders.sorted().map { name in
            let values = request.headers.filter { $0.name == name }.map { collapsed($0.value) }
            return "\(name):\(values.joined(separator: ","))\n"
        }.joined()
        return [
            request.method.rawValue,
            percentEncoded(percentDecoded(path, plusIsSpace: false), keepingSlash: true),
            pairs.map { $0.name + "=" + $0.value }.joined(separator: "&"),
            headers,
            signedHeaders.sorted().joined(separator: ";"),
            payload,
        ].joined(separator: "\n")
    }

    private static func collapsed(_ text: String) -> String {
        text.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
    }
}
