internal import FoundationEssentials

/// `~/.aliyun/config.json`, which the `aliyun` tool writes.
package struct AliyunConfig: Sendable {
    private struct Profile: Decodable {
        let name: String?
        let mode: String?
        let accessKeyID: String?
        let accessKeySecret: String?
        let stsToken: String?
        let regionID: String?
        let roleName: String?
        let processCommand: String?
        let credentialsURI: String?

        enum CodingKeys: String, CodingKey {
            case name
            case mode
            case accessKeyID = "access_key_id"
            case accessKeySecret = "access_key_secret"
            case stsToken = "sts_token"
            case regionID = "region_id"
            case roleName = "ram_role_name"
            case processCommand = "process_command"
            case credentialsURI = "credentials_uri"
        }
    }

    private struct Document: Decodable {
        let current: String?
        let profiles: [Profile]?
    }

    private let document: Document
    private let path: String

    package init(_ file: ConfigurationFile) throws(CredentialsError) {
        // The decoder's own error could quote a secret.
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(file.bytes)) else {
            throw .invalid(source: file.path, reason: "it is not the JSON of the aliyun tool")
        }
        self.document = document
        path = file.path
    }

    /// What the profile says of its credentials; nil if there is none, or it says nothing.
    package func source(profile name: String?) throws(CredentialsError) -> ConfiguredSource? {
        guard let profile = profile(name) else {
            guard let name else { return nil }
            throw .invalid(source: path, reason: "it has no profile '\(name)'")
        }
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

    /// What the profile says of the region.
    package func place(profile name: String?) -> ConfiguredPlace {
        ConfiguredPlace(endpoint: nil, region: profile(name)?.regionID, addressing: nil)
    }

    private func profile(_ name: String?) -> Profile? {
        let wanted = name ?? document.current ?? "default"
        return document.profiles?.first { $0.name == wanted }
    }
}
