internal import SyncModel

/// Temporary credentials of a role: what a token service hands out (oss-protocol, "Process and URI
/// sources", and the public documentation of AssumeRole and its relatives).
package struct RoleSettings: Sendable, Hashable {
    /// The role's name in full (`acs:ram::1:role/backup`, `arn:aws:iam::1:role/backup`).
    package var role: String
    /// Names the session in the account's audit log.
    package var session: String?
    /// How long the credentials are to be valid, in seconds; nil for the service's own time.
    package var seconds: String?
    /// What the owner of the role demands of others.
    package var externalID: String?
    /// The provider of identities that the token is of, in full; Alibaba Cloud only.
    package var provider: String?
    /// The region whose token service is asked; nil for the service's own default.
    package var region: String?

    private static let session = "osssync"

    fileprivate var fields: [(String, String)] {
        var fields = [("RoleArn", role), ("RoleSessionName", session ?? Self.session)]
        if let seconds { fields.append(("DurationSeconds", seconds)) }
        if let externalID { fields.append(("ExternalId", externalID)) }
        return fields
    }
}

/// A role whose token service accepts the token of another service, which a file holds: that of
/// the pod of a cluster, of a job of a build service.
package struct TokenFileCredentials: CredentialsProvider {
    let settings: RoleSettings
    /// Who understands the token.
    let service: TokenService
    let path: String
    let context: CredentialsContext

    package var name: String { "the role '\(settings.role)' with the token in '\(path)'" }

    package func credentials() async throws(CredentialsError) -> Credentials {
        // Read anew each time: what hands it out replaces it before it ends.
        guard let file = try ConfigurationFile(path: path) else {
            throw .requestFailed(source: name, reason: "there is no such file")
        }
        let token = String(decoding: file.bytes, as: UTF8.self).utf8.filter { $0 > 0x20 }
        guard !token.isEmpty, token.allSatisfy({ $0 < 0x7F }) else {
            throw .invalid(source: name, reason: "the file holds no token")
        }
        let text = String(decoding: token, as: UTF8.self)
        return try await service.credentials(
            formText(service.fields(token: text, of: settings.provider) + settings.fields),
            region: settings.region,
            context,
            source: name
        )
    }
}

/// A role of Alibaba Cloud that other credentials may assume (AssumeRole).
package struct AssumedRole: CredentialsProvider {
    let settings: RoleSettings
    let base: any CredentialsProvider
    let context: CredentialsContext

    package var name: String { "the role '\(settings.role)' by \(base.name)" }

    package func credentials() async throws(CredentialsError) -> Credentials {
        let key = try await base.credentials()
        var fields = settings.fields
        fields += [
            ("AccessKeyId", key.accessKeyID), ("Action", "AssumeRole"), ("Format", "JSON"),
            ("SignatureMethod", "HMAC-SHA1"), ("SignatureNonce", context.nonce()),
            ("SignatureVersion", "1.0"), ("Timestamp", CivilTime(context.now()).internetText),
            ("Version", TokenService.alibabaVersion),
        ]
        if let token = key.securityToken { fields.append(("SecurityToken", token.revealedText)) }
        let query = Self.encoded(fields)
        let signature = Self.signature(of: query, method: "POST", key)
        let form = query + "&Signature=" + percentEncode(signature.utf8, keepsSlash: false)
        return try await TokenService.alibabaCloud.credentials(
            form,
            region: settings.region,
            context,
            source: name
        )
    }

    /// The fields in the order in which they are signed.
    static func encoded(_ fields: [(String, String)]) -> String {
        formText(fields.sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) })
    }

    /// The signature of Alibaba Cloud's RPC interface, version 1.0.
    static func signature(of query: String, method: String, _ key: Credentials) -> String {
        let text = method + "&%2F&" + percentEncode(query.utf8, keepsSlash: false)
        let secret = [UInt8](key.accessKeySecret.revealedText.utf8) + [UInt8(ascii: "&")]
        return Base64.encode(Digest.hmacSHA1(key: secret, [UInt8](text.utf8)))
    }
}

/// The fields as the body of a form.
private func formText(_ fields: [(String, String)]) -> String {
    fields.map { name, value in
        name + "=" + percentEncode(value.utf8, keepsSlash: false)
    }.joined(separator: "&")
}

extension CredentialsContext {
    /// The address of Alibaba Cloud's token service.
    func alibabaTokenService(region: String?) -> String {
        guard let region = region ?? variable("ALIBABA_CLOUD_STS_REGION") else {
            return "https://sts.aliyuncs.com"
        }
        let isPrivate = variable("ALIBABA_CLOUD_VPC_ENDPOINT_ENABLED")?.lowercased() == "true"
        return "https://\(isPrivate ? "sts-vpc" : "sts").\(region).aliyuncs.com"
    }

    /// The address of AWS's token service, or that of a store which has one of its own.
    ///
    /// - Throws: `invalid` for one that would send the token in plain over a network.
    func awsTokenService(region: String?) throws(CredentialsError) -> String {
        let ignores = ignoresAWSEndpoints(environment)
        for name in ["AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL"] where !ignores {
            guard var text = variable(name) else { continue }
            while text.utf8.last == UInt8(ascii: "/") { text.removeLast() }
            guard let address = WebAddress(text),
                address.isHTTPS || address.isLoopback || allowsInsecureHTTP
            else {
                throw .invalid(
                    source: name,
                    reason: "the token service must be asked over https, or with --insecure-http"
                )
            }
            return text
        }
        let named = region ?? variable("AWS_REGION") ?? variable("AWS_DEFAULT_REGION")
        guard let named else { return "https://sts.amazonaws.com" }
        return "https://sts.\(named).amazonaws.com" + (named.hasPrefix("cn-") ? ".cn" : "")
    }

    private func variable(_ name: String) -> String? {
        environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The role of Alibaba Cloud that the environment names with a token; nil if it names none.
    package var alibabaTokenFile: TokenFileCredentials? {
        variable("ALIBABA_CLOUD_OIDC_PROVIDER_ARN").flatMap { provider in
            tokenFile(
                .alibabaCloud,
                "ALIBABA_CLOUD_OIDC_TOKEN_FILE",
                "ALIBABA_CLOUD_ROLE",
                provider: provider
            )
        }
    }

    /// The same of AWS.
    package var awsTokenFile: TokenFileCredentials? {
        tokenFile(.aws, "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE")
    }

    private func tokenFile(
        _ service: TokenService,
        _ file: String,
        _ prefix: String,
        provider: String? = nil
    ) -> TokenFileCredentials? {
        guard let path = variable(file), let role = variable(prefix + "_ARN") else { return nil }
        return TokenFileCredentials(
            settings: RoleSettings(
                role: role,
                session: variable(prefix + "_SESSION_NAME"),
                provider: provider,
                region: nil
            ),
            service: service,
            path: path,
            context: self
        )
    }
}

/// The services that hand out credentials of a role, each with a form of its own.
package enum TokenService: Sendable, Hashable {
    /// AssumeRole and AssumeRoleWithOIDC of Alibaba Cloud.
    case alibabaCloud
    /// AssumeRoleWithWebIdentity of AWS.
    case aws

    fileprivate static let alibabaVersion = "2015-04-01"

    /// What a request says besides the role, if it has a token for it.
    fileprivate func fields(token: String, of provider: String?) -> [(String, String)] {
        switch self {
        case .alibabaCloud:
            [
                ("Action", "AssumeRoleWithOIDC"), ("Format", "JSON"),
                ("Version", Self.alibabaVersion), ("OIDCProviderArn", provider ?? ""),
                ("OIDCToken", token),
            ]
        case .aws:
            [
                ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"),
                ("WebIdentityToken", token),
            ]
        }
    }

    /// Sends a form, in the body because addresses are written into logs, and reads the answer.
    fileprivate func credentials(
        _ form: String,
        region: String?,
        _ context: CredentialsContext,
        source: String
    ) async throws(CredentialsError) -> Credentials {
        let address =
            switch self {
            case .alibabaCloud: context.alibabaTokenService(region: region)
            case .aws: try context.awsTokenService(region: region)
            }
        let service = CredentialsService(name: source, http: context.remoteHTTP)
        let answer = try await service.send(
            .post,
            address + "/",
            [("Content-Type", "application/x-www-form-urlencoded")],
            [UInt8](form.utf8)
        )
        return switch self {
        case .alibabaCloud: try Self.alibabaCloud(answer, source: source)
        case .aws: try Self.aws(answer, source: source)
        }
    }

    /// Nothing of a good answer goes into an error, and of a bad one only its code.
    private static func alibabaCloud(
        _ answer: CredentialsService.Answer,
        source: String
    ) throws(CredentialsError) -> Credentials {
        guard let document = try? JSONText(parsing: answer.body) else {
            throw refusal(nil, answer.status, source)
        }
        guard answer.status == 200, let found = document["Credentials"] else {
            throw refusal((try? document.string("Code")) ?? nil, answer.status, source)
        }
        guard let credentials = try? CredentialsAnswer(found) else {
            throw .invalid(source: source, reason: "the answer has no credentials")
        }
        return try credentials.credentials(source: source)
    }

    private static func aws(
        _ answer: CredentialsService.Answer,
        source: String
    ) throws(CredentialsError) -> Credentials {
        guard answer.status == 200 else {
            let leaves = try? decodeXML(answer.body, LeafDecoder(.errorResponse), limits: .error)
            throw refusal(leaves?["Code"], answer.status, source)
        }
        let decoder = LeafDecoder(.assumeRoleWithWebIdentityResponse)
        guard let leaves = try? decodeXML(answer.body, decoder, limits: .error) else {
            throw .invalid(source: source, reason: "the answer is not that of a token service")
        }
        return try CredentialsAnswer(leaves).credentials(source: source)
    }

    private static func refusal(
        _ code: String?,
        _ status: Int,
        _ source: String
    ) -> CredentialsError {
        let cause = code.map { " with '\(displayText($0.utf8.prefix(64)))'" } ?? ""
        return .requestFailed(
            source: source,
            reason: "the token service answered \(status)\(cause)"
        )
    }
}

/// The texts of a document's leaves by their names, the first of each.
private struct LeafDecoder: XMLDecoder {
    let root: XMLElement
    private var leaves: [String: String] = [:]

    init(_ root: XMLElement) {
        self.root = root
    }

    mutating func close(_ field: XMLField) throws(XMLFailure) {
        guard field.isLeaf, leaves[field.name] == nil else { return }
        leaves[field.name] = field.text
    }

    func value() throws(XMLFailure) -> [String: String] { leaves }
}
