/// Files by whose presence a directory of this machine is left out, with all it holds.
public struct DirectoryTags: Sendable, Hashable {
    /// Names of files that mark the directory they are in.
    public var names: Set<String> = []
    /// Also a `CACHEDIR.TAG` with the signature of the Cache Directory Tagging Specification.
    public var recognizesCaches = false

    /// Leaves nothing out.
    public init() {}

    /// True if nothing can be left out.
    public var isEmpty: Bool { names.isEmpty && !recognizesCaches }

    package static let cacheName = "CACHEDIR.TAG"
    package static let cacheSignature = [UInt8]("Signature: 8a477f597d28d172789f06886806bc55".utf8)
}
