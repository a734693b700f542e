internal import CLibrary
internal import SyncModel

/// A private file that is written piece by piece, and gets its name only once it is complete.
///
/// Until then it is beside that name; dropped without ``publish()``, it is removed. Every method
/// blocks on the disk; run them on a ``BlockingQueue``.
package final class NewFile: Sendable {
    private let path: String
    private let directory: OpenDirectory
    private let name: PathBytes
    private let temporary: PathBytes
    private let file: OpenFile
    private let beginning: [UInt8]

    /// Creates the file beside `path`, which a user gave.
    ///
    /// - Parameters:
    ///   - path: What it becomes. What is there must be missing, empty or begin with `beginning`.
    ///   - beginning: The first bytes of a file that may be replaced.
    /// - Throws: `unsafeDirectory` for anything else there, with the reason.
    package init(path: String, replacing beginning: [UInt8]) throws(LocalError) {
        let calls = SystemCalls.standard
        let bytes = [UInt8](path.utf8)
        guard !bytes.contains(0), let last = bytes.last, last != UInt8(ascii: "/") else {
            throw Self.refusal(path, "it is not the path of a file")
        }
        let end = bytes.lastIndex(of: UInt8(ascii: "/"))
        let folder = end.map { [UInt8](bytes[..<max($0, 1)]) } ?? [UInt8(ascii: ".")]
        let own = [UInt8](bytes[(end.map { $0 + 1 } ?? 0)...])
        directory = OpenDirectory(
            adopting: try calls.open(
                at: SystemCalls.workingDirectory,
                PathBytes(folder),
                flags: SystemCalls.followingDirectoryFlags,
                mode: 0
            ),
            calls: calls
        )
        self.path = path
        name = PathBytes(own)
        temporary = PathBytes(own + [UInt8](".\(PartialName.random().text).partial".utf8))
        try Self.check(path, name, in: directory, beginning)
        file = try directory.file(temporary, path, flags: SystemCalls.creationFlags, mode: 0o600)
        self.beginning = beginning
    }

    deinit {
        // Published, there is nothing of this name.
        _ = try? directory.calls.unlink(at: directory.descriptor, temporary)
    }

    package func write(_ bytes: [UInt8], at offset: Int64) throws(LocalError) {
        try file.write(bytes, at: offset)
    }

    /// Gives the file its name, durably.
    package func publish() throws(LocalError) {
        let calls = directory.calls
        try file.synchronize()
        // Hours may have passed.
        try Self.check(path, name, in: directory, beginning)
        try calls.rename(from: directory.descriptor, temporary, to: directory.descriptor, name)
        try calls.synchronize(directory.descriptor)
    }

    private static func check(
        _ path: String,
        _ name: PathBytes,
        in directory: OpenDirectory,
        _ beginning: [UInt8]
    ) throws(LocalError) {
        guard let status = try directory.status(of: name) else { return }
        guard status.kind == .file else { throw refusal(path, "it is not a regular file") }
        if status.identity.size == 0 { return }
        guard try directory.file(name, path).read(at: 0, length: beginning.count) == beginning
        else {
            throw refusal(
                path,
                "its content is not from osssync; specify another file, or delete "
                    + "this one"
            )
        }
    }

    private static func refusal(_ path: String, _ reason: String) -> LocalError {
        .unsafeDirectory(path: displayText(path.utf8), reason: reason)
    }
}

extension OpenFile {
    /// Opens a regular file at a path that a user gave, over links.
    package convenience init(reading path: String) throws(LocalError) {
        let calls = SystemCalls.standard
        guard !path.utf8.contains(0), !path.isEmpty else { throw .missingFile }
        let descriptor = try calls.open(
            at: SystemCalls.workingDirectory,
            PathBytes(path.utf8),
            flags: O_RDONLY | O_NONBLOCK | O_CLOEXEC,
            mode: 0
        )
        self.init(adopting: descriptor, name: path, calls: calls)
        guard try status().kind == .file else {
            throw .unsafeDirectory(
                path: displayText(path.utf8),
                reason: "it is not a regular file"
            )
        }
    }
}
