/// Takes credentials out of what a service says, which may repeat what it was sent.
///
/// Eight bytes in a row of a secret are taken out, so that nothing recognisable is left where the
/// service or a limit has cut it. Shorter secrets are left: they would be parts of ordinary words.
struct Redaction: Sendable {
    private static let unit = 8
    private static let placeholder = "(secret)"

    /// Every eight bytes in a row of the secrets, and of their percent-encoded form in a URL.
    private var pieces: Set<UInt64> = []

    mutating func add(_ secret: [UInt8]) {
        addPieces(of: secret)
        let spelled = Array(percentEncode(secret, keepsSlash: false).utf8)
        if spelled.count != secret.count { addPieces(of: spelled) }
    }

    private mutating func addPieces(of bytes: [UInt8]) {
        Self.forEachPiece(of: bytes) { piece, _ in pieces.insert(piece) }
    }

    /// `text` with a placeholder for each run of secret bytes.
    func applied(to text: String) -> String {
        guard let bytes = applied(to: Array(text.utf8)) else { return text }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The same for bytes; nil if there is nothing to take out.
    func applied(to bytes: [UInt8]) -> [UInt8]? {
        guard !pieces.isEmpty else { return nil }
        var runs: [Range<Int>] = []
        Self.forEachPiece(of: bytes) { piece, end in
            guard pieces.contains(piece) else { return }
            let start = end - Self.unit
            if let last = runs.last, last.upperBound >= start {
                runs[runs.count - 1] = last.lowerBound..<end
            } else {
                runs.append(start..<end)
            }
        }
        guard !runs.isEmpty else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var position = 0
        for run in runs {
            result += bytes[position..<run.lowerBound]
            result += Self.placeholder.utf8
            position = run.upperBound
        }
        return result + bytes[position...]
    }

    /// Calls `body` with each eight bytes in a row and where they end.
    private static func forEachPiece(of bytes: [UInt8], _ body: (UInt64, Int) -> Void) {
        var piece: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            piece = piece << 8 | UInt64(byte)
            if index + 1 >= unit { body(piece, index + 1) }
        }
    }
}

// MARK: - What a request was sent with

extension Redaction {
    /// What the latest attempt was signed with and carried.
    mutating func add(_ context: AttemptContext) {
        if let credentials = context.credentials {
            add(credentials.accessKeySecret.revealedBytes)
            if let token = credentials.securityToken { add(token.revealedBytes) }
        }
        if let authorization = context.authorization { add(Self.signature(of: authorization)) }
        for address in [context.urls?.get, context.urls?.head, context.signedURL] {
            for permission in address?.permissions ?? [] { add(permission) }
        }
    }

    /// The end of an `Authorization` header; what stands before it are names that any message has.
    private static func signature(of authorization: String) -> [UInt8] {
        let bytes = Array(authorization.utf8)
        // The signature itself may be padded.
        let end = (bytes.lastIndex { $0 != UInt8(ascii: "=") } ?? -1) + 1
        let mark = bytes[..<end].lastIndex { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ":") }
        return Array(bytes[(mark.map { $0 + 1 } ?? 0)..<end])
    }
}

// MARK: - Where it is applied

extension StorageError {
    /// The same without the secrets in any of the service's words.
    func redacted(by redaction: Redaction) -> StorageError {
        var error = self
        error.kind = kind.redacted(by: redaction)
        error.ec = ec.map(redaction.applied(to:))
        error.requestID = requestID.map(redaction.applied(to:))
        error.serviceMessage = serviceMessage.map(redaction.applied(to:))
        error.endpointHint = endpointHint.map(redaction.applied(to:))
        error.regionHint = regionHint.map(redaction.applied(to:))
        return error
    }
}

extension StorageError.Kind {
    fileprivate func redacted(by redaction: Redaction) -> StorageError.Kind {
        switch self {
        case .service(let status, let code):
            .service(status: status, code: redaction.applied(to: code))
        case .protocolViolation(let what): .protocolViolation(redaction.applied(to: what))
        case .integrity(.wrongContentRange(let found)):
            .integrity(.wrongContentRange(found: found.map(redaction.applied(to:))))
        case .integrity(.unexpectedEncoding(let name)):
            .integrity(.unexpectedEncoding(redaction.applied(to: name)))
        case .transport(.malformedResponse(let reason)):
            .transport(.malformedResponse(reason: redaction.applied(to: reason)))
        case .transport, .integrity, .credentials, .localIO, .cancelled, .invalidRequest,
            .unsupported:
            self
        }
    }
}
