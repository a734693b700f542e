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
    ///
    /// A profile that the environment names for S3 comes before any default of a file.
    var ownSection: String {
        if let profile { return profile == "default" ? "default" : "profile " + profile }
        guard dialect == .s3, let named = awsProfile else { return "default" }
        return "profile " + named
    }

    private func ownDocument() throws(CredentialsError) -> INIDocument? {
        guard let path = ownPath else { return nil }
        guard let file = try ConfigurationFile(path: path) else {
            guard sources.options.configurationFile == nil else {
                throw .invalid(source: path, reason: "there is no such file")
            }
            return nil
        }
        return try INIDocument(file)
    }

    /// What each file says of the bucket's place, the first first.
    func places(bucket: String) throws(SyncError) -> [ConfiguredPlace] {
        var places: [ConfiguredPlace] = []
        if let link {
            places.append(
                ConfiguredPlace(
                    endpoint: link.endpoint,
                    region: link.region,
                    addressing: link.addressing,
                    signature: link.signature,
                    provider: link.provider
                )
            )
        }
        do throws(CredentialsError) {
            if let section = try ownDocument()?[section: ownSection] {
                places.append(
                    ConfiguredPlace(
                        endpoint: section["endpoint"],
                        region: section["region"],
                        addressing: section["addressing"],
                        signature: section["signature"],
                        provider: section["provider"]
                    )
                )
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
            if let config = try awsConfig() {
                var place = config.place
                if ignoresAWSEndpoints(sources.environment) { place.endpoint = nil }
                places.append(place)
            }
        }
        return places
    }

    /// Every source of credentials in its order.
    ///
    /// A profile that was asked for by name comes before the environment. The files that count are
    /// read once, so that what is wrong with them is said before anything is done.
    ///
    /// - Throws: `SyncError` of code `configuration`.
    func credentials() throws(SyncError) -> any CredentialsProvider {
        let environment = EnvironmentCredentials(
            environment: sources.environment,
            families: dialect == .s3 ? [.aws] : [.oss, .alibabaCloud]
        )
        let files = fileCredentials()
        let comesFirst = sources.options.profile != nil
        if comesFirst || !environment.isSetUp {
            do throws(CredentialsError) {
                try requireProfile()
                for file in files {
                    if try file.isSetUp() { break }
                }
            } catch {
                throw SyncError(code: .configuration, message: error.message, underlying: error)
            }
        }
        var chain: [any CredentialsProvider] = files
        chain.insert(environment, at: comesFirst ? chain.endIndex : 0)
        switch dialect {
        case .oss: chain += alibabaCloudServices()
        case .s3:
            if let service = AWSServiceVariables(environment: sources.environment) {
                chain.append(service)
            }
        }
        return CredentialsChain(chain, variables: dialect == .s3 ? .aws : .oss)
    }

    private func fileCredentials() -> [any ConfiguredCredentials] {
        var files: [any ConfiguredCredentials] = []
        if let path = ownPath { files.append(file(path, .section(ownSection))) }
        switch dialect {
        case .oss:
            if let path = ossutilPath { files.append(file(path, .ossutil)) }
            if let path = aliyunPath { files.append(file(path, .aliyun)) }
        case .s3: files.append(awsCredentials())
        }
        return files
    }

    /// Throws if a profile was asked for and no file has it: another one would act as somebody
    /// else.
    private func requireProfile() throws(CredentialsError) {
        let wanted = profile ?? (dialect == .s3 ? awsProfile : nil)
        guard let wanted, wanted != "default" else { return }
        var isFound = try ownDocument()?[section: ownSection] != nil
        var paths = [ownPath]
        switch dialect {
        case .oss:
            paths += [ossutilPath, aliyunPath]
            if let path = ossutilPath, let file = try ConfigurationFile(path: path) {
                isFound = try OssutilConfig(file).hasProfile(wanted) || isFound
            }
            if let path = aliyunPath, let file = try ConfigurationFile(path: path) {
                isFound = try AliyunConfig(file).hasProfile(wanted) || isFound
            }
        case .s3:
            paths += [awsCredentialsPath, awsConfigPath]
            isFound = try awsConfig()?.hasProfile == true || isFound
        }
        guard !isFound else { return }
        throw .noProfile(wanted, tried: paths.compactMap(\.self))
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
