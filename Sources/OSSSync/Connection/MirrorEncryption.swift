internal import LocalStorage
internal import OSSTransfer
internal import ObjectStorage
internal import SyncModel
internal import Synchronization

/// How the contents of a mirror are encrypted before they leave this machine.
///
/// The passwords are read when the key is first needed, and the key is kept in memory from then
/// on. A command that prints them is taken from the command line or the user's own file of
/// profiles only: the configuration of a directory may be another user's.
final class MirrorEncryption: Sendable {
    /// What the configuration says of a mirror whose contents are encrypted.
    static let contents = "contents"
    /// The same of one that takes encrypted objects for files as they are stored.
    static let none = "none"
    private static let fileKey = "encryption-password-file"
    private static let commandKey = "encryption-password-command"
    /// The user may have to type something, or to touch a key.
    private static let timeLimit = Duration.seconds(120)

    private let directory: String
    private let files: ConfigurationFiles
    private let made = Mutex<ContentCipher?>(nil)

    /// Nil for contents that are stored as they are.
    ///
    /// - Throws: `TransferError` of code `configuration`.
    init?(
        _ link: LinkFile?,
        _ sources: ConfigurationSources,
        _ dialect: StoreDialect,
        directory: String
    ) throws(TransferError) {
        let options = sources.options
        if let value = link?.encryption, ![Self.contents, Self.none].contains(value) {
            throw TransferError(
                code: .configuration,
                message: "'encryption = \(displayText(value))' in the configuration of "
                    + "'\(displayText(directory))' is unknown; it is 'contents', 'none', or left "
                    + "out"
            )
        }
        guard options.encryptsContents || link?.encryption == Self.contents else {
            guard !options.namesPassword else {
                throw TransferError(
                    code: .configuration,
                    message: "the contents of '\(displayText(directory))' are not encrypted, so "
                        + "no password is needed; 'osssync init --encrypt DIR REMOTE' links a "
                        + "directory with an empty prefix for encrypted contents"
                )
            }
            return nil
        }
        self.directory = directory
        files = ConfigurationFiles(sources, link: link, dialect: dialect)
    }

    /// Refuses contents that are not encrypted, in a chosen state, for a directory whose own link
    /// encrypts them.
    static func requireNone(of directory: String, but state: String?) throws(TransferError) {
        let path = DirectoryConfiguration.path(directory: directory, stateDirectory: nil)
        // One that cannot be read is another user's, or of no concern here.
        guard state != nil,
            let content = try? MirrorLink.read(directory: directory, stateDirectory: nil),
            (try? LinkFile(content, path: path))?.encryption == contents
        else { return }
        throw TransferError(
            code: .refused,
            message: "the contents of '\(displayText(directory))' are encrypted, as "
                + "'\(displayText(path))' says; nothing was changed. Use 'osssync init --encrypt' "
                + "with this --state-dir, too"
        )
    }

    /// Reads the passwords, if that was not done; blocks, also for who asks meanwhile: a program
    /// that prints them may ask the user.
    ///
    /// - Throws: `TransferError` of code `configuration`.
    func cipher() throws(TransferError) -> ContentCipher {
        try made.withLock { (made) throws(TransferError) in
            if let made { return made }
            let password = try password()
            do throws(CredentialsError) {
                let cipher = try ContentCipher(password)
                made = cipher
                return cipher
            } catch {
                throw Self.unusable(error)
            }
        }
    }

    private func password() throws(TransferError) -> EncryptionPassword {
        let options = files.sources.options
        do throws(CredentialsError) {
            if let command = options.encryptionPasswordCommand {
                return try Self.password(by: command, files.sources)
            }
            if let path = options.encryptionPasswordFile { return try password(in: path) }
        } catch {
            throw Self.unusable(error)
        }
        // The directory's own configuration may be another user's.
        let (file, command) = (
            try files.ownSetting(Self.fileKey), try files.ownSetting(Self.commandKey)
        )
        do throws(CredentialsError) {
            if let file { return try password(in: file) }
            if let command {
                try files.requireIntegrityOfOwn()
                return try Self.password(by: command, files.sources)
            }
            if let linkedFile { return try password(in: linkedFile) }
        } catch {
            throw Self.unusable(error)
        }
        throw TransferError(
            code: .configuration,
            message: "the contents of '\(displayText(directory))' are encrypted; specify the "
                + "password with --\(Self.fileKey) or --\(Self.commandKey)"
        )
    }

    private var linkedFile: String? {
        files.link?.encryptionPasswordFile.map { path in
            path.utf8.first == UInt8(ascii: "/") ? path : directory + "/" + path
        }
    }

    /// A file in the mirror would be sent, encrypted with itself, and could be deleted there.
    private func password(in path: String) throws(CredentialsError) -> EncryptionPassword {
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw .invalid(source: path, reason: "specify the whole path of the file of passwords")
        }
        if let key = GivenPath.key(of: path, beneath: directory),
            !key.hasPrefix(ObjectKey(".osssync/"))
        {
            throw .invalid(
                source: path,
                reason: "the file of passwords is in the mirrored directory, from where it would "
                    + "be sent; move it elsewhere"
            )
        }
        return try EncryptionPassword(file: path)
    }

    fileprivate static func password(
        by command: String,
        _ sources: ConfigurationSources
    ) throws(CredentialsError) -> EncryptionPassword {
        try EncryptionPassword(
            command: command,
            environment: sources.environment,
            timeLimit: timeLimit
        )
    }

    fileprivate static func unusable(_ error: CredentialsError) -> TransferError {
        error == .cancelled
            ? .interrupted
            : TransferError(code: .configuration, message: error.message, underlying: error)
    }
}

/// Makes the passwords of encrypted contents.
package enum EncryptionPasswords {
    /// Two lines, each with as much chance as the key itself.
    ///
    /// - Throws: `TransferError` of code `localState` if the system has no random numbers.
    package static func random() throws(TransferError) -> String {
        do throws(CredentialsError) {
            return try ContentCipher.randomPassword() + "\n" + ContentCipher.randomPassword() + "\n"
        } catch {
            throw TransferError(code: .localState, message: error.message, underlying: error)
        }
    }
}

extension ConnectionOptions {
    /// True if the caller says where the password of encrypted contents is.
    package var namesPassword: Bool {
        encryptionPasswordFile != nil || encryptionPasswordCommand != nil
    }
}

extension DownloadSource {
    /// The same of an encrypted object, with the password that the caller names; nil if none is
    /// named.
    ///
    /// - Throws: `TransferError` of code `configuration`.
    package func opened(by sources: ConfigurationSources) throws(TransferError) -> DownloadSource? {
        let options = sources.options
        do throws(CredentialsError) {
            var source = self
            if let command = options.encryptionPasswordCommand {
                let password = try MirrorEncryption.password(by: command, sources)
                source.cipher = try ContentCipher(password)
            } else if let file = options.encryptionPasswordFile {
                source.cipher = try ContentCipher(EncryptionPassword(file: file))
            } else {
                return nil
            }
            return source
        } catch {
            throw MirrorEncryption.unusable(error)
        }
    }
}

extension DirectoryMirror {
    /// True if the contents are encrypted before they are sent.
    package var isEncrypted: Bool { encryption != nil }

    /// True if encrypted objects are taken for files as they are stored.
    ///
    /// Such a mirror only receives: what it sent would not say that it is encrypted.
    package var takesEncrypted: Bool { link?.encryption == MirrorEncryption.none }

    /// Refuses what would change the bucket, to a mirror that only receives.
    ///
    /// - Throws: `TransferError` of code `configuration`.
    func requireSender() throws(TransferError) {
        guard takesEncrypted else { return }
        throw TransferError(
            code: .configuration,
            message: "'encryption = none' in the configuration of '\(displayText(directory))' is "
                + "for pulls only: what it sent would not say that it is encrypted; nothing was "
                + "changed"
        )
    }

    /// What a state is held to; without a password, what it was held to in the last run.
    func identity(
        asOf: StoreTime? = nil,
        _ readsPassword: Bool = true
    ) throws(TransferError) -> RemoteIdentity {
        let check = readsPassword ? try encryption?.cipher().check : local.recordedCheck()
        return RemoteIdentity(
            dialect: remote.dialect.rawValue,
            endpointHost: connection.endpoint.host,
            endpointPort: connection.endpoint.port,
            bucket: remote.bucket,
            prefix: remote.prefix,
            encryption: encryption == nil ? nil : check,
            asOf: asOf
        )
    }

    /// An object of this mirror, as a download is to see it.
    package func opened(_ source: DownloadSource) throws(TransferError) -> DownloadSource {
        var source = source
        source.cipher = try encryption?.cipher()
        source.takesEncrypted = takesEncrypted
        return source
    }

    /// An object of this mirror, as an upload is to make it.
    ///
    /// - Throws: `TransferError` of code `configuration` for another store, and without a password;
    ///   `refused` unless a run has shown that it is that of what is there.
    package func uploadTarget(
        _ key: String,
        by client: BucketClient
    ) throws(TransferError) -> UploadTarget {
        guard client.dialect == remote.dialect, client.host == connection.endpoint.host else {
            throw TransferError(
                code: .configuration,
                message: "'\(remote.display)' has encrypted contents, and its mirror "
                    + "'\(displayText(directory))' has another protocol or endpoint than this "
                    + "upload; nothing was changed"
            )
        }
        let isProven = MirrorLink.knows(
            try identity(),
            directory: directory,
            stateDirectory: stateDirectory
        )
        guard isProven else {
            throw TransferError(
                code: .refused,
                message: "no run of '\(displayText(directory))' has shown that its password is the "
                    + "one of what '\(remote.display)' has; nothing was changed. Run 'osssync pull "
                    + "\(displayText(directory))', which shows what is wrong, or a push first"
            )
        }
        var target = UploadTarget.object(client, key: key)
        target.cipher = try encryption?.cipher()
        return target
    }

    /// The bucket as the engine sees it.
    func opened(_ store: any ObjectReader) throws(TransferError) -> any ObjectReader {
        if let cipher = try encryption?.cipher() { return SealedStore(store, cipher) }
        return takesEncrypted ? StoredForm(store) : store
    }

    /// Refuses a remote whose objects are encrypted to a mirror that is not, unless a run has been
    /// complete, which a pull of such objects is not.
    ///
    /// - Throws: `TransferError` of code `refused`.
    func requirePlainObjects(_ filter: FileFilter) async throws(TransferError) {
        guard encryption == nil else { return }
        // Beside another run, this one does not come to send anything.
        if local.isLocked { return }
        let isKnown = MirrorLink.knows(
            try identity(),
            directory: directory,
            stateDirectory: stateDirectory
        )
        if isKnown, await local.mayHaveSucceeded() { return }
        guard
            let object = try await bucketClient().encryptedObject(
                beneath: remote.prefix,
                unless: { filter.excludes($0) }
            )
        else { return }
        throw TransferError(
            code: .refused,
            message: "'\(remote.display)' has encrypted contents, as '\(object.display)' shows; "
                + "nothing was changed. Link the directory with 'osssync init --encrypt', or "
                + "exclude what is encrypted"
        )
    }

    /// Reads the passwords of encrypted contents, if that was not done.
    ///
    /// - Throws: `TransferError` of code `configuration` if there are none, or they can't be read.
    package func requirePassword() throws(TransferError) {
        _ = try encryption?.cipher()
    }
}
