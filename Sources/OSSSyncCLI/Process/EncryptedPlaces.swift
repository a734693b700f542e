internal import OSSSync

/// Prefixes whose contents a mirror of this account encrypts: what knows no password neither
/// writes there nor takes what is there for the content of a file.
extension CommandContext {
    /// Refuses a prefix that is beneath or above such a one, and an object beneath it, by whatever
    /// protocol.
    func requirePlain(_ bucket: String, _ prefix: String) throws(SyncError) {
        if let place = encryptedPlace(bucket, prefix) { throw Self.refusal(place) }
    }

    /// The same for a mirror that does not take what is there as it is stored.
    func requirePlain(_ mirror: DirectoryMirror) throws(SyncError) {
        guard !mirror.isEncrypted, !mirror.takesEncrypted else { return }
        try requirePlain(mirror.remote.bucket, mirror.remote.prefix)
    }

    func requirePlain(_ object: ObjectReference) throws(SyncError) {
        try requirePlain(object.bucket, object.key)
    }

    /// A download with the password of the mirror that the object is of, unless another one is
    /// named.
    func opened(
        _ source: DownloadSource,
        of object: ObjectReference
    ) throws(SyncError) -> DownloadSource {
        guard !sources.options.namesPassword,
            let place = encryptedPlace(object.bucket, object.key)
        else { return source }
        var sources = sources
        sources.options.stateDirectory = place.entry.stateDirectory
        // Its disk may not be mounted, or it is another mirror by now.
        let mirror = try? DirectoryMirror(
            directory: place.entry.directory,
            remote: nil,
            allowsRebinding: false,
            sources: sources
        )
        guard let mirror, mirror.isEncrypted, mirror.remote == place.remote else {
            throw Self.refusal(place)
        }
        return try mirror.opened(source)
    }

    private typealias EncryptedPlace = (entry: MirrorList.Entry, remote: BucketLocation)

    private func encryptedPlace(_ bucket: String, _ prefix: String) -> EncryptedPlace? {
        for entry in mirrorList?.entries() ?? [] {
            guard let remote = entry.encrypted.flatMap({ try? BucketLocation(parsing: $0) }),
                remote.bucket == bucket,
                prefix.utf8.starts(with: remote.prefix.utf8)
                    || remote.prefix.utf8.starts(with: prefix.utf8)
                        && (prefix.isEmpty || prefix.utf8.last == 0x2F)
            else { continue }
            return (entry, remote)
        }
        return nil
    }

    private static func refusal(_ place: EncryptedPlace) -> SyncError {
        SyncError(
            code: .configuration,
            message: "'\(place.remote.display)' has encrypted contents, as the mirror "
                + "'\(String(terminalSafe: place.entry.directory))' says; nothing was changed. Use "
                + "that directory, or link this one with 'osssync init --encrypt'"
        )
    }
}
