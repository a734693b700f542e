public import ObjectTransfer

/// One object, as `oss://bucket/key` or `s3://bucket/key` names it.
public struct ObjectReference: Sendable, Hashable {
    /// The protocol spoken to the store.
    public let dialect: StoreDialect
    /// The bucket's name.
    public let bucket: String
    /// The whole key, not escaped; empty if the text names only the bucket.
    public let key: String

    /// Makes a reference from its parts.
    public init(dialect: StoreDialect, bucket: String, key: String) {
        self.dialect = dialect
        self.bucket = bucket
        self.key = key
    }

    /// Reads `oss://bucket/key` or `s3://bucket/key`.
    ///
    /// - Throws: `TransferError` of code `configuration` that says what is wrong with the text.
    public init(parsing text: String) throws(TransferError) {
        let address = try StoreAddress(parsing: text)
        self.init(dialect: address.dialect, bucket: address.bucket, key: address.path)
    }

    /// True if the text names a directory, not an object: the bucket, or a key that ends in "/".
    public var isDirectory: Bool { key.isEmpty || key.utf8.last == UInt8(ascii: "/") }

    /// The last part of the key, by which a file is called; empty for a directory.
    public var name: String {
        let bytes = key.utf8
        let start = bytes.lastIndex(of: UInt8(ascii: "/")).map(bytes.index(after:))
        return String(decoding: bytes[(start ?? bytes.startIndex)...], as: UTF8.self)
    }

    /// The object of that name in this directory.
    public func appending(_ name: String) -> ObjectReference {
        ObjectReference(dialect: dialect, bucket: bucket, key: key + name)
    }

    /// The reference as the user types it.
    public var text: String { "\(dialect.rawValue)://\(bucket)/\(key)" }

    /// The reference in a form that is safe to print.
    public var display: String { displayText(text) }
}
