internal import ObjectStorage

/// The content of `DIR/.osssync/config`: the remote of a directory and how it is reached.
///
/// It holds no secret.
struct LinkFile: Sendable, Hashable {
    private static let section = "mirror"

    var remote: String
    var profile: String?
    var region: String?
    var endpoint: String?
    var addressing: String?
    var provider: String?
    var signature: String?

    /// What the options leave open stays as `previous` has it.
    init(remote: Remote, options: ConnectionOptions, previous: LinkFile?) {
        self.remote = remote.text
        profile = options.profile ?? previous?.profile
        region = options.region ?? previous?.region
        endpoint = options.endpoint ?? previous?.endpoint
        addressing = options.addressing ?? previous?.addressing
        provider = options.provider ?? previous?.provider
        signature = options.signature ?? previous?.signature
    }

    /// Nil if the file has no `[mirror]` section.
    init?(_ content: [UInt8], path: String) throws(SyncError) {
        let document: INIDocument
        do throws(INIError) {
            document = try INIDocument(parsing: content, duplicates: .refused)
        } catch {
            throw SyncError(
                code: .configuration,
                message: "'\(displayText(path))': \(error.message); fix it or run osssync init"
            )
        }
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

    var content: [UInt8] {
        var text = "# Written by osssync init; docs/cli.md tells what may stand here.\n"
        text += "[\(Self.section)]\n"
        let entries: [(String, String?)] = [
            ("remote", remote), ("profile", profile), ("region", region), ("endpoint", endpoint),
            ("addressing", addressing), ("provider", provider), ("signature", signature),
        ]
        for case (let name, let value?) in entries {
            text += "\(name) = \(INIDocument.quoted(value))\n"
        }
        return [UInt8](text.utf8)
    }
}
