internal import ObjectStorage

/// The names of records, by what they are of.
enum RecordName {
    /// Records of downloads, and of uploads, of the same directory end in these.
    static let downloadSuffix = ".download.json"
    static let uploadSuffix = ".upload.json"

    static func download(_ subject: String, _ path: String) -> String {
        digest(subject, path) + downloadSuffix
    }

    static func upload(_ subject: String, _ path: String) -> String {
        digest(subject, path) + uploadSuffix
    }

    /// Of a transfer that a manager knows by its identifier.
    static func managed(_ identifier: String, _ kind: TransferJob.Kind) -> String {
        digest(identifier) + (kind == .download ? downloadSuffix : uploadSuffix)
    }

    /// 128 bits are enough to keep them apart.
    static func digest(_ subject: String, _ path: String = "") -> String {
        let bytes = Digest.sha256(Array(subject.utf8) + [0] + Array(path.utf8))
        return hexadecimalText(Array(bytes.prefix(16)))
    }
}
