internal import SyncModel

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension MirrorDirectory {
    private static let markerName: StaticString = "marker"

    /// What ``writeMarker(_:isFirst:)`` left in this very directory, wherever the state is kept.
    ///
    /// Nil if there is none, as on a disk that is not mounted.
    package func marker() throws(LocalError) -> DirectoryMarker? {
        do throws(LocalError) {
            let holder = try root.subdirectory(PathBytes(RelativePath.stateDirectoryName.utf8))
            let descriptor = try calls.open(
                at: holder.descriptor,
                PathBytes(Self.markerName),
                flags: SystemCalls.readingFlags,
                mode: 0
            )
            let file = OpenFile(adopting: descriptor, name: "marker", calls: calls)
            let status = try file.status()
            guard status.kind == .file else { return nil }
            let length = min(Int(clamping: status.identity.size), DirectoryMarker.maximumLength)
            return DirectoryMarker(content: try file.read(at: 0, length: length))
        } catch {
            switch error.errno {
            case ENOENT, ENOTDIR, ELOOP, ENXIO: return nil
            default: throw error
            }
        }
    }

    /// True if a mirror was made in the directory of this path; false if there is no directory.
    ///
    /// Nothing is made or changed.
    package static func hasMarker(at path: String, calls: SystemCalls) throws(LocalError) -> Bool {
        do throws(LocalError) {
            let root = try openRoot(path, createsIfMissing: false, calls: calls)
            let holder = try root.subdirectory(PathBytes(RelativePath.stateDirectoryName.utf8))
            let flags = SystemCalls.readingFlags
            let descriptor = try calls.open(
                at: holder.descriptor,
                PathBytes(markerName),
                flags: flags,
                mode: 0
            )
            return try OpenFile(adopting: descriptor, name: "marker", calls: calls)
                .status().kind == .file
        } catch {
            if case .missingDirectory = error { return false }
            guard error.errno == ENOENT else { throw error }
            return false
        }
    }

    /// Puts a marker in place of any before, durably; the first time that a manifest asks for it
    /// with the directories that lead to it.
    ///
    /// A power cut must not take the marker and leave the manifest elsewhere, which asks for it.
    package func writeMarker(_ marker: DirectoryMarker, isFirst: Bool) throws(LocalError) {
        let holder = try markerDirectory(makes: true)
        try replaceFile(in: holder, PathBytes(Self.markerName), marker.content)
        guard isFirst, try !holder.status().isSameObject(as: state.status()) else { return }
        try calls.synchronizeFileSystem(root.descriptor)
    }

    /// Why nothing can be written beneath the directory; nil if it can.
    ///
    /// With `makes`, the directory of the marker is made where it is missing.
    package func writingRefusal(makes: Bool) throws(LocalError) -> LocalError? {
        // What is only sent is left as it is.
        if let protection { return protection }
        do throws(LocalError) {
            let holder = try markerDirectory(makes: makes)
            return calls.writingRefusal(
                holder.descriptor,
                path + "/" + RelativePath.stateDirectoryName
            )
        } catch {
            switch error {
            case .missingDirectory: return calls.writingRefusal(root.descriptor, path)
            case .unsafeDirectory: return error
            case _ where error.refusesWriting: return explained(error, neededBytes: nil)
            default: throw error
            }
        }
    }

    private func markerDirectory(makes: Bool) throws(LocalError) -> OpenDirectory {
        try PrivateDirectory.open(
            at: root.descriptor,
            PathBytes(RelativePath.stateDirectoryName.utf8),
            path: path + "/" + RelativePath.stateDirectoryName,
            createsIfMissing: makes,
            calls: calls
        )
    }
}
