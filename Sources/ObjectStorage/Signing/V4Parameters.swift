/// What differs between the dialects of the V4 signature (oss-protocol, "S3 SigV4 differences").
package struct V4Parameters: Sendable, Hashable {
    /// `OSS4-HMAC-SHA256`.
    let algorithm: String
    /// Comes before the secret in the first key.
    let keyPrefix: String
    /// The last word of the scope.
    let terminator: String
    /// The word of the scope before the terminator.
    package let service: String
    /// `x-oss-`: headers that begin so are always signed.
    let headerPrefix: String
    let query: QueryNames
    /// True if `/bucket/key` is signed for any addressing, false if the request's path is signed.
    let signsResource: Bool
    /// True if a query parameter without value is signed as `name=`.
    package let keepsEmptyValues: Bool
    /// True if all headers are signed and listed; false if the signed ones are fixed by rule and
    /// only additional ones are listed.
    let listsSignedHeaders: Bool
    /// True if blanks inside a header's value are reduced to one.
    let collapsesBlanks: Bool
    /// True if a `Date` header goes with the request; it is not signed.
    let sendsDate: Bool

    /// Names of the parameters of a pre-signed URL.
    struct QueryNames: Sendable, Hashable {
        let algorithm: String
        let credential: String
        let date: String
        let expires: String
        let headers: String
        let token: String
        let signature: String
    }

    /// Alibaba Cloud OSS; `service` is `oss`, or `oss-cloudbox` for a CloudBox.
    package static func oss(service: String) -> V4Parameters {
        V4Parameters(
            algorithm: "OSS4-HMAC-SHA256",
            keyPrefix: "aliyun_v4",
            terminator: "aliyun_v4_request",
            service: service,
            headerPrefix: "x-oss-",
            query: QueryNames(
                algorithm: "x-oss-signature-version",
                credential: "x-oss-credential",
                date: "x-oss-date",
                expires: "x-oss-expires",
                headers: "x-oss-additional-headers",
                token: "x-oss-security-token",
                signature: "x-oss-signature"
            ),
            signsResource: true,
            keepsEmptyValues: false,
            listsSignedHeaders: false,
            collapsesBlanks: false,
            sendsDate: true
        )
    }

    /// Alibaba Cloud OSS.
    package static let oss = oss(service: "oss")

    /// Amazon S3 and its look-alikes.
    package static let s3 = V4Parameters(
        algorithm: "AWS4-HMAC-SHA256",
        keyPrefix: "AWS4",
        terminator: "aws4_request",
        service: "s3",
        headerPrefix: "x-amz-",
        query: QueryNames(
            algorithm: "X-Amz-Algorithm",
            credential: "X-Amz-Credential",
            date: "X-Amz-Date",
            expires: "X-Amz-Expires",
            headers: "X-Amz-SignedHeaders",
            token: "X-Amz-Security-Token",
            signature: "X-Amz-Signature"
        ),
        signsResource: false,
        keepsEmptyValues: true,
        listsSignedHeaders: true,
        collapsesBlanks: true,
        sendsDate: false
    )

    /// Headers that a signature leaves out although all others are listed: proxies and the
    /// transport add or change them.
    static let unsignedHeaders = [
        "authorization", "connection", "content-length", "date", "expect", "transfer-encoding",
        "user-agent",
    ]
}
