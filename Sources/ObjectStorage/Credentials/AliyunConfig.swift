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

    /// The profile's credentials; nil if the profile or its credentials are missing.
    package func source(profile name: String?) throws(CredentialsError) -> ConfiguredSource? {
        guard let profile = profile(name) else { return nil }
        switch profile.mode ?? "" {
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
            guard let command = profile.processCommand, !command.isEmpty else {
                throw .incomplete(source: path, missing: "a process_command")
            }
            return .process(command: command)
        case "CredentialsURI":
            guard let address = profile.credentialsURI, !address.isEmpty else {
                throw .incomplete(source: path, missing: "a credentials_uri")
            }
            return .uri(address)
        case let mode: throw .unsupportedMode(source: path, mode: mode)
        }
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
