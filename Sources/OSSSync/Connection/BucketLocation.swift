internal import OSSTransfer
internal import SyncModel

/// A bucket and a prefix, as `oss://bucket/prefix` or `s3://bucket/prefix` names them.
///
/// A prefix is a directory: `oss://bucket/photos` means every key that begins with `photos/`.
public struct BucketLocation: Sendable, Hashable {
    /// The protocol spoken to the store.
    public let dialect: StoreDialect
    /// The bucket's name.
    public let bucket: String
    /// The prefix, empty or ending in "/".
    public let prefix: String

    /// Makes a location from its parts; a prefix that lacks the final "/" is given one.
    public init(dialect: StoreDialect, bucket: String, prefix: String) {
        self.dialect = dialect
        self.bucket = bucket
        self.prefix =
            prefix.isEmpty || prefix.utf8.last == UInt8(ascii: "/") ? prefix : prefix + "/"
    }

    /// Reads `oss://bucket/prefix` or `s3://bucket/prefix`; the prefix may be missing.
    ///
    /// - Throws: `TransferError` of code `configuration` that says what is wrong with the text.
    public init(parsing text: String) throws(TransferError) {
        let address = try StoreAddress(parsing: text)
        self.init(dialect: address.dialect, bucket: address.bucket, prefix: address.path)
    }

    /// The location as the user types it: `oss://bucket/prefix/`.
    public var text: String { "\(dialect.rawValue)://\(bucket)/\(prefix)" }

    /// The location in a form that is safe to print.
    package var display: String { displayText(text) }

    var prefixKey: ObjectKey { ObjectKey(prefix) }
}
