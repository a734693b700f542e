/// `~/.aliyun/config.json`, which the `aliyun` tool writes.
package struct AliyunConfig: Sendable {
    /// A profile's fields by their names.
    private typealias Profile = [String: String]
    private static let names =
        KeyNames.aliyunProfile.all + [
            "name", "mode", "region_id", "ram_role_name", "process_command", "credentials_uri",
            "ram_role_arn", "ram_session_name", "external_id", "sts_region", "source_profile",
            "oidc_provider_arn", "oidc_token_file",
        ]

    private let current: String?
    private let profiles: [Profile]
    private let path: String

    package init(_ file: ConfigurationFile) throws(CredentialsError) {
        do throws(JSONFailure) {
            let document = try JSONText(parsing: file.bytes)
            current = try document.string("current")
            profiles = try Self.profiles(of: document)
        } catch {
            throw .invalid(
                source: file.path,
                reason: "it is not the JSON of the aliyun tool (\(error.message))"
            )
        }
        path = file.path
    }

    /// Profiles that name each other end here.
    private static let maximumDepth = 8

    /// The profile's credentials; nil if the profile or its credentials are missing.
    package func source(profile name: String?) throws(CredentialsError) -> ConfiguredSource? {
        guard let profile = profile(name) else { return nil }
        return try source(of: profile, mode: profile["mode"] ?? "", depth: 0)
    }

    private func source(
        of profile: Profile,
        mode: String,
        depth: Int
    ) throws(CredentialsError) -> ConfiguredSource? {
        switch mode {
        case "", "AK", "StsToken":
            let hasToken = profile["mode"] != "AK"
            return try Credentials.found(.aliyunProfile, in: path) { name in
                name == "sts_token" && !hasToken ? nil : profile[name]
            }.map { .keys($0) }
        case "EcsRamRole":
            return .instanceRole(name: given(profile, "ram_role_name"))
        case "External": return .process(command: try required(profile, "process_command"))
        case "CredentialsURI": return .uri(try required(profile, "credentials_uri"))
        case "RamRoleArn": return try role(profile, by: source(of: profile, mode: "", depth: depth))
        case "RamRoleArnWithEcs":
            return try role(profile, by: source(of: profile, mode: "EcsRamRole", depth: depth))
        case "ChainableRamRoleArn":
            let name = try required(profile, "source_profile")
            guard depth < Self.maximumDepth, let base = self.profile(name) else {
                throw .noProfile(name, tried: [path])
            }
            return try role(
                profile,
                by: source(of: base, mode: base["mode"] ?? "", depth: depth + 1)
            )
        case "OIDC":
            var role = try settings(profile)
            role.provider = try required(profile, "oidc_provider_arn")
            let path = try required(profile, "oidc_token_file")
            return .tokenFile(role, .alibabaCloud, path: path)
        default: throw .unsupportedMode(source: path, mode: mode)
        }
    }

    private func role(
        _ profile: Profile,
        by base: ConfiguredSource?
    ) throws(CredentialsError) -> ConfiguredSource {
        guard let base else { throw .incomplete(source: path, missing: "an access key") }
        return .role(try settings(profile), by: base)
    }

    private func settings(_ profile: Profile) throws(CredentialsError) -> RoleSettings {
        let seconds = profile["expired_seconds"]
        return RoleSettings(
            role: try required(profile, "ram_role_arn"),
            session: given(profile, "ram_session_name"),
            seconds: seconds == "0" ? nil : seconds,
            externalID: given(profile, "external_id"),
            region: given(profile, "sts_region")
        )
    }

    private func given(_ profile: Profile, _ name: String) -> String? {
        profile[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    private func required(
        _ profile: Profile,
        _ name: String
    ) throws(CredentialsError) -> String {
        if let text = given(profile, name) { return text }
        throw .incomplete(source: path, missing: (name.hasPrefix("o") ? "an " : "a ") + name)
    }

    package func hasProfile(_ name: String) -> Bool { profile(name) != nil }

    /// What the profile says of the region.
    package func location(profile name: String?) -> LocationSettings {
        LocationSettings(endpoint: nil, region: profile(name)?["region_id"], addressing: nil)
    }

    private func profile(_ name: String?) -> Profile? {
        let wanted = name ?? current ?? "default"
        return profiles.first { $0["name"] == wanted }
    }

    private static func profiles(of document: JSONText) throws(JSONFailure) -> [Profile] {
        switch document["profiles"] {
        case nil, .null: return []
        case .array(let elements):
            return try elements.map { element throws(JSONFailure) in
                var profile = try element.strings(names)
                if case .number(let text)? = element["expired_seconds"] {
                    profile["expired_seconds"] = text
                }
                return profile
            }
        default: throw .unexpectedType(member: "profiles")
        }
    }
}
