/// True if the environment wants neither its own endpoints nor those of the aws tools' files.
package func ignoresAWSEndpoints(_ environment: [String: String]) -> Bool {
    environment["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"]?.lowercased() == "true"
}

/// `~/.aws/credentials` and `~/.aws/config`, as the aws tools and SDKs share them.
package struct AWSConfig: Sendable {
    private let path: String
    private let profileName: String
    /// What each file says of the profile.
    private let inCredentials: [String: String]?
    private let inConfig: [String: String]?
    /// What the profile's `services` section says.
    private let services: [String: String]
    /// The file that holds the profile's keys, if one does.
    private let keysFile: ConfigurationFile?
    private let configFile: ConfigurationFile?

    /// Nil if neither file exists.
    package init?(
        credentialsPath: String?,
        configPath: String?,
        profile: String?
    ) throws(CredentialsError) {
        let credentials = try AWSProfileFile(path: credentialsPath)
        let config = try AWSProfileFile(path: configPath)
        guard let path = credentials?.file.path ?? config?.file.path else { return nil }
        self.path = path
        profileName = profile ?? "default"
        inCredentials = credentials?[section: profileName]
        let named = config?[section: "profile " + profileName]
        inConfig = profileName == "default" ? config?[section: "default"] ?? named : named
        services = inConfig?["services"].flatMap { config?[section: "services " + $0] } ?? [:]
        keysFile = (inCredentials?["aws_access_key_id"] == nil ? config : credentials)?.file
        configFile = config?.file
    }

    /// True if one of the files has the profile.
    package var hasProfile: Bool { inCredentials != nil || inConfig != nil }

    /// What the profile says of its credentials; nil if it says nothing.
    package func source() throws(CredentialsError) -> ConfiguredSource? {
        // Where a profile has both, the aws tools use its keys only to ask for the role.
        if let role = value("role_arn") {
            guard let path = value("web_identity_token_file") else { throw unsupported("role_arn") }
            let settings = RoleSettings(
                role: role,
                session: value("role_session_name"),
                seconds: value("duration_seconds"),
                region: value("region")
            )
            return .tokenFile(settings, .aws, path: path)
        }
        for keys in [inCredentials, inConfig] {
            guard let keys else { continue }
            if let found = try Credentials.found(.awsProfile, in: path, { keys[$0] }) {
                return .keys(found)
            }
        }
        if let command = value("credential_process") { return .process(command: command) }
        for setting in [
            "sso_session", "sso_start_url", "login_session", "web_identity_token_file",
            "credential_source", "source_profile",
        ] where value(setting) != nil {
            throw unsupported(setting)
        }
        return nil
    }

    private func unsupported(_ setting: String) -> CredentialsError {
        let file = inConfig?[setting] == nil ? path : configFile?.path ?? path
        return .unsupportedSetting(source: file, profile: profileName, setting: setting)
    }

    /// What the profile says of the place of its buckets.
    package var location: LocationSettings {
        let isIgnored = value("ignore_configured_endpoint_urls")?.lowercased() == "true"
        return LocationSettings(
            endpoint: isIgnored
                ? nil : services["s3.endpoint_url"] ?? inConfig?["endpoint_url"],
            region: value("region"),
            addressing: inConfig?["s3.addressing_style"]
        )
    }

    /// Certificate authorities that the profile names.
    package var caFile: String? { value("ca_bundle") }

    /// Throws unless only the user can read the keys that `source` takes from the files, and change
    /// the command; the command itself is no secret.
    func requirePrivacy(of source: ConfiguredSource) throws(CredentialsError) {
        switch source {
        case .keys: try keysFile?.requirePrivacy()
        case .process: try configFile?.requireIntegrity()
        case .uri, .instanceRole, .tokenFile, .role: break
        }
    }

    private func value(_ key: String) -> String? {
        (inConfig?[key] ?? inCredentials?[key]).flatMap { $0.isEmpty ? nil : $0 }
    }
}
