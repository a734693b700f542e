/// A private directory outside every mirror, for a short time.
///
/// A command that only reads a mirror without state needs a place for an empty manifest, and must
/// not create anything in the mirror.
final class ScratchDirectory: Sendable {
    private static let parentPath = "/tmp"

    let path: String
    private let parent: OpenDirectory
    private let name: PathBytes
    private let directory: OpenDirectory

    init(calls: SystemCalls) throws(LocalError) {
        let descriptor = try calls.open(
            at: SystemCalls.workingDirectory,
            PathBytes(Self.parentPath.utf8),
            flags: SystemCalls.followingDirectoryFlags,
            mode: 0
        )
        let text = "osssync-" + PartialName.random().text
        parent = OpenDirectory(adopting: descriptor, calls: calls)
        name = PathBytes(text.utf8)
        path = Self.parentPath + "/" + text
        directory = try parent.privateDirectory(text, in: Self.parentPath, makes: true)
    }

    /// Removes all names; what is open stays usable.
    func remove() {
        // What cannot be removed is empty, in the system's own place for such things.
        try? TreeRemoval(root: parent, calls: parent.calls).remove([UInt8](name.bytes))
    }

    /// A new directory within this one.
    func makeDirectory(_ name: String) throws(LocalError) -> OpenDirectory {
        try directory.privateDirectory(name, in: path, makes: true)
    }
}
