package import SyncModel

/// Signs requests with the V4 scheme of OSS, and with that of S3, which it descends from
/// (oss-protocol, "Signing").
package struct V4Signer: Sendable {
    package let parameters: V4Parameters
    /// Names of headers that are signed beyond the fixed ones, in the dialect that has such a list.
    package let additionalHeaders: [String]
    private let scopes = SigningScopeCache()

    /// The longest lifetime of a pre-signed URL, in seconds.
    package static let maximumLifetime: Int64 = 604_800
    /// The same for temporary credentials.
    package static let maximumTemporaryLifetime: Int64 = 43_200

    /// What a signature was made from, step by step.
    struct Steps {
        let canonicalRequest: [UInt8]
        let stringToSign: [UInt8]
        let signingKey: [UInt8]
        /// Lower-case hexadecimal digits.
        let signature: [UInt8]
        /// The names of the signed headers, or of the additional ones.
        let headerNames: [UInt8]
    }

    /// Adds the date, token and `Authorization` headers.
    package func sign(
        _ request: inout SignableRequest,
        credentials: Credentials,
        region: String,
        time: Timestamp
    ) {
        let scope = scope(credentials, region, time)
        request.headers.reserveCapacity(request.headers.count + 6)
        request.headers.append((parameters.dateHeader, scope.timeText))
        if parameters.sendsDate { request.headers.append(("date", scope.httpText)) }
        request.headers.append(
            (parameters.digestHeader, request.payloadDigest ?? Self.unsignedPayload)
        )
        if let token = credentials.securityToken {
            request.headers.append((parameters.tokenHeader, token.revealedText))
        }
        let steps = steps(for: request, scope: scope)
        request.headers.append(("authorization", authorization(steps, credentials, scope)))
    }

    /// The query parameters that make the request's URL a signed one, in an order that can be sent.
    ///
    /// Clients of the URL must send the signed headers unchanged.
    package func presign(
        _ request: SignableRequest,
        credentials: Credentials,
        region: String,
        time: Timestamp,
        expiresInSeconds: Int64
    ) -> [(String, String)] {
        presignSteps(
            request,
            credentials: credentials,
            region: region,
            time: time,
            expiresInSeconds: expiresInSeconds
        ).query
    }

    func presignSteps(
        _ request: SignableRequest,
        credentials: Credentials,
        region: String,
        time: Timestamp,
        expiresInSeconds: Int64
    ) -> (query: [(String, String)], steps: Steps) {
        let scope = scope(credentials, region, time)
        let names = parameters.query
        var added = [
            (names.algorithm, parameters.algorithm),
            (names.credential, credentials.accessKeyID + "/" + scope.text),
            (names.date, scope.timeText),
            (names.expires, String(expiresInSeconds)),
        ]
        let (_, headerNames) = canonicalHeaders(of: request)
        if parameters.listsSignedHeaders || !headerNames.isEmpty {
            added.append((names.headers, String(decoding: headerNames, as: UTF8.self)))
        }
        if let token = credentials.securityToken {
            added.append((names.token, token.revealedText))
        }
        var complete = request
        complete.payloadDigest = nil
        complete.query += added
        let steps = steps(for: complete, scope: scope)
        added.append((names.signature, String(decoding: steps.signature, as: UTF8.self)))
        return (added, steps)
    }

    func steps(for request: SignableRequest, scope: SigningScope) -> Steps {
        let (headers, headerNames) = canonicalHeaders(of: request)
        var canonical: [UInt8] = []
        canonical.reserveCapacity(1_024)
        canonical += request.method.rawValue.utf8
        canonical.append(Self.newline)
        if parameters.signsResource {
            request.appendResource(to: &canonical)
        } else {
            canonical += request.path.utf8
        }
        canonical.append(Self.newline)
        var query = CanonicalFields(capacity: request.query.count)
        for (name, value) in request.query { query.add(parameter: name, value: value) }
        query.sortParameters()
        query.appendQuery(to: &canonical, keepsEmptyValues: parameters.keepsEmptyValues)
        canonical.append(Self.newline)
        headers.appendHeaders(to: &canonical)
        canonical.append(Self.newline)
        canonical += headerNames
        canonical.append(Self.newline)
        canonical += (request.payloadDigest ?? Self.unsignedPayload).utf8

        var toSign: [UInt8] = []
        toSign.reserveCapacity(192)
        for text in [parameters.algorithm, scope.timeText, scope.text] {
            toSign += text.utf8
            toSign.append(Self.newline)
        }
        appendHexadecimal(Digest.sha256(canonical), to: &toSign)
        var signature: [UInt8] = []
        signature.reserveCapacity(64)
        appendHexadecimal(Digest.hmacSHA256(key: scope.key, toSign), to: &signature)
        return Steps(
            canonicalRequest: canonical,
            stringToSign: toSign,
            signingKey: scope.key,
            signature: signature,
            headerNames: headerNames
        )
    }

    func scope(_ credentials: Credentials, _ region: String, _ time: Timestamp) -> SigningScope {
        scopes.scope(
            parameters: parameters,
            region: region,
            secret: credentials.accessKeySecret,
            time: time
        )
    }

    static let unsignedPayload = "UNSIGNED-PAYLOAD"
    private static let newline = UInt8(ascii: "\n")

    /// The signed headers, sorted, and the list of names that goes with the signature.
    private func canonicalHeaders(
        of request: SignableRequest
    ) -> (headers: CanonicalFields, names: [UInt8]) {
        var signed = CanonicalFields(capacity: request.headers.count + 1)
        var listed = CanonicalFields(capacity: additionalHeaders.count)
        var hasHost = false
        for (name, value) in request.headers {
            if isSameHeader(name, "host") { hasHost = true }
            let isAdditional = isAdditional(name)
            guard isAdditional || isSigned(name) else { continue }
            let collapses = parameters.collapsesBlanks
            signed.add(header: name, value: value, collapsesBlanks: collapses)
            if isAdditional { listed.add(header: name, value: "", collapsesBlanks: false) }
        }
        if !hasHost, parameters.listsSignedHeaders || isAdditional("host") {
            signed.add(header: "host", value: request.host, collapsesBlanks: false)
            listed.add(header: "host", value: "", collapsesBlanks: false)
        }
        signed.sortHeaders()
        var names: [UInt8] = []
        if parameters.listsSignedHeaders {
            signed.appendNames(to: &names)
        } else {
            listed.sortHeaders()
            listed.appendNames(to: &names)
        }
        return (signed, names)
    }

    private func isSigned(_ name: String) -> Bool {
        if hasHeaderPrefix(name, parameters.headerPrefix) { return true }
        if parameters.listsSignedHeaders {
            return !V4Parameters.unsignedHeaders.contains { isSameHeader($0, name) }
        }
        return isSameHeader(name, "content-type") || isSameHeader(name, "content-md5")
    }

    /// True for a header that is only signed because the caller asked for it.
    private func isAdditional(_ name: String) -> Bool {
        guard !additionalHeaders.isEmpty, !parameters.listsSignedHeaders, !isSigned(name) else {
            return false
        }
        return additionalHeaders.contains { isSameHeader($0, name) }
    }

    private func authorization(
        _ steps: Steps,
        _ credentials: Credentials,
        _ scope: SigningScope
    ) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(256)
        text += parameters.algorithm.utf8
        text += " Credential=".utf8
        text += credentials.accessKeyID.utf8
        text.append(UInt8(ascii: "/"))
        text += scope.text.utf8
        if parameters.listsSignedHeaders {
            text += ", SignedHeaders=".utf8
            text += steps.headerNames
            text += ", Signature=".utf8
        } else {
            if !steps.headerNames.isEmpty {
                text += ",AdditionalHeaders=".utf8
                text += steps.headerNames
            }
            text += ",Signature=".utf8
        }
        text += steps.signature
        return String(decoding: text, as: UTF8.self)
    }
}
