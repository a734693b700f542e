internal import ObjectTransfer
internal import SyncModel

/// A bucket and what comes after it, as `oss://bucket/path` or `s3://bucket/path` names them.
package struct StoreAddress: Sendable {
    private static let bucketLengths = 3...63

    package let dialect: StoreDialect
    package let bucket: String
    /// Empty, or a key or the beginning of keys.
    package let path: String

    /// - Throws: `TransferError` of code `configuration` that says what is wrong with the text.
    package init(parsing text: String) throws(TransferError) {
        // The query of a signed address is a secret.
        let isRemote = text.hasPrefix("oss://") || text.hasPrefix("s3://")
        let shown = displayText(isRemote ? text : Self.withoutQuery(text))
        func failure(_ reason: String) -> TransferError {
            TransferError(
                code: .configuration,
                message: "'\(shown)' is not a remote: \(reason); use oss://BUCKET/PREFIX "
                    + "or s3://BUCKET/PREFIX"
            )
        }
        let dialect: StoreDialect
        let rest: Substring
        if text.hasPrefix("oss://") {
            (dialect, rest) = (.oss, text.dropFirst(6))
        } else if text.hasPrefix("s3://") {
            (dialect, rest) = (.s3, text.dropFirst(5))
        } else {
            throw failure("it begins with neither oss:// nor s3://")
        }
        let bytes = [UInt8](rest.utf8)
        let slash = bytes.firstIndex(of: UInt8(ascii: "/")) ?? bytes.endIndex
        let bucket = bytes[..<slash]
        guard Self.isBucketName(bucket, dialect) else {
            let others = dialect == .s3 ? "hyphen and dot, and none of those" : "hyphen, and none"
            throw failure("a bucket's name has 3 to 63 of a-z, 0-9, \(others) at its ends")
        }
        let prefix = [UInt8](bytes[slash...].dropFirst())
        guard prefix.first != UInt8(ascii: "/"), prefix.first != UInt8(ascii: "\\") else {
            throw failure("a key cannot begin with a slash")
        }
        guard !prefix.contains(0) else { throw failure("it has a NUL byte") }
        self.dialect = dialect
        self.bucket = String(decoding: bucket, as: UTF8.self)
        path = String(decoding: prefix, as: UTF8.self)
    }

    private static func withoutQuery(_ text: String) -> String {
        let bytes = text.utf8
        guard let mark = bytes.firstIndex(of: UInt8(ascii: "?")) else { return text }
        return String(text[..<mark]) + "?…"
    }

    private static func isBucketName(_ name: ArraySlice<UInt8>, _ dialect: StoreDialect) -> Bool {
        func isAlphanumeric(_ byte: UInt8) -> Bool {
            byte.isDigit || byte.isSmallLetter
        }
        guard bucketLengths.contains(name.count), let first = name.first, let last = name.last
        else { return false }
        return isAlphanumeric(first) && isAlphanumeric(last)
            && name.allSatisfy { byte in
                isAlphanumeric(byte) || byte == UInt8(ascii: "-")
                    || (dialect == .s3 && byte == UInt8(ascii: "."))
            }
    }
}
