internal import SyncModel

/// OSS V1: oss-protocol 2.3 and 2.4.
struct V1Verifier {
    let authenticator: Authenticator
    let request: Request
    let now: Timestamp

    func verifyHeader(_ parameters: String) throws(ServiceError) {
        let pair = parameters.split(separator: ":", maxSplits: 1).map(String.init)
        guard pair.count == 2 else {
            throw .invalidArgument(
                "The authorization header you provided is invalid.",
                ec: "0002-00000016"
            )
        }
        guard let date = request.header("x-oss-date") ?? request.header("date") else {
            throw .accessDenied(
                "OSS authentication requires a valid Date.",
                ec: "0002-00000503"
            )
        }
        guard let time = Timestamp(httpText: date) ?? Timestamp(basicText: date) else {
            throw .accessDenied("The Date header is malformed.", ec: "0002-00000502")
        }
        try authenticator.checkSkew(of: time, now: now)
        let credentials = try authenticator.credentials(for: pair[0])
        // An official client sends the token under a name without prefix, and does not sign it.
        let token = request.header("x-oss-security-token") ?? request.header("security-token")
        try authenticator.checkToken(token, of: credentials)
        try compare(pair[1], credentials: credentials, date: date)
    }

    func verifyURL() throws(ServiceError) {
        guard let accessKeyID = request.parameter("OSSAccessKeyId"),
            let expires = request.parameter("Expires"),
            let deadline = parseDecimal(expires.utf8),
            let signature = request.parameter("Signature")
        else {
            throw .accessDenied(
                "Query-string authentication requires the Signature, Expires and OSSAccessKeyId "
                    + "parameters.",
                ec: "0002-00000061"
            )
        }
        guard now.seconds <= deadline else {
            throw .accessDenied("Request has expired.", ec: "0002-00000069")
        }
        let credentials = try authenticator.credentials(for: accessKeyID)
        try authenticator.checkToken(request.parameter("security-token"), of: credentials)
        try compare(signature, credentials: credentials, date: expires)
    }

    private func compare(
        _ provided: String,
        credentials: ServerCredentials,
        date: String
    ) throws(ServiceError) {
        let stringToSign = CanonicalRequest.v1(request, date: date)
        let expected = Base64.encode(
            Digests.hmacSHA1(key: [UInt8](credentials.secret.utf8), stringToSign)
        )
        guard constantTimeEqual(expected, provided) else {
            throw ServiceError(
                403,
                "SignatureDoesNotMatch",
                "The request signature we calculated does not match the signature you provided. "
                    + "Check your key and signing method.",
                ec: "0002-00000040",
                details: [
                    ("OSSAccessKeyId", credentials.accessKeyID), ("SignatureProvided", provided),
                    ("StringToSign", String(decoding: stringToSign, as: UTF8.self)),
                ]
            )
        }
    }
}
