package import SyncModel

/// What a request is signed with.
package struct Credentials: Sendable, Hashable {
    package let accessKeyID: String
    package let accessKeySecret: Secret
    /// The token of temporary credentials.
    package let securityToken: Secret?
    /// When temporary credentials end; nil if they don't, or if nobody said.
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
