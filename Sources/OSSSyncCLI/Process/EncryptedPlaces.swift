internal import OSSSync

/// Prefixes whose contents a mirror of this account encrypts: what knows no password neither
/// writes there nor takes what is there for the content of a file.
extension CommandContext {
    /// Refuses a prefix that is beneath or above such a one, and an object beneath it.
    func requirePlain(
        _ dialect: StoreDialect,
        _ bucket: String,
        _ prefix: String
    ) throws(SyncError) {
        for entry in mirrorList?.entries() ?? [] {
            guard let remote = Self.encryptedRemote(entry), remote.dialect == dialect,
                remote.bucket == bucket,
                prefix.utf8.starts(with: remote.prefix.utf8)
                    || remote.prefix.utf8.starts(with: prefix.utf8)
                        && (prefix.isEmpty || prefix.utf8.last == 0x2F)
            else { continue }
            throw SyncError(
                code: .configuration,
                message: "'\(remote.display)' has encrypted contents, as the mirror "
                    + "'\(String(terminalSafe: entry.directory))' says; nothing was changed. Use "
                    + "that directory, or link another one with 'osssync init --encrypt'"
            )
        }
    }

    private static func encryptedRemote(_ entry: MirrorList.Entry) -> BucketLocation? {
        let link = try? DirectoryConfiguration(
            directory: entry.directory,
            stateDirectory: entry.stateDirectory
        )
        let lines = link?.sections.flatMap(\.entries).filter(\.isOfLink) ?? []
        guard lines.contains(where: { $0.key == "encryption" }),
            let text = lines.last(where: { $0.key == "remote" })?.value
        else { return nil }
        return try? BucketLocation(parsing: text)
    }

    /// The same for a mirror.
    func requirePlain(_ mirror: DirectoryMirror) throws(SyncError) {
        guard !mirror.isEncrypted else { return }
        let remote = mirror.remote
        try requirePlain(remote.dialect, remote.bucket, remote.prefix)
    }

    func requirePlain(_ object: ObjectReference) throws(SyncError) {
        try requirePlain(object.dialect, object.bucket, object.key)
    }
}
