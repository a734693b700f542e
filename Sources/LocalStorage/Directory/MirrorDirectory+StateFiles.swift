package import SyncModel

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// What a file of the state directory holds.
package struct StateFileContent: Sendable, Hashable {
    package let text: [UInt8]
    package let identity: FileIdentity
    /// False if the file changed while it was read.
    package let isWhole: Bool
}

extension MirrorDirectory {
    /// The content of a small file of the mirror's state, which all its shards share; nil if there
    /// is none.
    package func stateFile(_ name: String) throws(LocalError) -> [UInt8]? {
        try stateFileContent(name)?.text
    }

    /// The same of a file that another program may be writing.
    package func stateFileContent(_ name: String) throws(LocalError) -> StateFileContent? {
        try top.smallFile(name, path: stateDirectoryPath)
    }

    /// Puts a small private file into the mirror's state, in place of an older one, by one rename.
    package func writeStateFile(_ name: String, _ content: [UInt8]) throws(LocalError) {
        try replaceFile(in: top, PathBytes(name.utf8), content)
    }

    /// Removes a file of the mirror's state, durably.
    package func removeStateFile(_ name: String) throws(LocalError) {
        _ = try calls.unlink(at: top.descriptor, PathBytes(name.utf8))
        try calls.synchronize(top.descriptor)
    }

    /// The content of a small file beside the manifest, which each shard has for itself; nil if
    /// there is none.
    package func fileBesideManifest(_ name: String) throws(LocalError) -> [UInt8]? {
        try state.smallFile(name, path: stateDirectoryPath)?.text
    }

    /// Puts a small private file beside the manifest, in place of an older one, by one rename.
    package func writeBesideManifest(_ name: String, _ content: [UInt8]) throws(LocalError) {
        try replaceFile(in: state, PathBytes(name.utf8), content)
    }

    /// Removes the new files that killed processes never renamed over the old ones.
    ///
    /// The caller holds the lock; a link that is being written meanwhile fails and stays as it was.
    package func sweepStateFiles() throws(LocalError) {
        try sweepUnfinished(in: state)
        // Other shards' runs may be writing those of the mirror.
        guard state === top else { return }
        let holder: OpenDirectory
        do throws(LocalError) {
            holder = try root.subdirectory(PathBytes(RelativePath.stateDirectoryName.utf8))
        } catch {
            switch error.errno {
            // The last one is of another user's state.
            case ENOENT, EACCES: return
            default: throw error
            }
        }
        try sweepUnfinished(in: holder)
    }

    private func sweepUnfinished(in directory: OpenDirectory) throws(LocalError) {
        var names: [PartialName] = []
        try unsafe calls.names(in: directory.descriptor) { name, _ in
            if let name = unsafe PartialName(String(decoding: name, as: UTF8.self)) {
                names.append(name)
            }
        }
        for name in names { try calls.unlink(at: directory.descriptor, name.bytes) }
    }

    /// Puts a private file in place of an older one, durably.
    func replaceFile(
        in directory: OpenDirectory,
        _ name: PathBytes,
        _ content: [UInt8]
    ) throws(LocalError) {
        do throws(LocalError) {
            try directory.replaceFile(name, content, synchronizes: true)
        } catch {
            throw explained(error, neededBytes: nil)
        }
    }
}

extension OpenDirectory {
    private static let maximumLength = 4 << 20

    /// The content of a small file in the directory, which is called `path`; nil if there is none.
    func smallFile(_ name: String, path: String) throws(LocalError) -> StateFileContent? {
        do throws(LocalError) {
            let opened = try calls.open(
                at: descriptor,
                PathBytes(name.utf8),
                flags: SystemCalls.readingFlags,
                mode: 0
            )
            let file = OpenFile(adopting: opened, name: name, calls: calls)
            let status = try file.status()
            guard status.kind == .file, status.identity.size <= Int64(Self.maximumLength) else {
                throw .unsafeDirectory(
                    path: path + "/" + name,
                    reason: "it is not a small regular file"
                )
            }
            let text = try file.read(at: 0, length: Int(status.identity.size))
            return StateFileContent(
                text: text,
                identity: status.identity,
                isWhole: try file.identity() == status.identity
            )
        } catch {
            if error.errno == ENOENT { return nil }
            throw error
        }
    }
}
