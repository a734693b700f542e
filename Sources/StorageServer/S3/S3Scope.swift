internal import SyncModel

/// What a SigV4 signature was made for: `AK/date/region/s3/aws4_request`.
struct S3Scope: Sendable {
    let accessKeyID: String
    let date: String
    let region: String
    let service: String

    init?(_ text: String) {
        let fields = text.split(separator: "/", omittingEmptySubsequences: false)
            .map(String.init)
        guard fields.count >= 5, fields[fields.count - 1] == "aws4_request" else { return nil }
        // An access key may have slashes.
        accessKeyID = fields[..<(fields.count - 4)].joined(separator: "/")
        date = fields[fields.count - 4]
        region = fields[fields.count - 3]
        service = fields[fields.count - 2]
    }

    var text: String { "\(date)/\(region)/\(service)/aws4_request" }
}

/// The key of one scope, and what it signs.
struct S3SigningKey: Sendable {
    private let key: [UInt8]
    let scope: S3Scope
    let time: Timestamp

    init(secret: String, scope: S3Scope, time: Timestamp, keys: SigningKeys) {
        key = keys.key(
            of: "AWS4" + secret,
            for: [scope.date, scope.region, scope.service, "aws4_request"]
        )
        self.scope = scope
        self.time = time
    }

    func stringToSign(algorithm: String, _ lines: [String]) -> String {
        ([algorithm, CivilTime(time).basicText, scope.text] + lines).joined(separator: "\n")
    }

    func signature(of stringToSign: String) -> String {
        let code = Digests.hmacSHA256(key: key, [UInt8](stringToSign.utf8))
        return hexadecimal(code, uppercase: false)
    }

    /// The signature of a chunk that follows one with the signature `previous`.
    func chunkSignature(previous: String, digest: [UInt8]) -> String {
        let lines = [
            previous, hexadecimal(Digests.sha256([]), uppercase: false),
            hexadecimal(digest, uppercase: false),
        ]
        return signature(of: stringToSign(algorithm: "AWS4-HMAC-SHA256-PAYLOAD", lines))
    }

    /// The signature of the trailing headers, each as `name:value` and a line feed.
    func trailerSignature(previous: String, trailer: String) -> String {
        let digest = Digests.sha256([UInt8](trailer.utf8))
        let lines = [previous, hexadecimal(digest, uppercase: false)]
        return signature(of: stringToSign(algorithm: "AWS4-HMAC-SHA256-TRAILER", lines))
    }
}

/// What a request's signature says of its body.
enum SignedPayload: Sendable {
    case unsigned
    /// SHA-256 of all of it.
    case digest(String)
    /// Chunks without signatures, and headers after them.
    case chunks
    /// Chunks that are signed one after the other, from the request's own signature on.
    case signedChunks(S3SigningKey, seed: String)

    init(
        header: String,
        key: S3SigningKey,
        signature: String
    ) throws(ServiceError) {
        switch header {
        case "UNSIGNED-PAYLOAD": self = .unsigned
        case "STREAMING-UNSIGNED-PAYLOAD-TRAILER": self = .chunks
        case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER":
            self = .signedChunks(key, seed: signature)
        default:
            guard header.utf8.count == 64, header.utf8.allSatisfy(isLowerHexadecimal) else {
                throw .invalidArgument(
                    "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, a STREAMING- value, or a "
                        + "SHA-256 in hexadecimal digits.",
                    name: "x-amz-content-sha256",
                    value: header
                )
            }
            self = .digest(header)
        }
    }
}

private func isLowerHexadecimal(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
    default: false
    }
}
