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
    /// Sent with every GET, so that an impossible range is refused and not ignored.
    let rangeBehavior: (name: String, value: String)?
    /// The header with the whole object's CRC-64, if the service has one.
    let checksumHeader: String?
    /// Bytes of UTF-8.
    package let maximumKeyLength: Int
    package let minimumPartSize: Int64

    /// Alibaba Cloud OSS; `service` is the product that signatures name.
    package static func oss(service: String) -> StorageDialect {
        StorageDialect(
            name: "oss",
            headerPrefix: "x-oss-",
            signature: .oss(service: service),
            keyEncoding: .strict,
            rangeBehavior: ("x-oss-range-behavior", "standard"),
            checksumHeader: "x-oss-hash-crc64ecma",
            maximumKeyLength: 1_023,
            minimumPartSize: PartLayout.minimumPartSize
        )
    }

    package static let oss = oss(service: "oss")

    func header(_ name: String) -> String { headerPrefix + name }

    package static func == (left: Self, right: Self) -> Bool {
        left.name == right.name && left.signature == right.signature
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(signature)
    }
}
