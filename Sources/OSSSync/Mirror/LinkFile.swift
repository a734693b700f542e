internal import ObjectStorage
internal import SyncEngine
internal import SyncModel

/// The content of `DIR/.osssync/config`: the remote of a directory and how it is reached.
///
/// It holds no secret. ``DirectoryConfiguration`` has the other lines of the file.
struct LinkFile: Sendable, Hashable {
    static let section = "mirror"
    /// What is read here; all else are defaults of options.
    static let keys = [
        "remote", "profile", "region", "endpoint", "addressing", "provider", "signature",
        "encryption", "encryption-password-file",
    ]
    /// Keys that may stand more than once in a section.
    static let repeatable: Set<String> = [
        "exclude", "include", "exclude-from", "exclude-if-present", "header",
    ]

    var remote: String
    var profile: String?
    var region: String?
    var endpoint: String?
    var addressing: String?
    var provider: String?
    var signature: String?
    /// `contents`; nil for contents that are stored as they are.
    var encryption: String?
    var encryptionPasswordFile: String?

    /// What the options leave open stays as `previous` has it.
    init(remote: BucketLocation, options: ConnectionOptions, previous: LinkFile?) {
        self.remote = remote.text
        profile = options.profile ?? previous?.profile
        region = options.region ?? previous?.region
        endpoint = options.endpoint ?? previous?.endpoint
        addressing = options.addressing ?? previous?.addressing
        provider = options.provider ?? previous?.provider
        signature = options.signature ?? previous?.signature
        encryption = options.encryptsContents ? MirrorEncryption.contents : previous?.encryption
        encryptionPasswordFile =
            options.encryptionPasswordFile ?? previous?.encryptionPasswordFile
    }

    /// Records where the bucket was found, whichever source said so: a later run may have another
    /// environment.
    mutating func record(_ used: LocationSettings) {
        region = used.region ?? region
        endpoint = used.endpoint ?? endpoint
        provider = used.provider ?? provider
    }

    /// Nil if the file has no `[mirror]` section.
    init?(_ content: [UInt8], path: String) throws(TransferError) {
        let document = try Self.document(content, path: path)
        guard let section = document[section: Self.section], let remote = section["remote"] else {
            return nil
        }
        self.remote = remote
        profile = section["profile"]
        region = section["region"]
        endpoint = section["endpoint"]
        addressing = section["addressing"]
        provider = section["provider"]
        signature = section["signature"]
        encryption = section["encryption"]
        encryptionPasswordFile = section["encryption-password-file"]
    }

    static func document(_ content: [UInt8], path: String) throws(TransferError) -> INIDocument {
        do throws(INIError) {
            return try INIDocument(parsing: content, duplicates: .refused(except: repeatable))
        } catch {
            throw TransferError(
                code: .configuration,
                message: "'\(displayText(path))': \(error.message); fix it"
            )
        }
    }

    /// The text of a new file, or that of an older one with these lines in place of its own.
    func content(replacing previous: [UInt8]?) -> [UInt8] {
        let values: [(String, String?)] = [
            ("remote", remote), ("profile", profile), ("region", region), ("endpoint", endpoint),
            ("addressing", addressing), ("provider", provider), ("signature", signature),
            ("encryption", encryption), ("encryption-password-file", encryptionPasswordFile),
        ]
        let title = [UInt8]("# Written by osssync init; see osssync help configuration.\n".utf8)
        let start = title + [UInt8]("[\(Self.section)]\n".utf8)
        for text in [previous, start].compactMap(\.self) {
            // One that cannot be parsed was refused when it was read.
            if let text = try? INIDocument.text(text, setting: values, in: Self.section) {
                return text
            }
        }
        return start
    }

    /// The text without a link; nil if nothing else is in it.
    static func unlinked(_ content: [UInt8]) -> [UInt8]? {
        let values = keys.map { ($0, String?.none) }
        guard let text = try? INIDocument.text(content, setting: values, in: section),
            let rest = try? INIDocument(parsing: text, duplicates: .lastCounts)
        else { return nil }
        return rest.sections.contains { !$0.entries.isEmpty } ? text : nil
    }
}

// MARK: - Linking a mirror

extension DirectoryMirror {
    /// True if the directory's own configuration names this remote.
    package var isLinked: Bool { link != nil }

    /// Writes the link, making the directory if it does not exist.
    ///
    /// - Parameter confirms: The user says that this is the remote, whichever it was before: the
    ///   next run compares everything with it and deletes nothing.
    /// - Throws: `TransferError` of code `localState`; of code `configuration` if the mirror was
    ///   made of a `StoreConfiguration`, whose keys and choices no file holds.
    package func writeLink(confirms: Bool = false) throws(TransferError) {
        guard let sources else {
            throw TransferError(
                code: .configuration,
                message: "'\(displayText(directory))' is reached by what the app spells, and that "
                    + "cannot be written into a link"
            )
        }
        var file = LinkFile(remote: remote, options: sources.options, previous: link)
        file.record(connection.used)
        if confirms {
            try MirrorLink.confirm(
                try identity(),
                mayRebind: mayRebind,
                directory: directory,
                stateDirectory: stateDirectory,
                homeDirectory: sources.homeDirectory
            )
        }
        try MirrorLink.write(
            file.content(replacing: linkContent),
            directory: directory,
            stateDirectory: stateDirectory,
            homeDirectory: sources.homeDirectory
        )
    }

    /// Links a directory that belongs to a user's configuration, if it is not.
    func linkIfConfigured() throws(TransferError) {
        if sources != nil, !isLinked { try writeLink() }
    }

    /// Ends the link of a directory: files, trash and manifest stay, and so do defaults of options
    /// in its configuration.
    ///
    /// - Returns: The remote that the directory was linked with.
    /// - Throws: `TransferError`: `configuration` if the directory is not linked, `locked` while a
    ///   run holds it.
    package static func unlink(
        directory: String,
        stateDirectory: String?
    ) throws(TransferError) -> BucketLocation {
        let content = try MirrorLink.read(directory: directory, stateDirectory: stateDirectory)
        let path = DirectoryConfiguration.path(
            directory: directory,
            stateDirectory: stateDirectory
        )
        guard let content, let link = try LinkFile(content, path: path) else {
            throw TransferError(
                code: .configuration,
                message: "'\(displayText(directory))' is not linked with a remote"
            )
        }
        try MirrorLink.replace(
            with: LinkFile.unlinked(content),
            directory: directory,
            stateDirectory: stateDirectory
        )
        return try BucketLocation(parsing: link.remote)
    }
}

/// What is not linked, because its name is most likely mistyped.
extension DirectoryMirror {
    /// Why an empty directory is not linked with a prefix that holds something.
    var nothingHere: TransferError {
        TransferError(
            code: .notFound,
            message: "'\(displayText(directory))' is empty and '\(remote.display)' is not; nothing "
                + "was linked. Check that its disk is mounted; 'osssync pull' downloads what is "
                + "there, and 'osssync init' links with a directory that is empty on purpose"
        )
    }

    /// Why nothing is linked with a prefix that holds nothing.
    func nothingThere(_ client: BucketClient) async -> TransferError {
        if let refusal = await objectInsteadOfPrefix(client) { return refusal }
        return TransferError(
            code: .notFound,
            message: "there is nothing below '\(remote.display)'; nothing was linked. Check its "
                + "name; 'osssync init' links with a prefix that is empty on purpose"
        )
    }

    /// Refuses a remote that is an object, with nothing below its name.
    ///
    /// - Throws: `TransferError` of code `notFound`, or why that could not be found out.
    package func requirePrefix() async throws(TransferError) {
        let client = try bucketClient()
        guard !remote.prefix.isEmpty, try await !client.hasObjects(beneath: remote.prefix),
            let refusal = await objectInsteadOfPrefix(client)
        else { return }
        throw refusal
    }

    func objectInsteadOfPrefix(_ client: BucketClient) async -> TransferError? {
        guard !remote.prefix.isEmpty, await client.isObject(remote.prefixKey.bytes.dropLast())
        else { return nil }
        var object = remote.display[...]
        if object.last == "/" { object = object.dropLast() }
        return TransferError(
            code: .notFound,
            message: "'\(object)' is an object, not a prefix; nothing was linked. "
                + "Download it with: osssync get \(object) FILE"
        )
    }
}
