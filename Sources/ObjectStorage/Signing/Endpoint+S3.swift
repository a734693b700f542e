extension Endpoint {
    /// The region of S3 that has no name in addresses, and what most look-alikes take any name for.
    static let oldestRegion = "us-east-1"
    private static let amazonSuffixes = [".amazonaws.com", ".amazonaws.com.cn"]
    /// Hosts of services that refuse buckets in the path.
    private static let virtualSuffixes = [".aliyuncs.com", ".myqcloud.com"] + amazonSuffixes

    /// Reads the endpoint of an S3 service, or makes Amazon's of `region` if `text` is nil.
    ///
    /// `auto` puts the bucket into the host only where the service is known to want that: any other
    /// store understands paths, and few have certificates for every bucket. A bucket with a dot
    /// never matches a certificate. A provider that is known is not guessed by the host's name.
    package init(
        parsingS3 text: String?,
        region: String?,
        addressing: AddressingChoice,
        provider: StoreProvider?,
        bucket: String
    ) throws(EndpointError) {
        if let region, !Self.isRegion(region) { throw .invalidRegion(region) }
        guard let text, !text.isEmpty else {
            if let provider, provider.needsEndpoint {
                throw .missingOf(provider: provider.rawValue)
            }
            let region = region ?? Self.oldestRegion
            self.init(
                scheme: .https,
                host: Self.amazonHost(region),
                port: nil,
                region: region,
                addressing: addressing == .path || bucket.contains(".") ? .path : .virtual
            )
            return
        }
        let (scheme, authority) = try Self.splitScheme(text)
        let (hostText, portText) = try Self.splitPort(authority, whole: text)
        guard let host = HostName.normalized(hostText) else { throw .invalidHost(hostText) }
        let style: Addressing
        switch addressing {
        case _ where HostName.isAddress(host): style = .path
        case .path: style = .path
        case .cname: style = .cname
        case .virtual: style = .virtual
        case .auto:
            let isKnown = Self.virtualSuffixes.contains { host.hasSuffix($0) }
            let usual = provider?.addressing ?? (isKnown ? .virtual : .path)
            style = bucket.contains(".") ? .path : usual
        }
        self.init(
            scheme: scheme,
            host: host,
            port: try Self.parsePort(portText, scheme: scheme),
            region: region ?? Self.s3Region(in: host) ?? provider?.defaultRegion
                ?? Self.oldestRegion,
            addressing: style
        )
    }

    /// The region that an endpoint's host names; nil if it names none, or is no endpoint.
    package static func region(named text: String, isS3: Bool) -> String? {
        guard let (_, authority) = try? splitScheme(text),
            let (hostText, _) = try? splitPort(authority, whole: text),
            let host = HostName.normalized(hostText)
        else { return nil }
        return isS3 ? s3Region(in: host) : HostName.region(in: host)
    }

    private static func amazonHost(_ region: String) -> String {
        "s3." + region + (region.hasPrefix("cn-") ? ".amazonaws.com.cn" : ".amazonaws.com")
    }

    /// The region in hosts such as `s3.eu-central-1.amazonaws.com` or `s3.fr-par.scw.cloud`.
    private static func s3Region(in host: String) -> String? {
        if let region = HostName.region(in: host) { return region }
        if host.hasSuffix(".r2.cloudflarestorage.com") { return "auto" }
        let labels = host.split(separator: ".")
        guard labels.count > 3, labels[0] == "s3" else { return nil }
        let label = labels[1] == "dualstack" ? labels[2] : labels[1]
        return label.contains("-") ? String(label) : nil
    }

    /// The same service in another region: only Amazon's own hosts name theirs.
    func moved(to region: String) -> Endpoint {
        let isAmazon = host == "s3.amazonaws.com" || self.region.map(Self.amazonHost) == host
        return Endpoint(
            scheme: scheme,
            host: isAmazon ? Self.amazonHost(region) : host,
            port: port,
            region: region,
            addressing: addressing
        )
    }
}
