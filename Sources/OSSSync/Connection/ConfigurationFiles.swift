internal import ObjectStorage

/// The configuration files of a user, by their order.
struct ConfigurationFiles: Sendable {
    let sources: ConfigurationSources
    let link: LinkFile?
    let dialect: StoreDialect
    let context: CredentialsContext

    private static let processTimeLimit = Duration.seconds(10)

    init(_ sources: ConfigurationSources, link: LinkFile?, dialect: StoreDialect) {
        self.sources = sources
        self.link = link
        self.dialect = dialect
        context = CredentialsContext(
            environment: sources.environment,
            http: PlainRequests().send,
            remoteHTTP: Self.remoteRequests(sources),
            allowsInsecureHTTP: sources.options.allowsInsecureHTTP,
            now: SystemClocks.now,
            nonce: { String(UInt64.random(in: 0 ... .max), radix: 36) },
            processTimeLimit: Self.processTimeLimit
        )
    }

    /// Requests to token services: through the proxy of their host, with the user's authorities.
    private static func remoteRequests(_ sources: ConfigurationSources) -> CredentialsHTTP {
        { url, method, headers, body in
            let address = WebAddress(url)
            let proxy = address.flatMap { address in
                address.isLoopback
                    ? nil
                    : ResolvedConnection.proxy(
                        forHost: address.host,
                        isHTTPS: address.isHTTPS,
                        sources.environment
                    )
            }
            let requests = PlainRequests(
                connectTimeout: .seconds(5),
                caFile: sources.options.caFile ?? sources.environment["AWS_CA_BUNDLE"],
                proxy: proxy
            )
            return try await requests.send(url, method, headers, body)
        }
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

    /// A setting of osssync's own file.
    func ownSetting(_ key: String) throws(TransferError) -> String? {
        do throws(CredentialsError) {
            return try ownDocument()?[section: ownSection]?[key]
        } catch {
            throw TransferError(code: .configuration, message: error.message, underlying: error)
        }
    }

    /// Throws unless only the user can change osssync's own file: before a command of it is run.
    func requireIntegrityOfOwn() throws(CredentialsError) {
        guard let path = ownPath else { return }
        try ConfigurationFile(path: path)?.requireIntegrity()
    }

    /// What each file says of the bucket's place, the first first.
    func locations(bucket: String) throws(TransferError) -> [LocationSettings] {
        var locations: [LocationSettings] = []
        if let link {
            locations.append(
                LocationSettings(
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
                locations.append(
                    LocationSettings(
                        endpoint: section["endpoint"],
                        region: section["region"],
                        addressing: section["addressing"],
                        signature: section["signature"],
                        provider: section["provider"]
                    )
                )
            }
            locations += try toolLocations(bucket: bucket)
        } catch {
            throw TransferError(code: .configuration, message: error.message, underlying: error)
        }
        return locations
    }

    private func toolLocations(bucket: String) throws(CredentialsError) -> [LocationSettings] {
        var locations: [LocationSettings] = []
        switch dialect {
        case .oss:
            if let path = ossutilPath, let file = try ConfigurationFile(path: path) {
                locations.append(try OssutilConfig(file).location(profile: profile, bucket: bucket))
            }
            if let path = aliyunPath, let file = try ConfigurationFile(path: path) {
                locations.append(try AliyunConfig(file).location(profile: profile))
            }
        case .s3:
            if let config = try awsConfig() {
                var location = config.location
                if ignoresAWSEndpoints(sources.environment) { location.endpoint = nil }
                locations.append(location)
            }
        }
        return locations
    }

    /// Every source of credentials in its order.
    ///
    /// A profile that was asked for by name comes before the environment. The files that count are
    /// read once, so that what is wrong with them is said before anything is done.
    ///
    /// - Throws: `TransferError` of code `configuration`.
    func credentials() throws(TransferError) -> any CredentialsProvider {
        try requireUsedProfile()
        let environment = EnvironmentCredentials(
            environment: sources.environment,
            families: dialect == .s3 ? [.aws] : [.oss, .alibabaCloud]
        )
        let files = fileCredentials()
        let comesFirst = sources.options.profile != nil
        if comesFirst || !environment.isSetUp {
            do throws(CredentialsError) {
                for file in files {
                    if try file.isSetUp() { break }
                }
            } catch {
                throw TransferError(code: .configuration, message: error.message, underlying: error)
            }
        }
        var chain: [any CredentialsProvider] = files
        chain.insert(environment, at: comesFirst ? chain.endIndex : 0)
        switch dialect {
        case .oss: chain += alibabaCloudServices()
        case .s3:
            let agent = ContainerCredentials(environment: sources.environment, http: context.http)
            chain += [
                Self.source(context.awsTokenFile, "AWS_WEB_IDENTITY_TOKEN_FILE"),
                Self.source(agent, "AWS_CONTAINER_CREDENTIALS_FULL_URI"),
            ]
        }
        return CredentialsChain(chain, variables: dialect == .s3 ? .aws : .oss)
    }

    /// A source, or what says that this variable would set it up.
    private static func source(
        _ source: (any CredentialsProvider)?,
        _ variable: String
    ) -> any CredentialsProvider {
        source ?? AbsentCredentials("$" + variable)
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

    /// Throws if the specified profile is in no file: another one would act as a different user.
    ///
    /// First of all: without the profile its endpoint and region are missing, too.
    ///
    /// - Throws: `TransferError` of code `configuration`.
    func requireUsedProfile() throws(TransferError) {
        let environment = EnvironmentCredentials(
            environment: sources.environment,
            families: dialect == .s3 ? [.aws] : [.oss, .alibabaCloud]
        )
        guard sources.options.profile != nil || !environment.isSetUp else { return }
        do throws(CredentialsError) {
            try requireProfile()
        } catch {
            throw TransferError(code: .configuration, message: error.message, underlying: error)
        }
    }

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
        let variable = "ALIBABA_CLOUD_CREDENTIALS_URI"
        let address = sources.environment[variable].flatMap { $0.isEmpty ? nil : $0 }
        var services = [
            Self.source(
                address.map { CredentialsURI(address: $0, http: context.http) },
                variable
            ),
            Self.source(context.alibabaTokenFile, "ALIBABA_CLOUD_OIDC_PROVIDER_ARN"),
        ]
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
