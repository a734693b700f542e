/// Credentials of environment variables; an ID of one family is never joined to the secret of
/// another.
package struct EnvironmentCredentials: CredentialsProvider {
    private let environment: [String: String]
    private let families: [KeyNames]
    package let name = "the environment"
    /// The variable that counts.
    package var source: String {
        let variable = families.flatMap(\.id).first { !(environment[$0] ?? "").isEmpty }
        return variable.map { "$" + $0 } ?? name
    }

    package init(environment: [String: String], families: [KeyNames]) {
        self.environment = environment
        self.families = families
    }

    /// True if one of the variables is set: then they are what counts, even if others lack.
    package var isSetUp: Bool {
        families.flatMap { $0.id + $0.secret }.contains { !(environment[$0] ?? "").isEmpty }
    }

    package func credentials() async throws(CredentialsError) -> Credentials {
        for family in families {
            let source = family.id.joined()
            if let found = try Credentials.found(family, in: source, { environment[$0] }) {
                return found
            }
        }
        throw .absent(source: "environment")
    }
}
