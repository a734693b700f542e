package import SyncModel

/// What a profile of a configuration file says about its credentials.
package enum ConfiguredSource: Sendable, Hashable {
    case keys(Credentials)
    case process(command: String)
    case uri(String)
    case instanceRole(name: String?)
    /// A role that other credentials assume.
    indirect case role(RoleSettings, by: ConfiguredSource)
    /// A role that is assumed by the token in a file.
    case tokenFile(RoleSettings, TokenService, path: String)

    /// Reads a section of an INI file in the manner of ossutil; nil if it says nothing.
    package init?(_ section: INIDocument.Section, source: String) throws(CredentialsError) {
        func value(_ key: String) -> String? {
            section[key].flatMap { $0.isEmpty ? nil : $0 }
        }
        switch value("mode").map(INIDocument.normalized(_:)) {
        case nil, "ak", "ststoken": break
        case "ecsramrole":
            self = .instanceRole(name: value("ecs-role-name"))
            return
        case "process":
            guard let command = value("credential-process") else {
                throw .incomplete(source: source, missing: "a credential-process")
            }
            self = .process(command: command)
            return
        case "credentialsuri", "credentialuri":
            guard let address = value("credential-uri") ?? value("credentials-uri") else {
                throw .incomplete(source: source, missing: "a credential-uri")
            }
            self = .uri(address)
            return
        default: throw .unsupportedMode(source: source, mode: value("mode") ?? "")
        }
        if let keys = try Credentials.found(.ossutilProfile, in: source, value) {
            self = .keys(keys)
        } else if let command = value("credential-process") {
            self = .process(command: command)
        } else if let address = value("credential-uri") {
            self = .uri(address)
        } else {
            return nil
        }
    }

    /// True if the file itself holds the secret, or decides what program is run.
    var needsPrivateFile: Bool {
        switch self {
        case .keys, .process: true
        case .uri, .instanceRole, .tokenFile: false
        case .role(_, let base): base.needsPrivateFile
        }
    }
}

/// What sources that are not texts need.
package struct CredentialsContext: Sendable {
    package let environment: [String: String]
    /// For services that are near.
    package let http: CredentialsHTTP
    /// For token services, which may be far.
    package let remoteHTTP: CredentialsHTTP
    /// Lets token services be asked over plain http, too.
    package let allowsInsecureHTTP: Bool
    package let now: @Sendable () -> Timestamp
    /// A text that no request had before.
    package let nonce: @Sendable () -> String
    package let processTimeLimit: Duration

    package init(
        environment: [String: String],
        http: @escaping CredentialsHTTP,
        remoteHTTP: @escaping CredentialsHTTP,
        allowsInsecureHTTP: Bool,
        now: @escaping @Sendable () -> Timestamp,
        nonce: @escaping @Sendable () -> String,
        processTimeLimit: Duration
    ) {
        self.environment = environment
        self.http = http
        self.remoteHTTP = remoteHTTP
        self.allowsInsecureHTTP = allowsInsecureHTTP
        self.now = now
        self.nonce = nonce
        self.processTimeLimit = processTimeLimit
    }

    package func provider(
        for source: ConfiguredSource
    ) throws(CredentialsError) -> any CredentialsProvider {
        switch source {
        case .keys(let credentials): return StaticCredentials(credentials)
        case .process(let command):
            return try CredentialsProcess(
                command: command,
                environment: environment,
                timeLimit: processTimeLimit
            )
        case .uri(let address): return CredentialsURI(address: address, http: http)
        case .instanceRole(let name):
            let settings = InstanceRoleCredentials.Settings(
                environment: environment,
                roleName: name,
                isRequired: true
            )
            guard let settings else {
                throw .requestFailed(
                    source: "the ECS instance role",
                    reason: "it is disabled by ALIBABA_CLOUD_ECS_METADATA_DISABLED"
                )
            }
            return InstanceRoleCredentials(settings, http: http)
        case .role(let settings, let base):
            return AssumedRole(settings: settings, base: try provider(for: base), context: self)
        case .tokenFile(let settings, let service, let path):
            return TokenFileCredentials(
                settings: settings,
                service: service,
                path: path,
                context: self
            )
        }
    }
}

/// Credentials that a configuration file holds or names.
package protocol ConfiguredCredentials: CredentialsProvider {
    /// True if the file's profile says where credentials are; throws what ``credentials()`` would
    /// for a file that is invalid or open to others, but sends no request.
    func isSetUp() throws(CredentialsError) -> Bool
}

/// Credentials that a file's profile holds or names; the file is read anew each time, as other
/// tools write new tokens into it.
package struct FileCredentials: ConfiguredCredentials {
    /// How the file is read.
    package enum Format: Sendable, Hashable {
        /// `~/.ossutilconfig`, of both versions.
        case ossutil
        /// `~/.aliyun/config.json`.
        case aliyun
        /// One INI section of this name, with the keys of ossutil.
        case section(String)
        /// The two files of the aws tools.
        case aws(credentials: String?, config: String?)
    }

    private let path: String
    private let format: Format
    /// Nil for the file's own default.
    private let profile: String?
    private let context: CredentialsContext
    package var name: String {
        switch (format, profile) {
        case (.section(let section), _): "[\(section)] of '\(path)'"
        case (.aws, _): "'\(path)'"
        case (_, let profile?): "the profile '\(profile)' of '\(path)'"
        case (_, nil): "'\(path)'"
        }
    }

    package init(path: String, format: Format, profile: String?, context: CredentialsContext) {
        self.path = path
        self.format = format
        self.profile = profile
        self.context = context
    }

    package func credentials() async throws(CredentialsError) -> Credentials {
        guard let source = try configured() else { throw .absent(source: path) }
        return try await context.provider(for: source).credentials()
    }

    package func isSetUp() throws(CredentialsError) -> Bool {
        try configured() != nil
    }

    private func configured() throws(CredentialsError) -> ConfiguredSource? {
        if case .aws(let credentials, let config) = format {
            let files = try AWSConfig(
                credentialsPath: credentials,
                configPath: config,
                profile: profile
            )
            guard let files, let source = try files.source() else { return nil }
            try files.requirePrivacy(of: source)
            return source
        }
        guard let file = try ConfigurationFile(path: path), let source = try source(in: file) else {
            return nil
        }
        if source.needsPrivateFile { try file.requirePrivacy() }
        return source
    }

    private func source(in file: ConfigurationFile) throws(CredentialsError) -> ConfiguredSource? {
        switch format {
        case .ossutil: return try OssutilConfig(file).source(profile: profile)
        case .aliyun: return try AliyunConfig(file).source(profile: profile)
        case .section(let name):
            let document = try INIDocument(file)
            guard let section = document[section: name] else { return nil }
            return try ConfiguredSource(section, source: path)
        case .aws: return nil
        }
    }
}

extension INIDocument {
    /// Reads a file of another tool.
    package init(_ file: ConfigurationFile) throws(CredentialsError) {
        do throws(INIError) {
            try self.init(parsing: file.bytes, duplicates: .lastCounts)
        } catch {
            throw .invalid(source: file.path, reason: error.message)
        }
    }
}
