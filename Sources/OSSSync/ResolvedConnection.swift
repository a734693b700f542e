internal import ObjectStorage

/// How a bucket is reached, after every source was asked in its order.
struct ResolvedConnection: Sendable {
    let dialect: StorageDialect
    let endpoint: Endpoint
    let signature: SignatureVersion
    let credentials: any CredentialsProvider
    let caFile: String?
    let proxy: String?

    /// Asks options, environment, the directory's own file, `~/.config/osssync/config` and the
    /// files of the service's own tools; the first that says something counts.
    init(
        _ remote: Remote,
        link: LinkFile?,
        sources: ConfigurationSources
    ) throws(SyncError) {
        let files = ConfigurationFiles(sources, link: link, dialect: remote.dialect)
        let variables = EnvironmentPlace(remote.dialect, sources.environment)
        let options = sources.options
        let places = try files.places(bucket: remote.bucket)
        func first(_ values: [String?]) -> String? {
            values.compactMap(\.self).first { !$0.isEmpty }
        }
        let region = first([options.region] + variables.regions + places.map(\.region))
        let address = first([options.endpoint] + variables.endpoints + places.map(\.endpoint))
        let addressing = first([options.addressing] + places.map(\.addressing)) ?? "auto"
        let version = first([options.signature] + places.map(\.signature)) ?? "v4"
        guard let choice = AddressingChoice(rawValue: addressing) else {
            throw Self.usage("'\(displayText(addressing))' is no addressing style")
        }
        switch (version, remote.dialect) {
        case ("v4", _): signature = .v4
        case ("v1", .oss): signature = .v1
        default: throw Self.usage("'\(displayText(version))' is no signature version here")
        }
        do throws(EndpointError) {
            switch remote.dialect {
            case .oss:
                dialect = .oss
                endpoint = try Endpoint(parsing: address, region: region, addressing: choice)
            case .s3:
                dialect = .s3
                endpoint = try Endpoint(
                    parsingS3: address,
                    region: region,
                    addressing: choice,
                    bucket: remote.bucket
                )
            }
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
        caFile = options.caFile ?? variables.caFile ?? files.awsCAFile()
        proxy = Self.proxy(for: endpoint, sources.environment)
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

/// What the environment says of a bucket's place, the first first.
private struct EnvironmentPlace {
    let regions: [String?]
    let endpoints: [String?]
    let caFile: String?

    init(_ dialect: Remote.Dialect, _ environment: [String: String]) {
        func values(_ names: String...) -> [String?] { names.map { environment[$0] } }
        switch dialect {
        case .oss:
            regions = values("OSS_REGION", "ALIBABA_CLOUD_REGION_ID")
            endpoints = values("OSS_ENDPOINT")
            caFile = nil
        case .s3:
            regions = values("AWS_REGION", "AWS_DEFAULT_REGION")
            let isIgnored = environment["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"] == "true"
            endpoints = isIgnored ? [] : values("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
            caFile = environment["AWS_CA_BUNDLE"].flatMap { $0.isEmpty ? nil : $0 }
        }
    }
}
