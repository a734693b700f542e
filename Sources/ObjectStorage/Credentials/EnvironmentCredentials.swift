/// The names of environment variables that belong together.
package struct CredentialsVariables: Sendable, Hashable {
    let id: String
    let secret: String
    let token: String

    package static let oss = CredentialsVariables(
        id: "OSS_ACCESS_KEY_ID",
        secret: "OSS_ACCESS_KEY_SECRET",
        token: "OSS_SESSION_TOKEN"
    )
    package static let alibabaCloud = CredentialsVariables(
        id: "ALIBABA_CLOUD_ACCESS_KEY_ID",
        secret: "ALIBABA_CLOUD_ACCESS_KEY_SECRET",
        token: "ALIBABA_CLOUD_SECURITY_TOKEN"
    )
    package static let aws = CredentialsVariables(
        id: "AWS_ACCESS_KEY_ID",
        secret: "AWS_SECRET_ACCESS_KEY",
        token: "AWS_SESSION_TOKEN"
    )
}

/// Credentials of environment variables; an ID of one family is never joined to the secret of
/// another.
package struct EnvironmentCredentials: CredentialsProvider {
    private let environment: [String: String]
    private let families: [CredentialsVariables]
    package let name = "the environment"
    /// The variable that counts.
    package var source: String {
        let family = families.first { !(environment[$0.id] ?? "").isEmpty }
        return family.map { "$" + $0.id } ?? name
    }

    package init(environment: [String: String], families: [CredentialsVariables]) {
        self.environment = environment
        self.families = families
    }

    /// True if one of the variables is set: then they are what counts, even if others lack.
    package var isSetUp: Bool {
        families.contains { family in
            [family.id, family.secret].contains { !(environment[$0] ?? "").isEmpty }
        }
    }

    package func credentials() async throws(CredentialsError) -> Credentials {
        for family in families {
            do throws(CredentialsError) {
                return try Credentials(
                    source: family.id,
                    id: environment[family.id],
                    secret: environment[family.secret],
                    token: environment[family.token],
                    expires: nil
                )
            } catch .absent {
                continue
            } catch {
                throw error
            }
        }
        throw .absent(source: "environment")
    }
}
