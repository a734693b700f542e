/// Sends a small request and returns the answer; provided by the owner of the transport.
///
/// It must not follow redirects, must end after a few seconds, and must limit the body: 64 KiB
/// suffice. For services that are near, it must not use a proxy.
package typealias CredentialsHTTP =
    @Sendable (
        _ url: String, _ method: HTTPMethod, _ headers: [(String, String)], _ body: [UInt8]
    ) async throws -> (status: Int, body: [UInt8])

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
        let source = name
        let isPlain = address.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        guard isPlain, address.hasPrefix("http://") || address.hasPrefix("https://") else {
            throw .invalid(source: source, reason: "it must begin with http:// or https://")
        }
        let answer = try await send(http, address, .get, [], [], source: source)
        guard answer.status == 200 else {
            throw .requestFailed(source: source, reason: "it answered \(answer.status)")
        }
        return try CredentialsJSON.credentials(of: answer.body, source: source)
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

    private static let source = "the ECS instance role"
    package var name: String { Self.source }
    private static let tokenSeconds = 21_600
    private let settings: Settings
    private let http: CredentialsHTTP

    package init(_ settings: Settings, http: @escaping CredentialsHTTP) {
        self.settings = settings
        self.http = http
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
            let answer = try await get(base, headers, what: "the role's name")
            role = String(decoding: answer.prefix { $0 > 0x20 }, as: UTF8.self)
        }
        guard !role.isEmpty else {
            throw .requestFailed(source: Self.source, reason: "the instance has no role")
        }
        let name = percentEncode(role.utf8, keepsSlash: false)
        let body = try await get(base + name, headers, what: "the role's credentials")
        return try CredentialsJSON.credentials(of: body, source: Self.source)
    }

    /// The token of the service's second version; nil if it only speaks the first one.
    private func token() async throws(CredentialsError) -> String? {
        do throws(CredentialsError) {
            let answer = try await send(
                http,
                settings.origin + "/latest/api/token",
                .put,
                [("X-aliyun-ecs-metadata-token-ttl-seconds", String(Self.tokenSeconds))],
                [],
                source: Self.source
            )
            let isToken =
                !answer.body.isEmpty && answer.body.count <= 4_096
                && answer.body.allSatisfy { $0 > 0x20 && $0 < 0x7F }
            if answer.status == 200, isToken {
                return String(decoding: answer.body, as: UTF8.self)
            }
            guard settings.allowsFirstVersion else {
                throw .requestFailed(
                    source: Self.source,
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

    private func get(
        _ url: String,
        _ headers: [(String, String)],
        what: String
    ) async throws(CredentialsError) -> [UInt8] {
        let answer = try await send(http, url, .get, headers, [], source: Self.source)
        guard answer.status == 200 else {
            throw .requestFailed(
                source: Self.source,
                reason: "asked for \(what), it answered \(answer.status)"
            )
        }
        return answer.body
    }
}

/// Nothing of the transport's own error is shown: it could hold an address with a secret in it.
func send(
    _ http: CredentialsHTTP,
    _ url: String,
    _ method: HTTPMethod,
    _ headers: [(String, String)],
    _ body: [UInt8],
    source: String
) async throws(CredentialsError) -> (status: Int, body: [UInt8]) {
    do {
        let answer = try await http(url, method, headers, body)
        guard answer.body.count <= CredentialsProcess.maximumOutput else {
            throw CredentialsError.requestFailed(source: source, reason: "the answer is too long")
        }
        return answer
    } catch is CancellationError {
        throw .cancelled
    } catch let error as CredentialsError {
        throw error
    } catch TransportError.cancelled {
        throw .cancelled
    } catch let error as TransportError {
        throw .requestFailed(source: source, reason: error.message)
    } catch {
        throw .requestFailed(source: source, reason: "it could not be reached")
    }
}
