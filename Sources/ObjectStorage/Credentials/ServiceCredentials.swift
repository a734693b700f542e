/// Credentials that a local service hands out at an address (`ALIBABA_CLOUD_CREDENTIALS_URI`).
package struct CredentialsURI: CredentialsProvider {
    private let address: String
    private let http: CredentialsHTTP

    package init(address: String, http: @escaping CredentialsHTTP) {
        self.address = address
        self.http = http
    }

    package let name = "the credentials URI"

    package func credentials() async throws(CredentialsError) -> Credentials {
        let isPlain = address.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        guard isPlain, address.hasPrefix("http://") || address.hasPrefix("https://") else {
            throw .invalid(source: name, reason: "it must begin with http:// or https://")
        }
        return try await CredentialsService(name: name, http: http).credentials(at: address)
    }
}

/// The credentials of the role that an ECS instance runs in, from its metadata service
/// (oss-protocol, "ECS instance role").
package struct InstanceRoleCredentials: CredentialsProvider {
    package struct Settings: Sendable {
        /// Nil to ask the service for it.
        package let roleName: String?
        /// False to refuse the service's first version, which answers without a token.
        package let allowsFirstVersion: Bool
        /// True if the user has asked for the role: a machine without one is then an error.
        package let isRequired: Bool
        /// `http://100.100.100.200` but in tests.
        package let origin: String

        package init(
            roleName: String?,
            allowsFirstVersion: Bool,
            isRequired: Bool,
            origin: String
        ) {
            self.roleName = roleName
            self.allowsFirstVersion = allowsFirstVersion
            self.isRequired = isRequired
            self.origin = origin
        }

        /// What the variables `ALIBABA_CLOUD_ECS_METADATA` and `ALIBABA_CLOUD_IMDSV1_DISABLED` say;
        /// nil if the service is disabled.
        package init?(environment: [String: String], roleName: String?, isRequired: Bool) {
            func isTrue(_ name: String) -> Bool { environment[name]?.lowercased() == "true" }
            guard !isTrue("ALIBABA_CLOUD_ECS_METADATA_DISABLED") else { return nil }
            let named = environment["ALIBABA_CLOUD_ECS_METADATA"].flatMap { $0.isEmpty ? nil : $0 }
            self.init(
                roleName: roleName ?? named,
                allowsFirstVersion: !isTrue("ALIBABA_CLOUD_IMDSV1_DISABLED"),
                isRequired: isRequired || named != nil,
                origin: "http://100.100.100.200"
            )
        }
    }

    package let name = "the ECS instance role"
    private static let tokenSeconds = 21_600
    private let settings: Settings
    private let service: CredentialsService

    package init(_ settings: Settings, http: @escaping CredentialsHTTP) {
        self.settings = settings
        service = CredentialsService(name: name, http: http)
    }

    package func credentials() async throws(CredentialsError) -> Credentials {
        do throws(CredentialsError) {
            return try await fetch()
        } catch .requestFailed(let source, let reason) {
            guard settings.isRequired else { throw .absent(source: source) }
            throw .requestFailed(source: source, reason: reason)
        } catch {
            throw error
        }
    }

    private func fetch() async throws(CredentialsError) -> Credentials {
        var headers: [(String, String)] = []
        if let token = try await token() { headers = [("X-aliyun-ecs-metadata-token", token)] }
        let base = settings.origin + "/latest/meta-data/ram/security-credentials/"
        let role: String
        if let name = settings.roleName {
            role = name
        } else {
            let answer = try await service.get(base, headers, what: "the role's name")
            role = String(decoding: answer.prefix { $0 > 0x20 }, as: UTF8.self)
        }
        guard !role.isEmpty else {
            throw .requestFailed(source: self.name, reason: "the instance has no role")
        }
        return try await service.credentials(
            at: base + percentEncode(role.utf8, keepsSlash: false),
            headers,
            what: "the role's credentials"
        )
    }

    /// The token of the service's second version; nil if it only speaks the first one.
    private func token() async throws(CredentialsError) -> String? {
        do throws(CredentialsError) {
            let answer = try await service.send(
                .put,
                settings.origin + "/latest/api/token",
                [("X-aliyun-ecs-metadata-token-ttl-seconds", String(Self.tokenSeconds))]
            )
            let isToken =
                !answer.body.isEmpty && answer.body.count <= 4_096
                && answer.body.allSatisfy { $0 > 0x20 && $0 < 0x7F }
            if answer.status == 200, isToken {
                return String(decoding: answer.body, as: UTF8.self)
            }
            guard settings.allowsFirstVersion else {
                throw .requestFailed(
                    source: name,
                    reason: "it gave no token (status \(answer.status))"
                )
            }
            return nil
        } catch .requestFailed(let source, let reason) {
            guard settings.allowsFirstVersion else {
                throw .requestFailed(source: source, reason: reason)
            }
            return nil
        } catch {
            throw error
        }
    }
}
