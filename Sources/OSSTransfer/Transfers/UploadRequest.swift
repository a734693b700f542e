/// A request of an upload that an app's server is to sign for a device without keys.
///
/// The device encodes it for its server, which decides whether it allows the request, and signs it
/// with `BucketClient.sign(_:lifetime:)`. A server without this library signs the request that
/// the operation names with its own means.
public struct UploadRequest: Sendable, Hashable, Codable {
    /// What the request does; the raw value is the service's name of it.
    @nonexhaustive
    public enum Operation: String, Sendable, Hashable, Codable, CaseIterable {
        /// Sends a small file as a whole: PUT.
        case put = "PutObject"
        /// Begins an upload in parts: POST with `uploads`.
        case initiate = "InitiateMultipartUpload"
        /// Sends a part: PUT with `partNumber` and `uploadId`.
        case uploadPart = "UploadPart"
        /// Asks which parts the store has: GET with `uploadId`, and with `part-number-marker` for
        /// those after the first 1,000.
        case listParts = "ListParts"
        /// Makes the object of the parts: POST with `uploadId`.
        case complete = "CompleteMultipartUpload"
        /// Deletes the parts: DELETE with `uploadId`.
        case abort = "AbortMultipartUpload"
        /// Asks for the object's headers, to learn whether an answer that was lost was a success,
        /// and with `ifExists`: HEAD.
        ///
        /// A server may refuse it; then an upload whose last answer was lost may be sent again.
        case head = "HeadObject"
    }

    /// What it does.
    public let operation: Operation
    /// The object's whole key.
    public let key: String
    /// Names the upload in parts; nil for `put`, `initiate` and `head`.
    public let uploadID: String?
    /// Of `uploadPart`: from 1 to 10,000.
    public let partNumber: Int?
    /// Of `listParts`: the number after which the listing begins; nil for all parts.
    public let partNumberMarker: Int?
    /// Bytes of the body, as the device says.
    public let contentLength: Int64
    /// Headers that the device wants to send, by names in lower case.
    ///
    /// They say how the object is written, such as its type, and checksums of the body.
    public let headers: [String: String]
    /// True if the store has just refused a signature of this request, most likely because it has
    /// expired: it needs another one.
    public let isRenewal: Bool

    /// Makes a request from what a device has said of it.
    public init(
        _ operation: Operation,
        key: String,
        uploadID: String? = nil,
        partNumber: Int? = nil,
        partNumberMarker: Int? = nil,
        contentLength: Int64 = 0,
        headers: [String: String] = [:],
        isRenewal: Bool = false
    ) {
        self.operation = operation
        self.key = key
        self.uploadID = uploadID
        self.partNumber = partNumber
        self.partNumberMarker = partNumberMarker
        self.contentLength = contentLength
        self.headers = headers
        self.isRenewal = isRenewal
    }
}

/// A request as it was signed: where it goes, and with which headers.
///
/// It is a permission: send it over TLS, and keep it out of logs.
public struct SignedRequest: Sendable, Hashable, Codable {
    /// The whole URL, which is sent unchanged.
    public let url: String
    /// All headers that the device sends; those that are signed must have exactly these values.
    public let headers: [String: String]

    /// Takes the URL and the headers as they are.
    public init(url: String, headers: [String: String] = [:]) {
        self.url = url
        self.headers = headers
    }
}

extension SignedRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Leaves out the signed part, so that the text grants no permission.
    public var description: String { "SignedRequest" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// Shows nothing.
    public var customMirror: Swift.Mirror { Swift.Mirror(self, children: []) }
}
