internal import ObjectStorage

/// Names in a directory of records.
enum RecordName {
    /// 128 bits are enough to keep them apart.
    static func digest(_ subject: String, _ path: String = "") -> String {
        let bytes = Digest.sha256(Array(subject.utf8) + [0] + Array(path.utf8))
        return hexadecimalText(Array(bytes.prefix(16)))
    }
}
