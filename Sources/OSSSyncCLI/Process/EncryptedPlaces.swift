internal import OSSSync

/// Prefixes whose contents a mirror of this account encrypts: what knows no password neither
/// writes there nor takes what is there for the content of a file.
extension CommandContext {
    /// Refuses a prefix that is beneath or above such a one, by whatever protocol, unless the
    /// mirror takes what is there as it is stored.
    func requirePlain(_ mirror: DirectoryMirror) throws(TransferError) {
        guard !mirror.isEncrypted, !mirror.takesEncrypted,
            let place = encryptedPlace(mirror.remote.bucket, mirror.remote.prefix)
        else { return }
        throw Self.refusal(place)
    }

    /// Refuses to sign an upload to such a prefix: another program makes its content.
    func requirePlain(_ object: ObjectReference) throws(TransferError) {
        guard let place = encryptedPlace(object.bucket, object.key) else { return }
        throw Self.refusal(
            place,
            advice: "What is sent to a signed URL is not encrypted; use 'osssync put'"
        )
    }

    /// A download with the password of the mirror that the object is of, unless another one is
    /// named.
    func opened(
        _ source: DownloadSource,
        of object: ObjectReference
    ) throws(TransferError) -> DownloadSource {
        guard !sources.options.namesPassword, let mirror = try encryptedMirror(of: object) else {
            return source
        }
        return try mirror.opened(source)
    }

    /// An upload that is encrypted with the password of the mirror that the object is of.
    func uploadTarget(
        _ object: ObjectReference,
        by client: BucketClient
    ) throws(TransferError) -> UploadTarget {
        try encryptedMirror(of: object)?.uploadTarget(object.key, by: client)
            ?? .object(client, key: object.key)
    }

    private func encryptedMirror(
        of object: ObjectReference
    ) throws(TransferError) -> DirectoryMirror? {
        guard let place = encryptedPlace(object.bucket, object.key) else { return nil }
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
        return mirror
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

    private static func refusal(
        _ place: EncryptedPlace,
        advice: String = "Use that directory, or link this one with 'osssync init --encrypt'"
    ) -> TransferError {
        TransferError(
            code: .configuration,
            message: "'\(place.remote.display)' has encrypted contents, as the mirror "
                + "'\(String(terminalSafe: place.entry.directory))' says; nothing was changed. "
                + advice
        )
    }
}
