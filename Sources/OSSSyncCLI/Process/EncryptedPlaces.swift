internal import OSSSync

/// Prefixes whose contents a mirror of this account encrypts: what knows no password neither
/// writes there nor takes what is there for the content of a file.
extension CommandContext {
    /// Refuses a prefix that is beneath or above such a one, and an object beneath it, by whatever
    /// protocol.
    func requirePlain(_ bucket: String, _ prefix: String) throws(SyncError) {
        for entry in mirrorList?.entries() ?? [] {
            guard let remote = entry.encrypted.flatMap({ try? BucketLocation(parsing: $0) }),
                remote.bucket == bucket,
                prefix.utf8.starts(with: remote.prefix.utf8)
                    || remote.prefix.utf8.starts(with: prefix.utf8)
                        && (prefix.isEmpty || prefix.utf8.last == 0x2F)
            else { continue }
            throw SyncError(
                code: .configuration,
                message: "'\(remote.display)' has encrypted contents, as the mirror "
                    + "'\(String(terminalSafe: entry.directory))' says; nothing was changed. Use "
                    + "that directory, or link this one with 'osssync init --encrypt'"
            )
        }
    }

    /// The same for a mirror that does not take what is there as it is stored.
    func requirePlain(_ mirror: DirectoryMirror) throws(SyncError) {
        guard !mirror.isEncrypted, !mirror.takesEncrypted else { return }
        try requirePlain(mirror.remote.bucket, mirror.remote.prefix)
    }

    func requirePlain(_ object: ObjectReference) throws(SyncError) {
        try requirePlain(object.bucket, object.key)
    }
}
