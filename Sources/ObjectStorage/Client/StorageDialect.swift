internal import SyncModel

/// What differs between the services that speak the protocol.
///
/// Computed from the few words that are kept: each request passes it on several times.
package struct StorageDialect: Sendable, Hashable {
    /// The product that signatures name, at Alibaba Cloud; nil for S3 and its look-alikes.
    private let product: String?
    private let provider: StoreProvider?
    package var minimumPartSize: Int64
    /// The largest object that is copied by one request.
    package var maximumCopySize: Int64

    /// Alibaba Cloud OSS; `service` is the product that signatures name.
    package static func oss(service: String) -> StorageDialect {
        StorageDialect(
            product: service,
            provider: nil,
            minimumPartSize: PartLayout.minimumPartSize,
            maximumCopySize: 1_000_000_000
        )
    }

    package static let oss = oss(service: "oss")

    /// Amazon S3 and its look-alikes; nil for one of which nothing is known.
    package static func s3(_ provider: StoreProvider?) -> StorageDialect {
        StorageDialect(
            product: nil,
            provider: provider,
            minimumPartSize: 5 << 20,
            maximumCopySize: 5 << 30
        )
    }

    package static let s3 = s3(nil)

    var isOSS: Bool { product != nil }

    /// The service's name as manifests record it.
    package var name: String { isOSS ? "oss" : "s3" }
    /// What the names of the service's own headers begin with.
    package var headerPrefix: String { isOSS ? "x-oss-" : "x-amz-" }
    package var signature: V4Parameters { V4Parameters(product: product) }
    /// How listings write keys when asked to encode them.
    package var keyEncoding: PercentEncodingStyle { isOSS ? .strict : .form }
    /// True if answers other than listings can be asked to encode keys, too.
    var encodesAllDocuments: Bool { isOSS }
    /// Sent with every GET, so that an impossible range is refused and not ignored.
    var rangeBehavior: (name: String, value: String)? {
        isOSS ? ("x-oss-range-behavior", "standard") : nil
    }
    /// The header with the whole object's CRC-64.
    var checksumHeader: String {
        isOSS ? "x-oss-hash-crc64ecma" : Self.keptChecksumHeader
    }
    private static let keptChecksumHeader = "x-amz-meta-" + checksumMetadataName
    /// True if the service computes it; false if it only keeps what the writer said.
    package var computesChecksum: Bool { isOSS }
    /// Asks for other checksums that the service may have.
    var checksumMode: (name: String, value: String)? {
        isOSS ? nil : ("x-amz-checksum-mode", "ENABLED")
    }
    /// Asks for what a listing leaves out unless asked: whether archived objects were restored.
    ///
    /// Others have no such classes, and some refuse headers that they do not know.
    var listingAttributes: (name: String, value: String)? {
        provider == .aws ? ("x-amz-optional-object-attributes", "RestoreStatus") : nil
    }
    /// True if a request over plain http carries the digest of its body.
    var signsPayload: Bool { !isOSS }
    var conditions: WriteConditionStyle { isOSS ? .forbidOverwrite : .preconditions }
    /// What comes before the bucket's name in the source of a copy.
    var copySourcePrefix: String { isOSS ? "/" : "" }
    /// Bytes of UTF-8.
    package var maximumKeyLength: Int { isOSS ? 1_023 : 1_024 }
    package var maximumObjectSize: Int64 { isOSS ? PartLayout.maximumObjectSize : 5 << 40 }
    /// Bytes of all user metadata of an object, names included.
    var maximumMetadataSize: Int { isOSS ? 8 << 10 : 2 << 10 }
    /// The names of the storage classes that a write may ask for, and whose objects can be read at
    /// once.
    var writableClasses: [String] {
        isOSS
            ? ["Standard", "IA"]
            : [
                "STANDARD_IA", "ONEZONE_IA", "INTELLIGENT_TIERING", "REDUCED_REDUNDANCY",
                "GLACIER_IR",
            ]
    }
    /// True if an upload that must not replace an object is refused where it begins; false if only
    /// where it ends.
    package var refusesAtOnce: Bool { isOSS }
    /// True if versioned buckets ignore that a write must find no object: they make a new version.
    package var versionsIgnoreConditions: Bool { isOSS }
    /// How the body of RestoreObject names its parts.
    var restore: RestoreStyle { isOSS ? .oss : .s3 }
    /// A byte of keys that the store does not keep as it is; nil if it keeps all.
    package var lostKeyByte: UInt8? { provider?.lostKeyByte }
    /// True if all parts of an upload but the last must be of one size.
    package var partsHaveOneSize: Bool { provider == .r2 }

    /// The metadata that holds the CRC-64 of what osssync wrote, in decimal digits, where the
    /// service itself computes none.
    package static let checksumMetadataName = "osssync-crc64"
    /// Metadata with a token that no other upload has.
    package static let tokenMetadataName = "osssync-upload"
    /// Metadata of an object whose content is encrypted, for what knows no password.
    package static let encryptionMetadataName = "osssync-encryption"

    func header(_ name: String) -> String { headerPrefix + name }

    var accessControlHeader: String { header(isOSS ? "object-acl" : "acl") }

    /// What a copy says that does not keep its source's tags.
    var replaceTags: String { isOSS ? "Replace" : "REPLACE" }

    /// The headers of a server-side encryption, and what its method is called that uses the key
    /// service.
    var encryptionNames: (method: String, keyService: String, key: String) {
        let method = header("server-side-encryption")
        return isOSS
            ? (method, "KMS", method + "-key-id") : (method, "aws:kms", method + "-aws-kms-key-id")
    }

    /// True if listings tell which archived objects were restored.
    package var listsRestoredObjects: Bool { isOSS || listingAttributes != nil }

    /// True if a HEAD can ask for one of the parts that an object was made of.
    var numbersParts: Bool { !isOSS }

    package static func == (left: Self, right: Self) -> Bool {
        left.product == right.product
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(product)
    }
}

/// The names in the body of RestoreObject.
package enum RestoreStyle: Sendable, Hashable {
    case oss
    case s3

    var namespace: String? {
        self == .oss ? nil : "http://s3.amazonaws.com/doc/2006-03-01/"
    }

    var parametersName: String { self == .oss ? "JobParameters" : "GlacierJobParameters" }
}

/// How a write says that it must not destroy what somebody else wrote.
enum WriteConditionStyle: Sendable, Hashable {
    /// OSS: a header that refuses to overwrite; nothing protects what is replaced.
    case forbidOverwrite
    /// S3: `If-None-Match: *` and `If-Match`, which not every look-alike knows.
    case preconditions
}
