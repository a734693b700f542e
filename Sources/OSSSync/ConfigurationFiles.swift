internal import ObjectStorage
internal import SyncEngine

/// The configuration files of a user, by their order.
struct ConfigurationFiles: Sendable {
    let sources: ConfigurationSources
    let link: LinkFile?
    let dialect: Remote.Dialect
    let context: CredentialsContext

    private static let processTimeLimit = Duration.seconds(10)

    init(_ sources: ConfigurationSources, link: LinkFile?, dialect: Remote.Dialect) {
        self.sources = sources
        self.link = link
        self.dialect = dialect
        context = CredentialsContext(
            environment: sources.environment,
            http: PlainRequests().send,
            processTimeLimit: Self.processTimeLimit
        )
    }

    var profile: String? { sources.options.profile ?? link?.profile }

    /// osssync's own file of profiles.
    var ownPath: String? {
        sources.options.configurationFile ?? home(".config/osssync/config")
    }

    var ossutilPath: String? {
        sources.environment["OSSUTIL_CONFIG_FILE"] ?? home(".ossutilconfig")
    }

    var aliyunPath: String? {
        sources.environment["ALIBABA_CLOUD_CONFIG_FILE"] ?? home(".aliyun/config.json")
    }

    func home(_ name: String) -> String? {
        sources.homeDirectory.map { $0 + "/" + name }
    }

    /// The section of a profile in osssync's own file: `[default]` or `[profile NAME]`.
    var ownSection: String { profile.map { "profile " + $0 } ?? "default" }

    /// What each file says of the bucket's place, the first first.
    func places(bucket: String) throws(SyncError) -> [ConfiguredPlace] {
        var places: [ConfiguredPlace] = []
        if let link {
            places.append(
                ConfiguredPlace(
                    endpoint: link.endpoint,
                    region: link.region,
                    addressing: link.addressing,
                    signature: link.signature
                )
            )
        }
        do throws(CredentialsError) {
            if let path = ownPath, let file = try ConfigurationFile(path: path) {
                let document = try INIDocument(file)
                if let section = document[section: ownSection] {
                    places.append(
                        ConfiguredPlace(
                            endpoint: section["endpoint"],
                            region: section["region"],
                            addressing: section["addressing"],
                            signature: section["signature"]
                        )
                    )
                }
            }
            places += try toolPlaces(bucket: bucket)
        } catch {
            throw SyncError(code: .configuration, message: error.message, underlying: error)
        }
        return places
    }

    private func toolPlaces(bucket: String) throws(CredentialsError) -> [ConfiguredPlace] {
        var places: [ConfiguredPlace] = []
        switch dialect {
        case .oss:
            if let path = ossutilPath, let file = try ConfigurationFile(path: path) {
                places.append(try OssutilConfig(file).place(profile: profile, bucket: bucket))
            }
            if let path = aliyunPath, let file = try ConfigurationFile(path: path) {
                places.append(try AliyunConfig(file).place(profile: profile))
            }
        case .s3:
            if let config = try awsConfig() { places.append(config.place) }
        }
        return places
    }

    /// Every source of credentials in its order.
    ///
    /// A profile that was asked for by name comes before
    /// the environment.
    func credentials() -> any CredentialsProvider {
        var files: [any CredentialsProvider] = []
        if let path = ownPath { files.append(file(path, .section(ownSection))) }
        let variables: CredentialsVariables
        switch dialect {
        case .oss:
            if let path = ossutilPath { files.append(file(path, .ossutil)) }
            if let path = aliyunPath { files.append(file(path, .aliyun)) }
            variables = .oss
        case .s3:
            files.append(awsCredentials())
            variables = .aws
        }
        let environment = EnvironmentCredentials(
            environment: sources.environment,
            families: dialect == .s3 ? [.aws] : [.oss, .alibabaCloud]
        )
        var chain: [any CredentialsProvider] = [environment] + files
        if sources.options.profile != nil { chain = files + [environment] }
        if dialect == .oss { chain += alibabaCloudServices() }
        return CredentialsChain(chain, variables: variables)
    }

    /// Sources that are asked over the network.
    private func alibabaCloudServices() -> [any CredentialsProvider] {
        var services: [any CredentialsProvider] = []
        if let address = sources.environment["ALIBABA_CLOUD_CREDENTIALS_URI"], !address.isEmpty {
            services.append(CredentialsURI(address: address, http: context.http))
        }
        let role = InstanceRoleCredentials.Settings(
            environment: sources.environment,
            roleName: nil,
            isRequired: false
        )
        if let role { services.append(InstanceRoleCredentials(role, http: context.http)) }
        return services
    }

    private func file(_ path: String, _ format: FileCredentials.Format) -> FileCredentials {
        let profile: String? = if case .section = format { nil } else { profile }
        return FileCredentials(path: path, format: format, profile: profile, context: context)
    }
}
