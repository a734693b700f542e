internal import SyncModel

/// What differs between the services that speak the protocol.
package struct StorageDialect: Sendable, Hashable {
    /// The service's name as manifests record it.
    package let name: String
    /// What the names of the service's own headers begin with.
    package let headerPrefix: String
    package let signature: V4Parameters
    /// How listings write keys when asked to encode them.
    package let keyEncoding: PercentEncodingStyle
    /// True if answers other than listings can be asked to encode keys, too.
    let encodesAllDocuments: Bool
    /// Sent with every GET, so that an impossible range is refused and not ignored.
    let rangeBehavior: (name: String, value: String)?
    /// The header with the whole object's CRC-64.
    let checksumHeader: String
    /// True if the service computes it; false if it only keeps what the writer said.
    package let computesChecksum: Bool
    /// Asks for other checksums that the service may have.
    let checksumMode: (name: String, value: String)?
    /// Asks for what a listing leaves out unless asked: whether archived objects were restored.
    let listingAttributes: (name: String, value: String)?
    /// True if a request over plain http carries the digest of its body.
    let signsPayload: Bool
    let conditions: WriteConditionStyle
    /// What comes before the bucket's name in the source of a copy.
    let copySourcePrefix: String
    /// Bytes of UTF-8.
    package let maximumKeyLength: Int
    package var minimumPartSize: Int64
    package let maximumObjectSize: Int64
    /// Bytes of all user metadata of an object, names included.
    let maximumMetadataSize: Int
    /// The names of the storage classes that a write may ask for, and whose objects can be read at
    /// once.
    let writableClasses: Set<String>

    /// True if an upload that must not replace an object is refused where it begins; false if only
    /// where it ends.
    package var refusesAtOnce: Bool { conditions == .forbidOverwrite }
    /// True if versioned buckets ignore that a write must find no object: they make a new version.
    package var versionsIgnoreConditions: Bool { conditions == .forbidOverwrite }
    /// The largest object that is copied by one request.
    package var maximumCopySize: Int64
    /// How the body of RestoreObject names its parts.
    let restore: RestoreStyle
    /// A byte of keys that the store does not keep as it is; nil if it keeps all.
    package let lostKeyByte: UInt8?
    /// True if all parts of an upload but the last must be of one size.
    package let partsHaveOneSize: Bool

    /// Alibaba Cloud OSS; `service` is the product that signatures name.
    package static func oss(service: String) -> StorageDialect {
        StorageDialect(
            name: "oss",
            headerPrefix: "x-oss-",
            signature: .oss(service: service),
            keyEncoding: .strict,
            encodesAllDocuments: true,
            rangeBehavior: ("x-oss-range-behavior", "standard"),
            checksumHeader: "x-oss-hash-crc64ecma",
            computesChecksum: true,
            checksumMode: nil,
            listingAttributes: nil,
            signsPayload: false,
            conditions: .forbidOverwrite,
            copySourcePrefix: "/",
            maximumKeyLength: 1_023,
            minimumPartSize: PartLayout.minimumPartSize,
            maximumObjectSize: PartLayout.maximumObjectSize,
            maximumMetadataSize: 8 << 10,
            writableClasses: ["Standard", "IA"],
            maximumCopySize: 1_000_000_000,
            restore: .oss,
            lostKeyByte: nil,
            partsHaveOneSize: false
        )
    }

    package static let oss = oss(service: "oss")

    /// Amazon S3 and its look-alikes; nil for one of which nothing is known.
    package static func s3(_ provider: StoreProvider?) -> StorageDialect {
        StorageDialect(
            name: "s3",
            headerPrefix: "x-amz-",
            signature: .s3,
            keyEncoding: .form,
            encodesAllDocuments: false,
            rangeBehavior: nil,
            checksumHeader: "x-amz-meta-" + checksumMetadataName,
            computesChecksum: false,
            checksumMode: ("x-amz-checksum-mode", "ENABLED"),
            // Others have no such classes, and some refuse headers that they do not know.
            listingAttributes: provider == .aws
                ? ("x-amz-optional-object-attributes", "RestoreStatus") : nil,
            signsPayload: true,
            conditions: .preconditions,
            copySourcePrefix: "",
            maximumKeyLength: 1_024,
            minimumPartSize: 5 << 20,
            maximumObjectSize: 5 << 40,
            maximumMetadataSize: 2 << 10,
            writableClasses: [
                "STANDARD_IA", "ONEZONE_IA", "INTELLIGENT_TIERING", "REDUCED_REDUNDANCY",
                "GLACIER_IR",
            ],
            maximumCopySize: 5 << 30,
            restore: .s3,
            lostKeyByte: provider?.lostKeyByte,
            partsHaveOneSize: provider == .r2
        )
    }

    package static let s3 = s3(nil)

    /// The metadata that holds the CRC-64 of what osssync wrote, in decimal digits, where the
    /// service itself computes none.
    package static let checksumMetadataName = "osssync-crc64"
    /// Metadata with a token that no other upload has.
    package static let tokenMetadataName = "osssync-upload"

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

    var isOSS: Bool { conditions == .forbidOverwrite }

    /// True if a HEAD can ask for one of the parts that an object was made of.
    var numbersParts: Bool { !isOSS }

    package static func == (left: Self, right: Self) -> Bool {
        left.name == right.name && left.signature == right.signature
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(signature)
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
