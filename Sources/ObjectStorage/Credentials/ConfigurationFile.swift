internal import CLibrary

/// A small file of the user's, read whole, with what its owner and mode say.
package struct ConfigurationFile: Sendable {
    package let path: String
    /// Without the mark with which some editors begin a file of UTF-8.
    package let bytes: [UInt8]
    /// Why other users can read its secrets; nil if they cannot.
    package let exposure: String?
    /// Why others can change it; nil if they can't.
    private let alteration: String?

    private static let maximumSize = 1 << 20
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Reads the file; nil if there is none.
    package init?(path: String) throws(CredentialsError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw .unreadableFile(path: path, errno: errno)
        }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw .unreadableFile(path: path, errno: errno)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .invalid(source: path, reason: "it is not a regular file")
        }
        let content = try Self.read(descriptor, path: path)
        bytes = content.starts(with: Self.byteOrderMark) ? [UInt8](content.dropFirst(3)) : content
        self.path = path
        exposure = Self.exposure(mode: status.st_mode, owner: status.st_uid)
        alteration = Self.alteration(mode: status.st_mode, owner: status.st_uid)
    }

    /// Throws unless only the user can read and change the file: call it before a secret of it is
    /// used.
    package func requirePrivacy() throws(CredentialsError) {
        if let exposure { throw .exposedFile(path: path, reason: exposure) }
    }

    /// Throws unless only the user can change the file: call it before a command of it is run.
    package func requireIntegrity() throws(CredentialsError) {
        guard let alteration else { return }
        throw .invalid(source: path, reason: alteration)
    }

    static func alteration(mode: mode_t, owner: uid_t) -> String? {
        if owner != geteuid(), owner != 0 { return "it belongs to another user" }
        return mode & 0o022 == 0 ? nil : "other users can change it; run: chmod go-w on it"
    }

    static func exposure(mode: mode_t, owner: uid_t) -> String? {
        if owner != geteuid(), owner != 0 { return CredentialsError.isOfOther }
        return mode & 0o077 == 0 ? nil : "is open to other users"
    }

    private static func read(_ descriptor: Int32, path: String) throws(CredentialsError) -> [UInt8]
    {
        var result: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { buffer in
                unsafe CLibrary.read(descriptor, buffer.baseAddress, buffer.count)
            }
            if count == 0 { return result }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw .unreadableFile(path: path, errno: errno)
            }
            result += chunk[..<count]
            guard result.count <= maximumSize else {
                throw .invalid(source: path, reason: "it is larger than \(maximumSize) bytes")
            }
        }
    }
}
