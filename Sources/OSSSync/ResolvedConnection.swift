internal import ObjectStorage

/// How a bucket is reached, after every source was asked in its order.
struct ResolvedConnection: Sendable {
    let endpoint: Endpoint
    let signature: SignatureVersion
    let credentials: any CredentialsProvider
    let caFile: String?
    let proxy: String?

    /// Asks options, environment, the directory's own file, `~/.config/osssync/config`,
    /// `~/.ossutilconfig` and `~/.aliyun/config.json`; the first that says something counts.
    init(
        _ remote: Remote,
        link: LinkFile?,
        sources: ConfigurationSources
    ) throws(SyncError) {
        guard remote.dialect == .oss else {
            throw SyncError(
                code: .configuration,
                message: "'\(remote.display)': this version speaks to OSS only; write oss://…"
            )
        }
        let files = ConfigurationFiles(sources, link: link)
        let options = sources.options
        let environment = sources.environment
        let places = try files.places(bucket: remote.bucket)
        func first(_ values: [String?]) -> String? {
            values.compactMap(\.self).first { !$0.isEmpty }
        }
        let region = first(
            [options.region, environment["OSS_REGION"], environment["ALIBABA_CLOUD_REGION_ID"]]
                + places.map(\.region)
        )
        let address = first(
            [options.endpoint, environment["OSS_ENDPOINT"]] + places.map(\.endpoint)
        )
        let addressing = first([options.addressing] + places.map(\.addressing)) ?? "auto"
        let version = first([options.signature] + places.map(\.signature)) ?? "v4"
        guard let choice = AddressingChoice(rawValue: addressing) else {
            throw Self.usage("'\(displayText(addressing))' is no addressing style")
        }
        switch version {
        case "v4": signature = .v4
        case "v1": signature = .v1
        default: throw Self.usage("'\(displayText(version))' is no signature version")
        }
        do throws(EndpointError) {
            endpoint = try Endpoint(parsing: address, region: region, addressing: choice)
        } catch {
            throw Self.usage(error.message)
        }
        guard endpoint.scheme == .https || endpoint.isLoopback || options.allowsInsecureHTTP else {
            throw Self.usage(
                "'\(displayText(endpoint.origin(bucket: nil)))' is plain http, where anyone on the "
                    + "way can read and change everything; use https, or say --insecure-http"
            )
        }
        if signature == .v4, endpoint.region == nil {
            throw Self.usage(
                "the region of '\(displayText(endpoint.host))' is not known, and V4 signatures "
                    + "need it; give --region"
            )
        }
        credentials = files.credentials()
        caFile = options.caFile
        proxy = Self.proxy(for: endpoint, environment)
    }

    private static func usage(_ message: String) -> SyncError {
        SyncError(code: .configuration, message: message)
    }

    /// The proxy of the environment, which hosts of `no_proxy` and this machine do without.
    private static func proxy(for endpoint: Endpoint, _ environment: [String: String]) -> String? {
        guard !endpoint.isLoopback else { return nil }
        // HTTP_PROXY in capitals is left out: a web server's CGI could set it from a header.
        let names =
            endpoint.scheme == .https ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
        let proxy = (names + ["all_proxy", "ALL_PROXY"]).compactMap { environment[$0] }.first
        guard let proxy, !proxy.isEmpty else { return nil }
        let exceptions = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
        let isExcepted = exceptions.split(separator: ",").contains { pattern in
            let name = pattern.filter { $0 != " " }.drop { $0 == "." }
            return name == "*" || endpoint.host == name || endpoint.host.hasSuffix("." + name)
        }
        return isExcepted ? nil : proxy
    }
}

/// The configuration files of a user, by their order.
struct ConfigurationFiles: Sendable {
    let sources: ConfigurationSources
    let link: LinkFile?
    private let context: CredentialsContext

    private static let processTimeLimit = Duration.seconds(10)

    init(_ sources: ConfigurationSources, link: LinkFile?) {
        self.sources = sources
        self.link = link
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

    private func home(_ name: String) -> String? {
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
            if let path = ossutilPath, let file = try ConfigurationFile(path: path) {
                places.append(try OssutilConfig(file).place(profile: profile, bucket: bucket))
            }
            if let path = aliyunPath, let file = try ConfigurationFile(path: path) {
                places.append(try AliyunConfig(file).place(profile: profile))
            }
        } catch {
            throw SyncError(code: .configuration, message: error.message, underlying: error)
        }
        return places
    }

    /// Every source of credentials in its order.
    ///
    /// A profile that was asked for by name comes before
    /// the environment.
    func credentials() -> any CredentialsProvider {
        var files: [any CredentialsProvider] = []
        if let path = ownPath {
            files.append(file(path, .section(ownSection)))
        }
        if let path = ossutilPath { files.append(file(path, .ossutil)) }
        if let path = aliyunPath { files.append(file(path, .aliyun)) }
        let environment = EnvironmentCredentials(
            environment: sources.environment,
            families: [.oss, .alibabaCloud]
        )
        var chain: [any CredentialsProvider] = [environment] + files
        if sources.options.profile != nil { chain = files + [environment] }
        if let address = sources.environment["ALIBABA_CLOUD_CREDENTIALS_URI"], !address.isEmpty {
            chain.append(CredentialsURI(address: address, http: context.http))
        }
        let role = InstanceRoleCredentials.Settings(
            environment: sources.environment,
            roleName: nil,
            isRequired: false
        )
        if let role { chain.append(InstanceRoleCredentials(role, http: context.http)) }
        return CredentialsChain(chain)
    }

    private func file(_ path: String, _ format: FileCredentials.Format) -> FileCredentials {
        let profile: String? = if case .section = format { nil } else { profile }
        return FileCredentials(path: path, format: format, profile: profile, context: context)
    }
}
