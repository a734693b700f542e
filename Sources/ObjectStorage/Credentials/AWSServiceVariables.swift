/// Variables with which the aws tools request credentials from a service, which osssync does not
/// do.
///
/// Last of the sources: it only makes the error name what is there.
package struct AWSServiceVariables: CredentialsProvider {
    private let name: String

    /// Nil if none of them is set.
    package init?(environment: [String: String]) {
        let names = [
            "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        ]
        guard let name = names.first(where: { !(environment[$0] ?? "").isEmpty }) else {
            return nil
        }
        self.name = name
    }

    package func credentials() async throws(CredentialsError) -> Credentials {
        throw .unsupportedVariable(name)
    }
}
