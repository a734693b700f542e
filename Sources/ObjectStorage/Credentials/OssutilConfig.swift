/// `~/.ossutilconfig`, as both versions of ossutil write it (oss-protocol, "Credentials and
/// configuration users already have").
package struct OssutilConfig: Sendable {
    private let document: INIDocument
    private let path: String
    /// The section that only the first version has.
    private static let firstVersionSection = "Credentials"

    package init(_ file: ConfigurationFile) throws(CredentialsError) {
        document = try INIDocument(file)
        path = file.path
    }

    private var isFirstVersion: Bool { document[section: Self.firstVersionSection] != nil }

    /// The profile's credentials; nil if the profile or its credentials are missing.
    package func source(profile: String?) throws(CredentialsError) -> ConfiguredSource? {
        guard let section = section(profile: profile) else { return nil }
        if isFirstVersion, let address = document[section: "AkService"]?["ecsAk"],
            section["access-key-id"] == nil
        {
            return .uri(address)
        }
        return try ConfiguredSource(section, source: path)
    }

    package func hasProfile(_ name: String) -> Bool { section(profile: name) != nil }

    /// What the profile says of a bucket's place.
    package func location(profile: String?, bucket: String?) -> LocationSettings {
        let section = section(profile: profile)
        let region = section?["region"]
        if isFirstVersion {
            if let host = exact("Bucket-Cname", bucket) {
                return LocationSettings(endpoint: host, region: region, addressing: "cname")
            }
            let host = exact("Bucket-Endpoint", bucket) ?? section?["endpoint"]
            return LocationSettings(endpoint: host, region: region, addressing: nil)
        }
        let own = bucket.flatMap {
            document[section: "buckets " + $0] ?? document[section: "bucket " + $0]
        }
        return LocationSettings(
            endpoint: own?["endpoint"] ?? section?["endpoint"],
            region: own?["region"] ?? region,
            addressing: own?["addressing-style"] ?? section?["addressing-style"],
            signature: own?["sign-version"] ?? section?["sign-version"]
        )
    }

    private func section(profile: String?) -> INIDocument.Section? {
        let name = profile ?? "default"
        // The first version has one account and no profiles.
        if isFirstVersion {
            return name == "default" ? document[section: Self.firstVersionSection] : nil
        }
        if name == "default", let section = document[section: "default"] { return section }
        return document[section: "profile " + name]
    }

    private func exact(_ section: String, _ bucket: String?) -> String? {
        bucket.flatMap { document[section: section]?.value(exactly: $0) }
    }
}

/// Where a configuration file says that a bucket is, in the file's own words.
package struct LocationSettings: Sendable, Hashable {
    package var endpoint: String?
    package let region: String?
    /// `virtual`, `path` or `cname`.
    package let addressing: String?
    /// `v1` or `v4`.
    package let signature: String?
    /// The name of a ``StoreProvider``.
    package let provider: String?

    /// Empty texts are absent ones.
    package init(
        endpoint: String?,
        region: String?,
        addressing: String?,
        signature: String? = nil,
        provider: String? = nil
    ) {
        func present(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
        self.endpoint = present(endpoint)
        self.region = present(region)
        self.addressing = present(addressing)
        self.signature = present(signature)
        self.provider = present(provider)
    }
}
