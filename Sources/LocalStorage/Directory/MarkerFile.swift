internal import CLibrary
internal import SyncModel

/// Where the ``DirectoryMarker`` of a mirrored directory is: in this very directory, wherever the
/// state is kept.
package struct MarkerFile: Sendable {
    private static let name: StaticString = "marker"

    let root: OpenDirectory
    /// The mirror's, for messages.
    let path: String
    let protection: LocalError?
    let state: OpenDirectory
    let disk: MirrorDisk

    /// What ``write(_:isFirst:)`` left; nil if there is none, as on a disk that is not mounted.
    package func read() throws(LocalError) -> DirectoryMarker? {
        do throws(LocalError) {
            let file = try Self.open(in: root)
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
    package static func exists(at path: String, calls: SystemCalls) throws(LocalError) -> Bool {
        do throws(LocalError) {
            return try open(in: GivenPath.open(path, calls: calls)).status().kind == .file
        } catch {
            if case .missingDirectory = error { return false }
            guard error.errno == ENOENT else { throw error }
            return false
        }
    }

    private static func open(in root: OpenDirectory) throws(LocalError) -> OpenFile {
        try root.subdirectory(PathBytes(RelativePath.stateDirectoryName.utf8))
            .file(PathBytes(name), name.description)
    }

    /// Puts a marker in place of any before, durably; the first time that a manifest asks for it
    /// with the directories that lead to it.
    ///
    /// A power cut must not take the marker and leave the manifest elsewhere, which asks for it.
    package func write(_ marker: DirectoryMarker, isFirst: Bool) throws(LocalError) {
        let holder = try holder(makes: true)
        try disk.explaining { () throws(LocalError) in
            let name = PathBytes(Self.name)
            try holder.replaceFile(name, marker.content, synchronizes: true)
        }
        guard isFirst, try !holder.status().isSameObject(as: state.status()) else { return }
        try root.calls.synchronizeFileSystem(root.descriptor)
    }

    /// Why nothing can be written beneath the directory; nil if it can.
    ///
    /// With `makes`, the directory of the marker is made where it is missing.
    package func writingRefusal(makes: Bool) throws(LocalError) -> LocalError? {
        // What is only sent is left as it is.
        if let protection { return protection }
        do throws(LocalError) {
            let holder = try holder(makes: makes)
            let place = path + "/" + RelativePath.stateDirectoryName
            return root.calls.writingRefusal(holder.descriptor, place)
        } catch {
            switch error {
            case .missingDirectory: return root.calls.writingRefusal(root.descriptor, path)
            case .unsafeDirectory: return error
            case _ where error.refusesWriting: return disk.explained(error, neededBytes: nil)
            default: throw error
            }
        }
    }

    /// The directory of the marker, for what else belongs to the mirrored directory and not to one
    /// of its states; nil if there is none, or it is another user's.
    package func folder(makes: Bool) throws(LocalError) -> StateFolder? {
        do throws(LocalError) {
            return StateFolder(
                directory: try holder(makes: makes),
                path: path + "/" + RelativePath.stateDirectoryName,
                disk: disk
            )
        } catch {
            guard !makes else { throw error }
            switch error {
            case .missingDirectory, .unsafeDirectory: return nil
            case _ where error.errno == ENOENT || error.isAccessDenied: return nil
            default: throw error
            }
        }
    }

    private func holder(makes: Bool) throws(LocalError) -> OpenDirectory {
        try root.privateDirectory(RelativePath.stateDirectoryName, in: path, makes: makes)
    }
}
