internal import SyncModel

/// One object, as `oss://bucket/key` or `s3://bucket/key` names it.
public struct ObjectReference: Sendable, Hashable {
    /// The object's bucket, with an empty prefix.
    public let bucket: Remote
    /// The whole key, not escaped; empty if the text names only the bucket.
    public let key: String

    /// Makes a reference from its parts.
    public init(dialect: Remote.Dialect, bucket: String, key: String) {
        self.bucket = Remote(dialect: dialect, bucket: bucket, prefix: "")
        self.key = key
    }

    /// Reads `oss://bucket/key` or `s3://bucket/key`; unlike a remote's, the last part of the path
    /// is not treated as a directory.
    ///
    /// - Throws: `SyncError` of code `configuration` that says what is wrong with the text.
    public init(parsing text: String) throws(SyncError) {
        let remote = try Remote(parsing: text)
        self.init(
            dialect: remote.dialect,
            bucket: remote.bucket,
            key: Self.key(remote, isDirectory: text.utf8.last == UInt8(ascii: "/"))
        )
    }

    private static func key(_ remote: Remote, isDirectory: Bool) -> String {
        // A remote gives its prefix the slash that the text may lack.
        isDirectory ? remote.prefix : String(decoding: remote.prefix.utf8.dropLast(), as: UTF8.self)
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
        ObjectReference(dialect: bucket.dialect, bucket: bucket.bucket, key: key + name)
    }

    /// The reference as the user types it.
    public var text: String { "\(bucket.dialect.rawValue)://\(bucket.bucket)/\(key)" }

    /// The reference in a form that is safe to print.
    public var display: String { displayText(text) }
}
