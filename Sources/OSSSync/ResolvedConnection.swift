internal import ObjectStorage

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// How a bucket is reached, after every source was asked in its order.
struct ResolvedConnection: Sendable {
    let place: BucketPlace
    let credentials: any CredentialsProvider
    let caFile: String?
    let proxy: String?
    let patience: ConnectionPatience
    /// What all requests together may move; nil for no limit.
    let bytesPerSecond: Int64?

    var dialect: StorageDialect { place.dialect }
    var endpoint: Endpoint { place.endpoint }
    var signature: SignatureVersion { place.signature }

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
        let asked = ConfiguredPlace(
            endpoint: options.endpoint,
            region: options.region,
            addressing: options.addressing,
            signature: options.signature,
            provider: options.provider
        )
        let places = [asked, variables.place] + (try files.places(bucket: remote.bucket))
        let address = places.lazy.compactMap(\.endpoint).first
        let region = Self.region(places, remote.dialect)
        let addressing = places.lazy.compactMap(\.addressing).first ?? "auto"
        // In files that both dialects share, v1 is said of OSS.
        let signatures =
            remote.dialect == .s3 ? [asked.signature, link?.signature] : places.map(\.signature)
        let version = signatures.lazy.compactMap(\.self).first ?? "v4"
        guard let choice = AddressingChoice(rawValue: addressing) else {
            throw Self.usage("'\(displayText(addressing))' is no addressing style")
        }
        guard let known = SignatureVersion(rawValue: version) else {
            throw Self.usage("'\(displayText(version))' is no signature version here")
        }
        place = try BucketPlace(
            remote,
            address: address,
            region: region,
            addressing: choice,
            provider: try Self.provider(places, asked: asked.provider, remote.dialect),
            signature: known,
            allowsInsecureHTTP: options.allowsInsecureHTTP
        )
        credentials = try files.credentials()
        caFile = options.caFile ?? variables.caFile ?? files.awsCAFile()
        try Self.checkAuthorities(caFile)
        proxy = Self.proxy(for: place.endpoint, bucket: remote.bucket, sources.environment)
        patience = ConnectionPatience(options)
        bytesPerSecond = nil
    }

    /// Takes what an app spells; nothing else is asked.
    init(_ remote: Remote, _ configuration: StoreConfiguration) throws(SyncError) {
        place = try BucketPlace(
            remote,
            address: configuration.endpoint,
            region: configuration.region,
            addressing: configuration.addressing.choice,
            provider: remote.dialect == .s3
                ? configuration.provider.flatMap { StoreProvider(rawValue: $0.rawValue) } : nil,
            signature: configuration.signature == .v1 ? .v1 : .v4,
            allowsInsecureHTTP: configuration.connection.allowsInsecureHTTP
        )
        credentials = configuration.credentials.provider
        caFile = configuration.connection.caFile
        try Self.checkAuthorities(caFile)
        proxy = configuration.connection.proxy
        patience = ConnectionPatience(configuration.connection)
        bytesPerSecond = configuration.connection.bandwidthLimit
    }

    /// The first region, unless a place before it has an endpoint that names another one.
    ///
    /// An endpoint and a region that do not belong together make signatures that nobody accepts.
    private static func region(_ places: [ConfiguredPlace], _ dialect: Remote.Dialect) -> String? {
        for place in places {
            if let region = place.region { return region }
            guard let endpoint = place.endpoint else { continue }
            if let region = Endpoint.region(named: endpoint, isS3: dialect == .s3) { return region }
            // Of the endpoints only the first counts.
            break
        }
        return places.lazy.compactMap(\.region).first
    }

    /// In files that both dialects share, the provider is said of S3.
    private static func provider(
        _ places: [ConfiguredPlace],
        asked: String?,
        _ dialect: Remote.Dialect
    ) throws(SyncError) -> StoreProvider? {
        guard dialect == .s3 else {
            guard asked == nil else { throw usage("--provider is for s3:// remotes") }
            return nil
        }
        guard let name = places.lazy.compactMap(\.provider).first else { return nil }
        if let provider = StoreProvider(rawValue: name) { return provider }
        throw usage(
            "'\(displayText(name))' is no provider; there are "
                + StoreProvider.allCases.map(\.rawValue).joined(separator: ", ")
        )
    }

    /// A file that can't be read would show as a server that nobody trusts, at the first request.
    static func checkAuthorities(_ file: String?) throws(SyncError) {
        if let file, unsafe access(file, R_OK) != 0 {
            throw usage("the certificate authorities '\(displayText(file))' can't be read")
        }
    }

    private static func usage(_ message: String) -> SyncError {
        SyncError(code: .configuration, message: message)
    }

    /// The proxy of the environment, which hosts of `no_proxy` and this machine do without.
    static func proxy(
        for endpoint: Endpoint,
        bucket: String?,
        _ environment: [String: String]
    ) -> String? {
        guard !endpoint.isLoopback else { return nil }
        // HTTP_PROXY in capitals is left out: a web server's CGI could set it from a header.
        let names =
            endpoint.scheme == .https ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
        let proxy = (names + ["all_proxy", "ALL_PROXY"]).compactMap { environment[$0] }.first
        guard let proxy, !proxy.isEmpty else { return nil }
        var host = endpoint.host
        if let bucket, endpoint.addressing == .virtual { host = bucket + "." + host }
        let exceptions = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
        let isExcepted = exceptions.utf8.split { $0 == UInt8(ascii: ",") || $0 <= 0x20 }
            .contains { pattern in
                let name = String(decoding: pattern, as: UTF8.self).lowercased()
                    .drop { $0 == "." }
                return name == "*" || host == name || host.hasSuffix("." + name)
            }
        return isExcepted ? nil : proxy
    }
}

/// What the environment says of a bucket's place, the first first.
private struct EnvironmentPlace {
    let place: ConfiguredPlace
    let caFile: String?

    init(_ dialect: Remote.Dialect, _ environment: [String: String]) {
        func first(_ names: String...) -> String? {
            names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        }
        switch dialect {
        case .oss:
            place = ConfiguredPlace(
                endpoint: first("OSS_ENDPOINT"),
                region: first("OSS_REGION", "ALIBABA_CLOUD_REGION_ID"),
                addressing: nil
            )
            caFile = nil
        case .s3:
            let isIgnored = ignoresAWSEndpoints(environment)
            place = ConfiguredPlace(
                endpoint: isIgnored ? nil : first("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
                region: first("AWS_REGION", "AWS_DEFAULT_REGION"),
                addressing: nil
            )
            caFile = first("AWS_CA_BUNDLE")
        }
    }
}
