/// `~/.aliyun/config.json`, which the `aliyun` tool writes.
package struct AliyunConfig: Sendable {
    private struct Profile: Sendable {
        let name: String?
        let mode: String?
        let accessKeyID: String?
        let accessKeySecret: String?
        let stsToken: String?
        let regionID: String?
        let roleName: String?
        let processCommand: String?
        let credentialsURI: String?
        let role: String?
        let session: String?
        let seconds: String?
        let externalID: String?
        let tokenServiceRegion: String?
        let sourceProfile: String?
        let tokenProvider: String?
        let tokenFile: String?

        init(_ profile: JSONText) throws(JSONFailure) {
            name = try profile.string("name")
            mode = try profile.string("mode")
            accessKeyID = try profile.string("access_key_id")
            accessKeySecret = try profile.string("access_key_secret")
            stsToken = try profile.string("sts_token")
            regionID = try profile.string("region_id")
            roleName = try profile.string("ram_role_name")
            processCommand = try profile.string("process_command")
            credentialsURI = try profile.string("credentials_uri")
            role = try profile.string("ram_role_arn")
            session = try profile.string("ram_session_name")
            seconds = if case .number(let text)? = profile["expired_seconds"] { text } else { nil }
            externalID = try profile.string("external_id")
            tokenServiceRegion = try profile.string("sts_region")
            sourceProfile = try profile.string("source_profile")
            tokenProvider = try profile.string("oidc_provider_arn")
            tokenFile = try profile.string("oidc_token_file")
        }
    }

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
        return try source(of: profile, mode: profile.mode ?? "", depth: 0)
    }

    private func source(
        of profile: Profile,
        mode: String,
        depth: Int
    ) throws(CredentialsError) -> ConfiguredSource? {
        switch mode {
        case "", "AK", "StsToken":
            do throws(CredentialsError) {
                return .keys(
                    try Credentials(
                        source: path,
                        id: profile.accessKeyID,
                        secret: profile.accessKeySecret,
                        token: profile.mode == "AK" ? nil : profile.stsToken,
                        expires: nil
                    )
                )
            } catch .absent {
                return nil
            } catch {
                throw error
            }
        case "EcsRamRole":
            let role = profile.roleName.flatMap { $0.isEmpty ? nil : $0 }
            return .instanceRole(name: role)
        case "External":
            return .process(command: try required(profile.processCommand, "a process_command"))
        case "CredentialsURI":
            return .uri(try required(profile.credentialsURI, "a credentials_uri"))
        case "RamRoleArn": return try role(profile, by: source(of: profile, mode: "", depth: depth))
        case "RamRoleArnWithEcs":
            return try role(profile, by: source(of: profile, mode: "EcsRamRole", depth: depth))
        case "ChainableRamRoleArn":
            let name = try required(profile.sourceProfile, "a source_profile")
            guard depth < Self.maximumDepth, let base = self.profile(name) else {
                throw .noProfile(name, tried: [path])
            }
            return try role(profile, by: source(of: base, mode: base.mode ?? "", depth: depth + 1))
        case "OIDC":
            return .tokenFile(
                try settings(profile),
                .alibabaCloud(
                    provider: try required(profile.tokenProvider, "an oidc_provider_arn")
                ),
                path: try required(profile.tokenFile, "an oidc_token_file")
            )
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
        func given(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
        return RoleSettings(
            role: try required(profile.role, "a ram_role_arn"),
            session: given(profile.session),
            seconds: profile.seconds == "0" ? nil : profile.seconds,
            externalID: given(profile.externalID),
            region: given(profile.tokenServiceRegion)
        )
    }

    private func required(_ text: String?, _ what: String) throws(CredentialsError) -> String {
        guard let text, !text.isEmpty else { throw .incomplete(source: path, missing: what) }
        return text
    }

    package func hasProfile(_ name: String) -> Bool { profile(name) != nil }

    /// What the profile says of the region.
    package func location(profile name: String?) -> LocationSettings {
        LocationSettings(endpoint: nil, region: profile(name)?.regionID, addressing: nil)
    }

    private func profile(_ name: String?) -> Profile? {
        let wanted = name ?? current ?? "default"
        return profiles.first { $0.name == wanted }
    }

    private static func profiles(of document: JSONText) throws(JSONFailure) -> [Profile] {
        switch document["profiles"] {
        case nil, .null: return []
        case .array(let elements):
            return try elements.map { element throws(JSONFailure) in try Profile(element) }
        default: throw .unexpectedType(member: "profiles")
        }
    }
}
