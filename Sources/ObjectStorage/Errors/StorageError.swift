package import SyncModel

/// Why an operation of the store failed.
package struct StorageError: Error, Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// The service answered with an error.
        case service(status: Int, code: String)
        /// There was no whole answer.
        case transport(TransportError)
        /// The answer came, but its bytes are not those that were asked for or sent.
        case integrity(IntegrityFailure)
        /// The answer is not one that an object store gives.
        case protocolViolation(String)
        /// There are no usable credentials.
        case credentials(String)
        case localIO(errno: Int32, call: String)
        case cancelled
        /// The request cannot be made: a programmer's or a user's mistake, found before sending.
        case invalidRequest(String)
        /// The server lacks what the request needs, as an earlier answer showed.
        case unsupported(String)
    }

    package internal(set) var kind: Kind
    /// The operation's name in the service's spelling, for example `GetObject`.
    package let operation: String
    package let key: ObjectKey?
    /// The bucket that is missing, where that is what failed.
    package internal(set) var bucket: String?
    /// OSS's precise cause, `dddd-dddddddd`.
    package internal(set) var ec: String?
    /// Escaped, at most 128 characters.
    package internal(set) var requestID: String?
    /// The service's own words, escaped, at most 256 characters.
    package internal(set) var serviceMessage: String?
    /// The host that the service says to use instead.
    package internal(set) var endpointHint: String?
    /// The region where the service says the bucket is.
    package internal(set) var regionHint: String?
    /// How long the service asks to wait, limited by the retry policy.
    package let retryAfter: Duration?
    /// True if there was no connection for so long that no other request need be tried.
    package internal(set) var isOutage = false
    /// Whether the request may have had its effect, where more is known than the kind says.
    package internal(set) var reachedServer: Bool?
    /// True if the request was that of a signed URL, so that no key of this machine is at fault.
    package internal(set) var isSignedURL = false
    /// True if the request was signed elsewhere, so that no key of this machine is at fault.
    package internal(set) var isSignedElsewhere = false
    /// True if a closure of the app failed, and not the store.
    package internal(set) var isOfApp = false
    /// The code of the app's own error.
    package internal(set) var appCode: String?
    /// Which key signed a request that was refused, from where and for which place; no secret.
    package internal(set) var signer: String?
    /// The host that could not be reached.
    package internal(set) var host: String?
    /// The service's clock, for a request whose time it refused.
    package let serverTime: Timestamp?

    package init(
        kind: Kind,
        operation: String,
        key: ObjectKey? = nil,
        ec: String? = nil,
        requestID: String? = nil,
        serviceMessage: String? = nil,
        endpointHint: String? = nil,
        regionHint: String? = nil,
        retryAfter: Duration? = nil,
        serverTime: Timestamp? = nil
    ) {
        self.kind = kind
        self.operation = operation
        self.key = key
        self.ec = ec
        self.requestID = requestID.map(shownRequestID(_:))
        self.serviceMessage = serviceMessage
        self.endpointHint = endpointHint
        self.regionHint = regionHint
        self.retryAfter = retryAfter
        self.serverTime = serverTime
    }
}

/// The ID of a request, safe to show: it comes from the service, or from a proxy in between.
func shownRequestID(_ text: String) -> String {
    // As nearly all are, and each answer has one.
    let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x5C }
    if isPlain, text.utf8.count <= 128 { return text }
    return String(displayText(text.utf8.prefix(512)).unicodeScalars.prefix(128))
}

/// What is wrong with a response whose bytes arrived.
package enum IntegrityFailure: Sendable, Hashable {
    /// A whole object came although a range was asked for.
    case rangeIgnored
    /// The object is stored packed, and the server sends it unpacked, without its length.
    case unpacked
    /// The `Content-Range` is missing or is not the range that was asked for.
    case wrongContentRange(found: String?)
    /// The object is of another size than was known of this version.
    case otherSize(expected: Int64, found: Int64)
    /// The response is of another version than the one that was pinned.
    case objectChanged(expected: ETag, found: ETag)
    /// The body is encoded in a way that the object is not.
    case unexpectedEncoding(String)
    /// The length that the server announces is not the one that was asked for.
    case wrongLength(expected: Int64, found: Int64)
    /// The ETag that came back is not the MD5 of what was sent.
    case wrongDigest(sent: String, received: String)
    /// The CRC-32C that came back is not that of the part that was sent.
    case wrongPartChecksum(sent: String, received: String)
    /// The CRC-64 that came back is not that of what was sent.
    case wrongChecksum(sent: CRC64, received: CRC64)
    /// The file changed while it was sent.
    case sourceChanged
    /// The object is not one that was encrypted with the mirror's password.
    case sealed(SealedFailure)

    package var message: String {
        switch self {
        case .sealed(.notEncrypted):
            "the object is not encrypted, and the mirror is; nothing was changed. Copy the object "
                + "elsewhere and delete it, or exclude the key"
        case .sealed(.damaged(let block)):
            "the object cannot be decrypted: from byte \(block * SealedFormat.blockSize) of the "
                + "content it is damaged, or encrypted with another password; nothing was changed"
        case .rangeIgnored: "the server ignored the requested range and sent the whole object"
        case .unpacked:
            "the store unpacks the object, which is stored with a Content-Encoding, and does not "
                + "send it as it is stored"
        case .otherSize(let expected, let found):
            "the object has \(found) bytes and was listed with \(expected)"
        case .wrongContentRange(let found):
            if let found {
                "the server sent another range than the requested one (\(found))"
            } else {
                "the server sent part of the object without saying which"
            }
        case .objectChanged: "the object changed while it was read"
        case .unexpectedEncoding(let name):
            "the server or a proxy sent the content encoded as \(name), which the object is not"
        case .wrongLength(let expected, let found):
            "the server announced \(found) bytes where \(expected) were asked for"
        case .wrongDigest: "the MD5 that the server computed is not that of what was sent"
        case .wrongPartChecksum:
            "the CRC-32C that the server computed is not that of what was sent"
        case .wrongChecksum: "the CRC-64 that the server computed is not that of what was sent"
        case .sourceChanged: "the file changed while it was sent"
        }
    }
}
