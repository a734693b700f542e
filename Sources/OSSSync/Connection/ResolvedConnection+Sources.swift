internal import OSSTransfer
internal import ObjectStorage
internal import ObjectTransfer

extension ResolvedConnection {
    /// Asks options, environment, the directory's own file, `~/.config/osssync/config` and the
    /// files of the service's own tools; the first that says something counts.
    init(
        _ remote: BucketLocation,
        link: LinkFile?,
        sources: ConfigurationSources
    ) throws(TransferError) {
        let files = ConfigurationFiles(sources, link: link, dialect: remote.dialect)
        try files.requireUsedProfile()
        let variables = EnvironmentLocation(remote.dialect, sources.environment)
        let options = sources.options
        try options.check()
        let asked = LocationSettings(
            endpoint: options.endpoint,
            region: options.region,
            addressing: options.addressing,
            signature: options.signature,
            provider: options.provider
        )
        let locations = [asked, variables.location] + (try files.locations(bucket: remote.bucket))
        let address = locations.lazy.compactMap(\.endpoint).first
        let region = Self.region(locations, remote.dialect)
        let addressing = locations.lazy.compactMap(\.addressing).first ?? "auto"
        // In files that both dialects share, v1 is said of OSS.
        let signatures =
            remote.dialect == .s3 ? [asked.signature, link?.signature] : locations.map(\.signature)
        let version = signatures.lazy.compactMap(\.self).first ?? "v4"
        guard let choice = AddressingChoice(rawValue: addressing) else {
            throw Self.usage("'\(displayText(addressing))' is not an addressing style")
        }
        guard let known = SignatureVersion(rawValue: version) else {
            throw Self.usage("'\(displayText(version))' is not a supported signature version")
        }
        let location = try StoreLocation(
            remote.bucket,
            remote.dialect,
            address: address,
            region: region,
            addressing: choice,
            provider: try Self.provider(locations, asked: asked.provider, remote.dialect),
            signature: known,
            allowsInsecureHTTP: options.allowsInsecureHTTP
        )
        var network = NetworkSettings(options)
        network.caFile = options.caFile ?? variables.caFile ?? files.awsCAFile()
        network.proxy = Self.proxy(
            for: location.endpoint,
            bucket: remote.bucket,
            sources.environment
        )
        let used = LocationSettings(
            endpoint: address,
            region: region,
            addressing: addressing,
            signature: version,
            provider: remote.dialect == .s3 ? locations.lazy.compactMap(\.provider).first : nil
        )
        try self.init(
            location: location,
            used: used,
            credentials: try files.credentials(),
            network: network,
            onRetry: sources.onRetry
        )
    }

    /// The first region, unless a place before it has an endpoint that names another one.
    ///
    /// Signatures for a region that does not match the endpoint are rejected.
    private static func region(_ locations: [LocationSettings], _ dialect: StoreDialect)
        -> String?
    {
        for location in locations {
            if let region = location.region { return region }
            guard let endpoint = location.endpoint else { continue }
            if let region = Endpoint.region(named: endpoint, isS3: dialect == .s3) { return region }
            // Of the endpoints only the first counts.
            break
        }
        return locations.lazy.compactMap(\.region).first
    }

    /// In files that both dialects share, the provider is said of S3.
    private static func provider(
        _ locations: [LocationSettings],
        asked: String?,
        _ dialect: StoreDialect
    ) throws(TransferError) -> StoreProvider? {
        guard dialect == .s3 else {
            guard asked == nil else { throw usage("--provider is for s3:// remotes") }
            return nil
        }
        guard let name = locations.lazy.compactMap(\.provider).first else { return nil }
        if let provider = StoreProvider(rawValue: name) { return provider }
        throw usage(
            "'\(displayText(name))' is not a provider; supported are "
                + StoreProvider.allCases.map(\.rawValue).joined(separator: ", ")
        )
    }

    private static func usage(_ message: String) -> TransferError {
        TransferError(code: .configuration, message: message)
    }

    /// The proxy of the environment, which hosts of `no_proxy` and this machine do without.
    static func proxy(
        for endpoint: Endpoint,
        bucket: String?,
        _ environment: [String: String]
    ) -> String? {
        var host = endpoint.host
        if let bucket, endpoint.addressing == .virtual { host = bucket + "." + host }
        guard !endpoint.isLoopback else { return nil }
        return proxy(forHost: host, isHTTPS: endpoint.scheme == .https, environment)
    }

    static func exceptions(_ environment: [String: String]) -> HostPatterns {
        HostPatterns(environment["no_proxy"] ?? environment["NO_PROXY"] ?? "")
    }

    /// The same for a host that is not this machine.
    static func proxy(
        forHost host: String,
        isHTTPS: Bool,
        _ environment: [String: String]
    ) -> String? {
        // HTTP_PROXY in capitals is left out: a web server's CGI could set it from a header.
        let names = isHTTPS ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
        let proxy = (names + ["all_proxy", "ALL_PROXY"]).compactMap { environment[$0] }.first
        guard let proxy, !proxy.isEmpty else { return nil }
        return exceptions(environment).contains(host) ? nil : proxy
    }
}

/// What the environment says of a bucket's place, the first first.
private struct EnvironmentLocation {
    let location: LocationSettings
    let caFile: String?

    init(_ dialect: StoreDialect, _ environment: [String: String]) {
        func first(_ names: String...) -> String? {
            names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        }
        switch dialect {
        case .oss:
            location = LocationSettings(
                endpoint: first("OSS_ENDPOINT"),
                region: first("OSS_REGION", "ALIBABA_CLOUD_REGION_ID"),
                addressing: nil
            )
            caFile = nil
        case .s3:
            let isIgnored = ignoresAWSEndpoints(environment)
            location = LocationSettings(
                endpoint: isIgnored ? nil : first("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
                region: first("AWS_REGION", "AWS_DEFAULT_REGION"),
                addressing: nil
            )
            caFile = first("AWS_CA_BUNDLE")
        }
    }
}

extension NetworkSettings {
    /// Attempts while a user waits for the first response.
    private static let hastyAttempts = 2

    fileprivate init(_ options: ConnectionOptions) {
        self = .ofThisVersion
        if let timeout = options.timeout { stallTimeout = timeout }
        if let retries = options.retries { retry.attempts = retries + 1 }
        if options.givesUpSoon { retry.firstAttempts = Self.hastyAttempts }
        if let longest = options.retryWait {
            retry.cap = longest
            retry.retryAfterCap = longest
        }
        bandwidth = options.bandwidth.map { timetable in
            BandwidthLimit { timetable.limit(atMinute: WallClock.minuteOfDay()) }
        }
    }
}

extension BucketClient {
    /// Makes a client from configuration; no request is made.
    ///
    /// - Parameters:
    ///   - bucket: The bucket's name.
    ///   - dialect: The protocol: OSS unless specified otherwise.
    ///   - sources: Where the connection is configured.
    ///   - connectionLimit: The largest number of requests in flight.
    /// - Throws: `TransferError` of code `configuration`.
    package init(
        _ bucket: String,
        dialect: StoreDialect = .oss,
        sources: ConfigurationSources,
        connectionLimit: Int = 4
    ) throws(TransferError) {
        try self.init(
            bucket,
            dialect: dialect,
            connection: try ResolvedConnection(
                BucketLocation(dialect: dialect, bucket: bucket, prefix: ""),
                link: nil,
                sources: sources
            ),
            connectionLimit: connectionLimit
        )
    }
}
