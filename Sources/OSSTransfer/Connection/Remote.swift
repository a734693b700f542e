@_exported public import ObjectTransfer
@_exported public import SyncModel

/// A bucket and a prefix, as `oss://bucket/prefix` or `s3://bucket/prefix` names them.
///
/// A prefix is a directory: `oss://bucket/photos` means every key that begins with `photos/`.
public struct Remote: Sendable, Hashable {
    /// The protocol spoken to the store.
    public enum Dialect: String, Sendable, Hashable {
        /// Alibaba Cloud OSS.
        case oss
        /// Amazon S3 and its look-alikes.
        case s3
    }

    /// The protocol.
    public let dialect: Dialect
    /// The bucket's name.
    public let bucket: String
    /// The prefix, empty or ending in "/".
    public let prefix: String

    /// Makes a remote from its parts; a prefix that lacks the final "/" is given one.
    public init(dialect: Dialect, bucket: String, prefix: String) {
        self.dialect = dialect
        self.bucket = bucket
        self.prefix =
            prefix.isEmpty || prefix.utf8.last == UInt8(ascii: "/") ? prefix : prefix + "/"
    }
}
