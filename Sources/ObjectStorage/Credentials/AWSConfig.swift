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
        let credentials: ConfigurationFile?
        if let credentialsPath {
            credentials = try ConfigurationFile(path: credentialsPath)
        } else {
            credentials = nil
        }
        let config: ConfigurationFile?
        if let configPath {
            config = try ConfigurationFile(path: configPath)
        } else {
            config = nil
        }
        guard let path = credentials?.path ?? config?.path else { return nil }
        self.path = path
        profileName = profile ?? "default"
        let first: AWSProfileFile?
        if let credentials { first = try AWSProfileFile(credentials) } else { first = nil }
        let second: AWSProfileFile?
        if let config { second = try AWSProfileFile(config) } else { second = nil }
        inCredentials = first?[section: profileName]
        let named = second?[section: "profile " + profileName]
        inConfig = profileName == "default" ? second?[section: "default"] ?? named : named
        services = inConfig?["services"].flatMap { second?[section: "services " + $0] } ?? [:]
        keysFile = inCredentials?["aws_access_key_id"] == nil ? config : credentials
        configFile = config
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
            do throws(CredentialsError) {
                return .keys(
                    try Credentials(
                        source: path,
                        id: keys["aws_access_key_id"],
                        secret: keys["aws_secret_access_key"],
                        token: keys["aws_session_token"] ?? keys["aws_security_token"],
                        expires: nil
                    )
                )
            } catch .absent {
                continue
            } catch {
                throw error
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

/// Credentials of a profile of the aws tools; the files are read anew each time.
package struct AWSFileCredentials: ConfiguredCredentials {
    private let credentialsPath: String?
    private let configPath: String?
    private let profile: String?
    private let context: CredentialsContext
    package var name: String { "'\(credentialsPath ?? configPath ?? "~/.aws/credentials")'" }

    /// `profile` is nil if none was asked for.
    package init(
        credentialsPath: String?,
        configPath: String?,
        profile: String?,
        context: CredentialsContext
    ) {
        self.credentialsPath = credentialsPath
        self.configPath = configPath
        self.profile = profile
        self.context = context
    }

    package func credentials() async throws(CredentialsError) -> Credentials {
        guard let source = try configured() else {
            throw .absent(source: credentialsPath ?? configPath ?? "~/.aws/credentials")
        }
        return try await context.provider(for: source).credentials()
    }

    package func isSetUp() throws(CredentialsError) -> Bool {
        try configured() != nil
    }

    private func configured() throws(CredentialsError) -> ConfiguredSource? {
        let config = try AWSConfig(
            credentialsPath: credentialsPath,
            configPath: configPath,
            profile: profile
        )
        guard let config, let source = try config.source() else { return nil }
        try config.requirePrivacy(of: source)
        return source
    }
}
