internal import SyncModel

/// OSS V4: oss-protocol 2.1 and 2.2.
struct V4Verifier {
    let authenticator: Authenticator
    let request: Request
    let now: Timestamp

    /// `AK/date/region/product/aliyun_v4_request`.
    private struct Scope {
        let accessKeyID: String
        let date: String
        let region: String
        let product: String

        init?(_ text: String) {
            let fields = text.split(separator: "/", omittingEmptySubsequences: false)
                .map(String.init)
            guard fields.count == 5, fields[4] == "aliyun_v4_request" else { return nil }
            (accessKeyID, date, region, product) = (fields[0], fields[1], fields[2], fields[3])
        }

        var text: String { "\(date)/\(region)/\(product)/aliyun_v4_request" }
    }

    func verifyHeader(_ parameters: String) throws(ServiceError) {
        var fields: [String: String] = [:]
        for part in parameters.split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { continue }
            fields[String(pair[0].drop { $0 == " " })] = String(pair[1])
        }
        guard let scope = fields["Credential"].flatMap(Scope.init),
            let signature = fields["Signature"]
        else {
            throw .invalidArgument(
                "The authorization header you provided is invalid.",
                ec: "0002-00000204"
            )
        }
        guard fields["AdditionalHeaders"] != "" else {
            throw .invalidArgument(
                "The AdditionalHeaders of the Authorization header are empty.",
                ec: "0002-00000209"
            )
        }
        let time = try requestTime()
        try authenticator.checkSkew(of: time, now: now)
        guard request.header("x-oss-content-sha256") == "UNSIGNED-PAYLOAD" else {
            throw .invalidArgument(
                "The x-oss-content-sha256 header must be UNSIGNED-PAYLOAD.",
                name: "x-oss-content-sha256",
                value: request.header("x-oss-content-sha256") ?? "",
                ec: "0002-00000214"
            )
        }
        try check(scope, time: time)
        let credentials = try authenticator.credentials(for: scope.accessKeyID)
        try authenticator.checkToken(request.header("x-oss-security-token"), of: credentials)
        try compare(
            signature,
            scope: scope,
            time: time,
            credentials: credentials,
            additional: fields["AdditionalHeaders"] ?? "",
            leavingOut: nil
        )
    }

    func verifyURL() throws(ServiceError) {
        guard request.parameter("x-oss-signature-version") == "OSS4-HMAC-SHA256",
            let scope = request.parameter("x-oss-credential").flatMap(Scope.init),
            let time = request.parameter("x-oss-date").flatMap({ Timestamp(basicText: $0) }),
            let expires = request.parameter("x-oss-expires").flatMap({ parseDecimal($0.utf8) }),
            let signature = request.parameter("x-oss-signature")
        else {
            throw .invalidArgument(
                "A parameter of the signed URL is missing or malformed.",
                ec: "0002-00000231"
            )
        }
        guard (1...604_800).contains(expires) else {
            throw .invalidArgument(
                "The x-oss-expires parameter must be between 1 and 604800.",
                name: "x-oss-expires",
                value: String(expires),
                ec: "0002-00000232"
            )
        }
        guard time.seconds - Authenticator.allowedSkewInSeconds <= now.seconds else {
            throw .accessDenied("Request is not valid yet.", ec: "0002-00000235")
        }
        guard now.seconds <= time.seconds + expires else {
            throw ServiceError(
                403,
                "AccessDenied",
                "Request has expired.",
                ec: "0002-00000069",
                details: [
                    ("ServerTime", CivilTime(now).extendedText(milliseconds: 0))
                ]
            )
        }
        try check(scope, time: time)
        let credentials = try authenticator.credentials(for: scope.accessKeyID)
        try authenticator.checkToken(request.parameter("x-oss-security-token"), of: credentials)
        try compare(
            signature,
            scope: scope,
            time: time,
            credentials: credentials,
            additional: request.parameter("x-oss-additional-headers") ?? "",
            leavingOut: "x-oss-signature"
        )
    }

    private func requestTime() throws(ServiceError) -> Timestamp {
        if let text = request.header("x-oss-date") {
            guard let time = Timestamp(basicText: text) else {
                throw .accessDenied("The x-oss-date header is malformed.", ec: "0002-00000505")
            }
            return time
        }
        guard let text = request.header("date") else {
            throw .accessDenied(
                "OSS authentication requires a valid Date.",
                ec: "0002-00000503"
            )
        }
        guard let time = Timestamp(httpText: text) else {
            throw .accessDenied("The Date header is malformed.", ec: "0002-00000502")
        }
        return time
    }

    private func check(_ scope: Scope, time: Timestamp) throws(ServiceError) {
        func refuse(_ what: String, _ ec: String) -> ServiceError {
            var error = ServiceError.invalidArgument(
                "Invalid signing \(what) in Authorization header.",
                ec: ec
            )
            if let header = request.header("authorization") {
                error.details.append(("Authorization", header))
            }
            return error
        }
        guard scope.date == CivilTime(time).basicDateText else {
            throw refuse("date", "0002-00000212")
        }
        guard scope.region == authenticator.region else {
            throw refuse("region", "0002-00000226")
        }
        guard scope.product == "oss" else { throw refuse("product", "0002-00000227") }
    }

    private func compare(
        _ provided: String,
        scope: Scope,
        time: Timestamp,
        credentials: ServerCredentials,
        additional: String,
        leavingOut omitted: String?
    ) throws(ServiceError) {
        let names = additional.split(separator: ";").map { $0.lowercased() }
        let canonical = CanonicalRequest.v4(
            request,
            additionalHeaders: names,
            leavingOut: omitted
        )
        let stringToSign = [
            "OSS4-HMAC-SHA256",
            CivilTime(time).basicText,
            scope.text,
            hexadecimal(Digests.sha256([UInt8](canonical.utf8)), uppercase: false),
        ].joined(separator: "\n")
        let key = authenticator.signingKeys.key(
            of: "aliyun_v4" + credentials.secret,
            for: [scope.date, scope.region, scope.product, "aliyun_v4_request"]
        )
        let expected = hexadecimal(
            Digests.hmacSHA256(key: key, [UInt8](stringToSign.utf8)),
            uppercase: false
        )
        guard constantTimeEqual(expected, provided) else {
            throw ServiceError(
                403,
                "SignatureDoesNotMatch",
                "The request signature we calculated does not match the signature you provided. "
                    + "Check your key and signing method.",
                ec: "0002-00000201",
                details: [
                    ("OSSAccessKeyId", scope.accessKeyID), ("SignatureProvided", provided),
                    ("StringToSign", stringToSign), ("CanonicalRequest", canonical),
                ]
            )
        }
    }
}
