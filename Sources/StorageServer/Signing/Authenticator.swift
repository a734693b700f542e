internal import SyncModel

/// Verifies signatures: OSS V4 and V1, and S3's, in the header or the URL.
struct Authenticator: Sendable {
    let credentials: [String: ServerCredentials]
    let region: String
    let signingKeys = SigningKeys()

    static let allowedSkewInSeconds: Int64 = 900

    init(credentials: [ServerCredentials], region: String) {
        self.credentials = Dictionary(
            credentials.map { ($0.accessKeyID, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        self.region = region
    }

    /// Throws what the service answers to a request that is not signed as it must be.
    func verify(_ request: Request, now: Timestamp) throws(ServiceError) {
        let header = request.header("authorization")
        let isV4URL = request.hasParameter("x-oss-signature")
        let isV1URL = request.hasParameter("Signature") || request.hasParameter("OSSAccessKeyId")
        if header != nil, isV4URL || isV1URL {
            throw .invalidArgument(
                "Both the URL and the Authorization header carry a signature.",
                ec: "0002-00000101"
            )
        }
        if isV4URL {
            try V4Verifier(authenticator: self, request: request, now: now).verifyURL()
        } else if isV1URL {
            try V1Verifier(authenticator: self, request: request, now: now).verifyURL()
        } else if let header {
            if header.hasPrefix("OSS4-HMAC-SHA256") {
                try V4Verifier(authenticator: self, request: request, now: now)
                    .verifyHeader(String(header.dropFirst("OSS4-HMAC-SHA256".count)))
            } else if header.hasPrefix("OSS ") {
                try V1Verifier(authenticator: self, request: request, now: now)
                    .verifyHeader(String(header.dropFirst("OSS ".count)))
            } else {
                throw .invalidArgument(
                    "The Authorization header is of no known kind.",
                    name: "Authorization",
                    ec: "0002-00000203"
                )
            }
        } else {
            throw .accessDenied("Anonymous access is forbidden.", ec: "0003-00000905")
        }
    }

    /// Verifies SigV4; the result says how the body is signed.
    func verifyS3(_ request: Request, now: Timestamp) throws(ServiceError) -> SignedPayload {
        try S3Verifier(authenticator: self, request: request, now: now).verify()
    }

    func credentials(for accessKeyID: String) throws(ServiceError) -> ServerCredentials {
        guard let found = credentials[accessKeyID] else {
            throw ServiceError(
                403,
                "InvalidAccessKeyId",
                "The OSS Access Key Id you provided does not exist in our records.",
                ec: "0002-00000902",
                details: [("OSSAccessKeyId", accessKeyID)]
            )
        }
        return found
    }

    func checkToken(_ token: String?, of credentials: ServerCredentials) throws(ServiceError) {
        guard token != credentials.securityToken else { return }
        throw ServiceError(
            403,
            "InvalidSecurityToken",
            "The security token you provided is invalid.",
            ec: "0002-00000006"
        )
    }

    func checkSkew(of time: Timestamp, now: Timestamp) throws(ServiceError) {
        guard abs(time.seconds - now.seconds) > Self.allowedSkewInSeconds else { return }
        throw ServiceError(
            403,
            "RequestTimeTooSkewed",
            "The difference between the request time and the current time is too large.",
            ec: "0002-00000504",
            details: [
                ("MaxAllowedSkewMilliseconds", String(Self.allowedSkewInSeconds * 1_000)),
                ("RequestTime", CivilTime(time).extendedText(milliseconds: 0)),
                ("ServerTime", CivilTime(now).extendedText(milliseconds: 0)),
            ]
        )
    }
}

/// Compares without stopping at the first difference.
func constantTimeEqual(_ left: String, _ right: String) -> Bool {
    let left = [UInt8](left.utf8)
    let right = [UInt8](right.utf8)
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for index in left.indices { difference |= left[index] ^ right[index] }
    return difference == 0
}
