package import SyncModel

/// What a request is signed with.
package struct Credentials: Sendable, Hashable {
    package let accessKeyID: String
    package let accessKeySecret: Secret
    /// The token of temporary credentials.
    package let securityToken: Secret?
    /// When temporary credentials end; nil if they don't, or if that is unknown.
    package let expires: Timestamp?

    package init(
        accessKeyID: String,
        accessKeySecret: Secret,
        securityToken: Secret? = nil,
        expires: Timestamp? = nil
    ) {
        self.accessKeyID = accessKeyID
        self.accessKeySecret = accessKeySecret
        self.securityToken = securityToken
        self.expires = expires
    }
}

extension Credentials {
    /// Checks what a source has found.
    ///
    /// Blanks around the texts, as line ends of files leave them, are removed; control characters
    /// inside would end the header that carries them.
    package init(
        source: String,
        id: String?,
        secret: String?,
        token: String?,
        expires: Timestamp?
    ) throws(CredentialsError) {
        let id = Self.trimmed(id)
        let secret = Self.trimmed(secret)
        let token = Self.trimmed(token)
        if id.isEmpty, secret.isEmpty { throw .absent(source: source) }
        guard !id.isEmpty else { throw .incomplete(source: source, missing: "an access key ID") }
        guard !secret.isEmpty else {
            throw .incomplete(source: source, missing: "an access key secret")
        }
        for text in [id, secret, token] {
            guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                throw .invalid(source: source, reason: "a key has a control character")
            }
        }
        self.init(
            accessKeyID: id,
            accessKeySecret: Secret(secret),
            securityToken: token.isEmpty ? nil : Secret(token),
            expires: expires
        )
    }

    /// The key that a source has under `names`; nil if it has neither an ID nor a secret.
    static func found(
        _ names: KeyNames,
        in source: String,
        expires: Timestamp? = nil,
        _ value: (String) -> String?
    ) throws(CredentialsError) -> Credentials? {
        func first(_ names: [String]) -> String? { names.lazy.compactMap(value).first }
        do throws(CredentialsError) {
            return try Credentials(
                source: source,
                id: first(names.id),
                secret: first(names.secret),
                token: first(names.token),
                expires: expires
            )
        } catch .absent {
            return nil
        } catch {
            throw error
        }
    }

    /// The first and last characters of the key's ID, which is no secret but need not be shown.
    package var maskedID: String {
        let bytes = Array(accessKeyID.utf8)
        guard bytes.count > 8 else { return "****" }
        return displayText(bytes.prefix(4)) + "…" + displayText(bytes.suffix(2))
    }

    /// True if a store that refused one will refuse the other.
    func isSameKey(as other: Credentials) -> Bool {
        accessKeyID == other.accessKeyID && accessKeySecret == other.accessKeySecret
            && securityToken == other.securityToken
    }

    private static func trimmed(_ text: String?) -> String { (text ?? "").trimmed }
}
