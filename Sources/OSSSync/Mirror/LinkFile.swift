internal import ObjectStorage

/// The content of `DIR/.osssync/config`: the remote of a directory and how it is reached.
///
/// It holds no secret. ``DirectoryConfiguration`` has the other lines of the file.
struct LinkFile: Sendable, Hashable {
    static let section = "mirror"
    /// What is read here; all else are defaults of options.
    static let keys = [
        "remote", "profile", "region", "endpoint", "addressing", "provider", "signature",
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

    /// What the options leave open stays as `previous` has it.
    init(remote: BucketLocation, options: ConnectionOptions, previous: LinkFile?) {
        self.remote = remote.text
        profile = options.profile ?? previous?.profile
        region = options.region ?? previous?.region
        endpoint = options.endpoint ?? previous?.endpoint
        addressing = options.addressing ?? previous?.addressing
        provider = options.provider ?? previous?.provider
        signature = options.signature ?? previous?.signature
    }

    /// Records where the bucket was found, whichever source said so: a later run may have another
    /// environment.
    mutating func record(_ used: LocationSettings) {
        region = used.region ?? region
        endpoint = used.endpoint ?? endpoint
        provider = used.provider ?? provider
    }

    /// Nil if the file has no `[mirror]` section.
    init?(_ content: [UInt8], path: String) throws(SyncError) {
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
    }

    static func document(_ content: [UInt8], path: String) throws(SyncError) -> INIDocument {
        do throws(INIError) {
            return try INIDocument(parsing: content, duplicates: .refused(except: repeatable))
        } catch {
            throw SyncError(
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
