/// What an object is written with beside its content; what is not set is the choice of the store or
/// the bucket.
public struct ObjectProperties: Sendable, Hashable {
    /// Who keeps the keys with which the store encrypts an object.
    @nonexhaustive
    public enum Encryption: Sendable, Hashable {
        /// The store.
        case aes256
        /// The store's key service, with this key or its own.
        case kms(keyID: String?)
    }

    /// The object's type; nil leaves it to the key's ending or, where that says nothing, to the
    /// store.
    public var contentType: String?
    /// Headers of HTTP that are stored with the object: `Cache-Control`, `Content-Disposition`,
    /// `Content-Encoding`, `Content-Language`, `Expires`, in capitals or not.
    public var contentHeaders: [String: String] = [:]
    /// The user's metadata, by names without `x-oss-meta-`.
    ///
    /// Names are letters, digits and hyphens, which the store turns to lower case; values are
    /// printable ASCII and not empty. OSS takes 8 KiB in all, S3 2 KiB.
    public var metadata: [String: String] = [:]
    /// The object's tags: at most ten, with names of 1 to 128 and values of 0 to 256 characters.
    public var tags: [String: String] = [:]
    /// The store's name of a storage class; nil for the bucket's own.
    public var storageClass: String?
    /// How the store encrypts the object; nil for the bucket's own.
    public var encryption: Encryption?
    /// The store's name of an access control list, such as `private`; nil for the bucket's own.
    public var accessControl: String?

    /// No properties.
    public init() {}

    /// The store's and the bucket's own choices.
    public static let none = ObjectProperties()

    /// Those that a copy does not have of its source.
    package var ofCopy: ObjectProperties {
        var properties = ObjectProperties.none
        (properties.encryption, properties.accessControl) = (encryption, accessControl)
        return properties
    }

    /// The same of a copy in the trash: what was taken away is not to be opened by a run.
    package var ofTrash: ObjectProperties {
        var properties = ofCopy
        if properties.accessControl != "private" { properties.accessControl = nil }
        return properties
    }

    /// The metadata in the order of their names, so that requests are alike.
    package var sortedMetadata: [(name: String, value: String)] { Self.sorted(metadata) }

    /// The tags in the order of their names.
    package var sortedTags: [(name: String, value: String)] { Self.sorted(tags) }

    private static func sorted(_ values: [String: String]) -> [(name: String, value: String)] {
        values.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            .map { (name: $0.key, value: $0.value) }
    }
}
