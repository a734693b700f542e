/// What a directory of this machine is left out for, with all it holds: files that it has, and the
/// file system that it is on.
package struct DirectoryTags: Sendable, Hashable {
    /// Names of files that mark the directory they are in.
    package var names: Set<String> = []
    /// Also a `CACHEDIR.TAG` with the signature of the Cache Directory Tagging Specification.
    package var recognizesCaches = false
    /// Directories in which another file system is mounted.
    package var staysOnFileSystem = false

    /// Leaves nothing out.
    package init() {}

    /// True if nothing can be left out.
    package var isEmpty: Bool { !hasFiles && !staysOnFileSystem }

    /// True if a file in a directory can leave it out.
    package var hasFiles: Bool { !names.isEmpty || recognizesCaches }

    /// True for a file that can leave its directory out.
    package func mayBeTag(_ key: ObjectKey) -> Bool {
        guard hasFiles else { return false }
        let name = key.bytes.split(separator: UInt8(ascii: "/")).last ?? []
        return recognizesCaches && name.elementsEqual(Self.cacheName.utf8)
            || names.contains { name.elementsEqual($0.utf8) }
    }

    package static let cacheName = "CACHEDIR.TAG"
    package static let cacheSignature = [UInt8]("Signature: 8a477f597d28d172789f06886806bc55".utf8)
}
