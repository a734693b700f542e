/// What differs between the dialects of the V4 signature (oss-protocol, "S3 SigV4 differences").
package struct V4Parameters: Sendable, Hashable {
    /// The word of the scope before the terminator.
    package let service: String
    private let isOSS: Bool

    /// `product` is what Alibaba Cloud's signatures name: `oss`, or `oss-cloudbox` for a CloudBox;
    /// nil for S3.
    init(product: String?) {
        service = product ?? "s3"
        isOSS = product != nil
    }

    /// `OSS4-HMAC-SHA256`.
    var algorithm: String { isOSS ? "OSS4-HMAC-SHA256" : "AWS4-HMAC-SHA256" }
    /// Comes before the secret in the first key.
    var keyPrefix: String { isOSS ? "aliyun_v4" : "AWS4" }
    /// The last word of the scope.
    var terminator: String { isOSS ? "aliyun_v4_request" : "aws4_request" }
    /// `x-oss-`: headers that begin so are always signed.
    var headerPrefix: String { isOSS ? "x-oss-" : "x-amz-" }
    var dateHeader: String { isOSS ? "x-oss-date" : "x-amz-date" }
    var digestHeader: String { isOSS ? "x-oss-content-sha256" : "x-amz-content-sha256" }
    var tokenHeader: String { isOSS ? "x-oss-security-token" : "x-amz-security-token" }
    var query: QueryNames { isOSS ? .oss : .s3 }
    /// True if `/bucket/key` is signed for any addressing, false if the request's path is signed.
    var signsResource: Bool { isOSS }
    /// True if a query parameter without value is signed as `name=`.
    package var keepsEmptyValues: Bool { !isOSS }
    /// True if all headers are signed and listed; false if the signed ones are fixed by rule and
    /// only additional ones are listed.
    var listsSignedHeaders: Bool { !isOSS }
    /// True if blanks inside a header's value are reduced to one.
    var collapsesBlanks: Bool { !isOSS }
    /// True if a `Date` header goes with the request; it is not signed.
    var sendsDate: Bool { isOSS }

    /// Names of the parameters of a pre-signed URL.
    struct QueryNames: Sendable {
        let algorithm: String
        let credential: String
        let date: String
        let expires: String
        let headers: String
        let token: String
        let signature: String

        static let oss = QueryNames(
            algorithm: "x-oss-signature-version",
            credential: "x-oss-credential",
            date: "x-oss-date",
            expires: "x-oss-expires",
            headers: "x-oss-additional-headers",
            token: "x-oss-security-token",
            signature: "x-oss-signature"
        )

        static let s3 = QueryNames(
            algorithm: "X-Amz-Algorithm",
            credential: "X-Amz-Credential",
            date: "X-Amz-Date",
            expires: "X-Amz-Expires",
            headers: "X-Amz-SignedHeaders",
            token: "X-Amz-Security-Token",
            signature: "X-Amz-Signature"
        )
    }

    /// Headers that a signature leaves out although all others are listed: proxies and the
    /// transport add or change them.
    static let unsignedHeaders = [
        "authorization", "connection", "content-length", "date", "expect", "transfer-encoding",
        "user-agent",
    ]
}
