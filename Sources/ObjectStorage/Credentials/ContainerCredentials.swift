/// What the agent of a container hands out (`AWS_CONTAINER_CREDENTIALS_…`): on ECS, EKS and
/// Greengrass.
package struct ContainerCredentials: CredentialsProvider {
    private static let host = "http://169.254.170.2"
    /// Agents besides those of this machine that may be asked without TLS.
    private static let agents = ["169.254.170.2", "169.254.170.23", "fd00:ec2::23"]

    private let address: String
    private let token: String?
    private let tokenFile: String?
    private let http: CredentialsHTTP

    /// Without the address, whose path is a secret.
    package let name = "the container's credentials"

    /// Nil if no variable names an address.
    package init?(environment: [String: String], http: @escaping CredentialsHTTP) {
        func value(_ name: String) -> String? {
            environment["AWS_CONTAINER_" + name].flatMap { $0.isEmpty ? nil : $0 }
        }
        if let path = value("CREDENTIALS_RELATIVE_URI") {
            address = Self.host + path
        } else if let whole = value("CREDENTIALS_FULL_URI") {
            address = whole
        } else {
            return nil
        }
        token = value("AUTHORIZATION_TOKEN")
        tokenFile = value("AUTHORIZATION_TOKEN_FILE")
        self.http = http
    }

    package func credentials() async throws(CredentialsError) -> Credentials {
        guard let place = WebAddress(address),
            place.isHTTPS || place.isLoopback || Self.agents.contains(place.host)
        else {
            throw .invalid(
                source: name,
                reason: "it must begin with https://, or be an address of this machine or of the "
                    + "container's agent"
            )
        }
        var headers: [(String, String)] = []
        if let authorization = try authorization() {
            headers.append(("Authorization", authorization))
        }
        return try await CredentialsService(name: name, http: http).credentials(
            at: address,
            headers
        )
    }

    private func authorization() throws(CredentialsError) -> String? {
        var text = token
        if let tokenFile {
            guard let file = try ConfigurationFile(path: tokenFile) else {
                throw .requestFailed(source: tokenFile, reason: "there is no such file")
            }
            text = String(decoding: file.bytes, as: UTF8.self)
            while text?.utf8.last == 0x0A || text?.utf8.last == 0x0D { text?.removeLast() }
        }
        guard let text else { return nil }
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
            throw .invalid(source: name, reason: "the authorization token has a line end in it")
        }
        return text
    }
}
