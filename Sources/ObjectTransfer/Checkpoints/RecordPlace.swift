package import LocalStorage
internal import ObjectStorage
internal import SyncModel

/// Where the record of a single transfer is, and by which name another process finds it.
package struct RecordPlace: Sendable {
    static let downloadSuffix = ".download"
    private static let uploadSuffix = ".upload"

    /// Made if it is missing.
    package let directory: String
    /// The app's own name for the transfer, by which it is found again; nil: it is found by the
    /// file, and an upload by the object, too.
    private let identity: String?
    /// The transferred file, as it was given.
    private let file: String
    private let base: String?
    /// Of an upload; nil for a download.
    private let object: String?
    /// True if the record of a finished transfer is removed by its owner, which writes down the end
    /// before.
    let isOwned: Bool

    /// Names the place; nothing is read.
    ///
    /// - Parameters:
    ///   - directory: Where records are.
    ///   - identity: The app's own name for the transfer, if it has one.
    ///   - file: The transferred file.
    ///   - base: A directory above the file that may be moved with it; nil if paths are absolute.
    ///   - object: The object of an upload; nil for a download.
    ///   - isOwned: True if the owner of the record removes it at the end.
    package init(
        directory: String,
        identity: String?,
        file: String,
        base: String?,
        object: String?,
        isOwned: Bool
    ) {
        self.directory = directory
        self.identity = identity
        self.file = file
        self.base = base
        self.object = object
        self.isOwned = isOwned
    }

    /// The record that a temporary file was to become, if it is one of a transfer.
    static func record(ofTemporary name: String) -> String? {
        let record = String(name.prefix { $0 != "." })
        return [downloadSuffix, uploadSuffix].map { record + $0 }
            .first { name.hasPrefix($0) && name.count > $0.count }
    }

    /// The name of a record of an identity of the app's.
    package static func name(of identity: String, isDownload: Bool) -> String {
        digest(["identity", identity]) + suffix(isDownload)
    }

    private static func suffix(_ isDownload: Bool) -> String {
        isDownload ? downloadSuffix : uploadSuffix
    }

    /// The name of the record's file, and where a download goes, as the record says it.
    func name() throws(LocalError) -> (name: String, destination: String?) {
        let place = try Self.relative(file, to: base)
        let isDownload = object == nil
        let name =
            identity.map { Self.name(of: $0, isDownload: isDownload) }
            ?? Self.digest(["file", object ?? "", place]) + Self.suffix(isDownload)
        return (name, isDownload ? place : nil)
    }

    /// The file of a record.
    func destination(of recorded: String) -> FileDestination? {
        try? FileDestination(base.map { $0 + "/" + recorded } ?? recorded)
    }

    /// The one path of a file, however it is spelled, beneath `base` if that is given.
    package static func relative(
        _ file: String,
        to base: String?
    ) throws(LocalError) -> String {
        let path: String
        // The file itself may be missing, or be replaced as a link.
        if let destination = try? FileDestination(file) {
            let parent = try directory(destination.parent)
            let name = String(decoding: destination.name.bytes, as: UTF8.self)
            path = (parent == "/" ? "" : parent) + "/" + name
        } else {
            path = try directory(file)
        }
        guard let base else { return path }
        let root = try directory(base)
        let prefix = root == "/" ? "/" : root + "/"
        guard path.utf8.starts(with: prefix.utf8) else {
            throw .outsideBase(path: displayText(file.utf8), base: displayText(base.utf8))
        }
        return String(decoding: path.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    }

    private static func directory(_ path: String) throws(LocalError) -> String {
        do throws(LocalError) {
            return try GivenPath.resolved(path)
        } catch {
            guard case .missingFile = error else { throw error }
            throw .missingParent(path: FileDestination.shown(path))
        }
    }

    /// 128 bits are enough to keep them apart.
    package static func digest(_ texts: [String]) -> String {
        var bytes: [UInt8] = []
        for text in texts { bytes += Array(text.utf8) + [0] }
        return hexadecimalText(Digest.sha256(bytes).prefix(16))
    }
}
