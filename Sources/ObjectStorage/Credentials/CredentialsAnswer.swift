internal import SyncModel

/// What a process or a service hands out as credentials, by the names of ``KeyNames/answer``.
struct CredentialsAnswer {
    let fields: [String: String]

    init(_ fields: [String: String]) {
        self.fields = fields
    }

    init(_ answer: JSONText) throws(JSONFailure) {
        fields = try answer.strings(KeyNames.answer.all + ["Code"])
    }

    /// Nothing of `body` goes into an error.
    static func credentials(
        of body: [UInt8],
        source: String
    ) throws(CredentialsError) -> Credentials {
        let found: CredentialsAnswer
        do throws(JSONFailure) {
            found = try CredentialsAnswer(JSONText(parsing: body))
        } catch {
            throw .invalid(
                source: source,
                reason: "the answer is not the JSON of credentials (\(error.message))"
            )
        }
        if let code = found.fields["Code"], code != "Success" {
            throw .requestFailed(
                source: source,
                reason: "the answer's code is '\(displayText(code.utf8.prefix(64)))'"
            )
        }
        return try found.credentials(source: source)
    }

    func credentials(source: String) throws(CredentialsError) -> Credentials {
        let expires = try expires(source: source)
        if let found = try Credentials.found(
            .answer,
            in: source,
            expires: expires,
            { fields[$0] }
        ) {
            return found
        }
        throw .incomplete(source: source, missing: "an access key")
    }

    private func expires(source: String) throws(CredentialsError) -> Timestamp? {
        let expiration = KeyNames.answer.expiration.lazy.compactMap { fields[$0] }.first
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
