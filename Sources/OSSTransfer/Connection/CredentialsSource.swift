internal import ObjectStorage
public import SyncModel

/// An access key, with the token of temporary ones.
///
/// Shown as a text it hides its secrets.
public struct AccessKey: Sendable, Hashable {
    /// Names the key; no secret.
    public let id: String
    /// What requests are signed with.
    public let secret: String
    /// Goes with every request that temporary keys sign; nil for long-lived ones.
    public let securityToken: String?
    /// When temporary keys expire; nil if they do not, or if that is unknown.
    ///
    /// The source is asked again three minutes before, or when the service refuses the key.
    public let expiration: StoreTime?

    /// Makes a key: a long-lived one of `id` and `secret`, or a temporary one with its token and
    /// the time of its end, so that the source is asked again in time.
    public init(
        id: String,
        secret: String,
        securityToken: String? = nil,
        expiration: StoreTime? = nil
    ) {
        self.id = id
        self.secret = secret
        self.securityToken = securityToken
        self.expiration = expiration
    }
}

extension AccessKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The key's name; never its secret.
    public var description: String { "AccessKey(\(displayText(id)))" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// Shows the key's name only.
    public var customMirror: Swift.Mirror { Swift.Mirror(self, children: ["id": id]) }
}

/// Where an app's access keys come from.
public struct CredentialsSource: Sendable {
    let provider: any CredentialsProvider

    /// One key, for as long as the configuration is used.
    public static func fixed(_ key: AccessKey) -> CredentialsSource {
        CredentialsSource(provider: KeyProvider { key })
    }

    /// Keys that end and are asked for again: those of STS, handed out by an app's own server.
    ///
    /// `ask` is called once for all requests that wait, when there is no key yet, shortly before
    /// the last one ends, and after the service has refused it. If the app's server can't be
    /// reached (a `TransferError` whose `isRetryable` is true or whose `status` is 5xx, a
    /// `URLError` of connection, time or resolution), the requests wait as for a lost connection
    /// and ask again. Anything else that it throws ends them with `TransferError` of that error's
    /// code, `credentials` for errors of other types, whose message has the error's text.
    public static func provider(
        _ ask: @escaping @Sendable () async throws -> AccessKey
    ) -> CredentialsSource {
        CredentialsSource(provider: KeyProvider(ask: ask))
    }
}

/// Asks an app's closure, and refuses what no request could carry.
private struct KeyProvider: CredentialsProvider {
    let name = "the app's source of credentials"
    let ask: @Sendable () async throws -> AccessKey

    func credentials() async throws(CredentialsError) -> Credentials {
        let key = try await AppQuestion(source: name).ask(ask)
        return try Credentials(
            source: name,
            id: key.id,
            secret: key.secret,
            token: key.securityToken,
            expires: key.expiration?.timestamp
        )
    }
}
