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
    private let calls: SystemCalls

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
        self.calls = calls
        directory = try PrivateDirectory.open(
            at: parent.descriptor,
            name,
            path: path,
            createsIfMissing: true,
            calls: calls
        )
    }

    /// Removes all names; what is open stays usable.
    func remove() {
        // What cannot be removed is empty, in the system's own place for such things.
        try? TreeRemoval(root: parent, calls: calls).remove([UInt8](name.bytes))
    }

    /// A new directory within this one.
    func makeDirectory(_ name: StaticString) throws(LocalError) -> OpenDirectory {
        try PrivateDirectory.open(
            at: directory.descriptor,
            PathBytes(name),
            path: path + "/" + name.description,
            createsIfMissing: true,
            calls: calls
        )
    }
}
