package import SyncModel

/// Signs requests with OSS's first scheme, for stores that don't know V4 (oss-protocol, "OSS V1").
package struct V1Signer: Sendable {
    package init() {}

    /// Adds the `Date`, token and `Authorization` headers.
    package func sign(
        _ request: inout SignableRequest,
        credentials: Credentials,
        time: Timestamp
    ) {
        let date = CivilTime(time).httpText
        request.headers.append(("date", date))
        if let token = credentials.securityToken {
            request.headers.append(("x-oss-security-token", token.revealedText))
        }
        let signature = signature(of: stringToSign(request, date: date), credentials)
        let authorization = "OSS " + credentials.accessKeyID + ":" + signature
        request.headers.append(("authorization", authorization))
    }

    /// The query parameters that make the request's URL a signed one, valid to an absolute time.
    package func presign(
        _ request: SignableRequest,
        credentials: Credentials,
        time: Timestamp,
        expiresInSeconds: Int64
    ) -> [(String, String)] {
        let expires = String(time.seconds + expiresInSeconds)
        var complete = request
        var added: [(String, String)] = []
        if let token = credentials.securityToken {
            added.append(("security-token", token.revealedText))
        }
        complete.query += added
        let signature = signature(of: stringToSign(complete, date: expires), credentials)
        added.append(("OSSAccessKeyId", credentials.accessKeyID))
        added.append(("Expires", expires))
        added.append(("Signature", signature))
        return added
    }

    func stringToSign(_ request: SignableRequest, date: String) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(512)
        let newline = UInt8(ascii: "\n")
        text += request.method.rawValue.utf8
        text.append(newline)
        for name in ["content-md5", "content-type"] {
            text += (request.headers.first { isSameHeader($0.0, name) }?.1 ?? "").utf8
            text.append(newline)
        }
        text += date.utf8
        text.append(newline)
        var signed = CanonicalFields(capacity: request.headers.count)
        for (name, value) in request.headers where hasHeaderPrefix(name, "x-oss-") {
            signed.add(header: name, value: value, collapsesBlanks: false)
        }
        signed.sortHeaders()
        signed.appendHeaders(to: &text)
        appendResource(of: request, to: &text)
        return text
    }

    private func signature(of text: [UInt8], _ credentials: Credentials) -> String {
        Base64.encode(Digest.hmacSHA1(key: credentials.accessKeySecret.revealedBytes, text))
    }

    /// `/bucket/key`, not encoded, and those query parameters that name a sub-resource, decoded.
    private func appendResource(of request: SignableRequest, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "/"))
        if let bucket = request.bucket {
            text += bucket.utf8
            text.append(UInt8(ascii: "/"))
            if let key = request.key { text += key.bytes }
        }
        let signed = request.query.filter { Self.subresources.contains($0.0) }
            .sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
        var separator = UInt8(ascii: "?")
        for (name, value) in signed {
            text.append(separator)
            separator = UInt8(ascii: "&")
            text += name.utf8
            guard !value.isEmpty else { continue }
            text.append(UInt8(ascii: "="))
            text += value.utf8
        }
    }

    /// Query parameters that are signed; all others are not (oss-protocol, "OSS V1, header form").
    private static let subresources: Set<String> = [
        "acl", "append", "bucketInfo", "callback", "callback-var", "continuation-token", "delete",
        "location", "objectMeta", "partNumber", "position", "restore", "response-cache-control",
        "response-content-disposition", "response-content-encoding", "response-content-language",
        "response-content-type", "response-expires", "security-token", "sequential", "stat",
        "symlink", "tagging", "uploadId", "uploads", "versionId", "versioning", "versions",
        "x-oss-process", "x-oss-request-payer", "x-oss-traffic-limit",
    ]
}
