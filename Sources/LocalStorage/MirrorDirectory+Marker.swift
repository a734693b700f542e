internal import SyncModel

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension MirrorDirectory {
    private static let markerName: StaticString = "marker"
    private static let maximumMarkerLength = 256

    /// The text that ``writeMarker(_:)`` left in this very directory, wherever the state is kept;
    /// nil if there is none, as on a disk that is not mounted.
    package func marker() throws(LocalError) -> String? {
        do throws(LocalError) {
            let holder = try root.subdirectory(PathBytes(RelativePath.stateDirectoryName.utf8))
            let descriptor = try calls.open(
                at: holder.descriptor,
                PathBytes(Self.markerName),
                flags: SystemCalls.readingFlags,
                mode: 0
            )
            let file = OpenFile(adopting: descriptor, name: "marker", calls: calls)
            guard try file.status().kind == .file else { return nil }
            let bytes = try file.read(at: 0, length: Self.maximumMarkerLength)
            let text = displayText(bytes.prefix { $0 != UInt8(ascii: "\n") })
            return text.isEmpty ? nil : text
        } catch {
            switch error.errno {
            case ENOENT, ENOTDIR, ELOOP, ENXIO: return nil
            default: throw error
            }
        }
    }

    /// Marks the directory with `text`, one line of at most 255 bytes, in place of any marker
    /// before.
    package func writeMarker(_ text: String) throws(LocalError) {
        let holder = try PrivateDirectory.open(
            at: root.descriptor,
            PathBytes(RelativePath.stateDirectoryName.utf8),
            path: path + "/" + RelativePath.stateDirectoryName,
            createsIfMissing: true,
            calls: calls
        )
        try replaceFile(in: holder, PathBytes(Self.markerName), [UInt8]((text + "\n").utf8))
        guard try !holder.status().isSameObject(as: state.status()) else { return }
        // With the directories that lead to it: a power cut must not take the marker and leave the
        // manifest elsewhere, which asks for it.
        try calls.synchronizeFileSystem(root.descriptor)
    }
}
