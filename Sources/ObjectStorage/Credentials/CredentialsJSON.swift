internal import SyncModel

/// The forms in which processes and services hand out credentials (oss-protocol, "Process and URI
/// sources"): those of OSS and the metadata service, of the aliyun tool, and of the aws tools.
struct CredentialsJSON {
    let code: String?
    let id: String?
    let secret: String?
    let token: String?
    let expiration: String?

    init(_ answer: JSONText) throws(JSONFailure) {
        func first(_ names: String...) throws(JSONFailure) -> String? {
            for name in names {
                if let text = try answer.string(name) { return text }
            }
            return nil
        }
        code = try first("Code")
        id = try first("AccessKeyId", "access_key_id")
        secret = try first("AccessKeySecret", "SecretAccessKey", "access_key_secret")
        token = try first("SecurityToken", "SessionToken", "Token", "sts_token")
        expiration = try first("Expiration", "expiration")
    }

    /// The leaves of an answer of AWS's token service.
    init(_ leaves: [String: String]) {
        code = nil
        id = leaves["AccessKeyId"]
        secret = leaves["SecretAccessKey"]
        token = leaves["SessionToken"]
        expiration = leaves["Expiration"]
    }

    /// Nothing of `body` goes into an error.
    static func credentials(
        of body: [UInt8],
        source: String
    ) throws(CredentialsError) -> Credentials {
        let found: CredentialsJSON
        do throws(JSONFailure) {
            found = try CredentialsJSON(JSONText(parsing: body))
        } catch {
            throw .invalid(
                source: source,
                reason: "the answer is not the JSON of credentials (\(error.message))"
            )
        }
        if let code = found.code, code != "Success" {
            throw .requestFailed(
                source: source,
                reason: "the answer's code is '\(displayText(code.utf8.prefix(64)))'"
            )
        }
        return try found.credentials(source: source)
    }

    func credentials(source: String) throws(CredentialsError) -> Credentials {
        do throws(CredentialsError) {
            return try Credentials(
                source: source,
                id: id,
                secret: secret,
                token: token,
                expires: try expires(source: source)
            )
        } catch .absent {
            throw .incomplete(source: source, missing: "an access key")
        } catch {
            throw error
        }
    }

    private func expires(source: String) throws(CredentialsError) -> Timestamp? {
        guard let expiration, !expiration.isEmpty else { return nil }
        let zone = "+00:00"
        let text =
            expiration.hasSuffix(zone) ? expiration.dropLast(zone.count) + "Z" : expiration[...]
        guard let time = Timestamp(extendedText: text) else {
            throw .invalid(source: source, reason: "the time of expiration can't be read")
        }
        return time
    }
}
