internal import Synchronization

/// Where credentials come from.
///
/// The sources ask anew at every call; ``CachedCredentials`` is what keeps them.
package protocol CredentialsProvider: Sendable {
    /// What the user may call it; no secret.
    var name: String { get }
    /// The same of the one source that gave them, for messages about a request.
    var source: String { get }
    func credentials() async throws(CredentialsError) -> Credentials
    /// Called after a store has refused `rejected`; nil if there are no other ones.
    func refresh(rejected: Credentials) async throws(CredentialsError) -> Credentials?
}

extension CredentialsProvider {
    package var source: String { name }

    /// Asks the source once more.
    package func refresh(
        rejected: Credentials
    ) async throws(CredentialsError) -> Credentials? {
        let found = try await credentials()
        return found.isSameKey(as: rejected) ? nil : found
    }
}

/// Credentials that were given.
package struct StaticCredentials: CredentialsProvider {
    package let name = "a given key"
    private let value: Credentials

    package init(_ value: Credentials) {
        self.value = value
    }

    package func credentials() async throws(CredentialsError) -> Credentials { value }
}

/// Stands for a source that is not configured, so that messages list what would set it up.
package struct AbsentCredentials: CredentialsProvider {
    package let name: String

    /// `name` says what would set it up.
    package init(_ name: String) {
        self.name = name
    }

    package func credentials() async throws(CredentialsError) -> Credentials {
        throw .absent(source: name)
    }
}

/// The first source that is set up.
///
/// A source that is configured but fails is an error: continuing would mean acting as a different
/// user.
package final class CredentialsChain: CredentialsProvider {
    private let sources: [any CredentialsProvider]
    private let variables: KeyNames
    /// The one that answered last, and those before it that are not set up.
    private let chosen = Mutex<(index: Int, absent: [String])?>(nil)

    /// Where the last credentials came from, and what would have come first.
    package var name: String {
        guard let (index, absent) = chosen.withLock({ $0 }) else { return "no source" }
        let passed = absent.isEmpty ? "" : " (not set up: \(absent.joined(separator: ", ")))"
        return sources[index].name + passed
    }

    package var source: String {
        chosen.withLock({ $0 }).map { sources[$0.index].source } ?? "no source"
    }

    /// `variables` are what the message asks the user to set if nothing is found.
    package init(_ sources: [any CredentialsProvider], variables: KeyNames = .oss) {
        self.sources = sources
        self.variables = variables
    }

    package func credentials() async throws(CredentialsError) -> Credentials {
        var tried: [String] = []
        for (index, source) in sources.enumerated() {
            do throws(CredentialsError) {
                let found = try await source.credentials()
                chosen.withLock { [tried] in $0 = (index, tried) }
                return found
            } catch .absent(let name) {
                tried.append(name)
            } catch .none(let names, _) {
                tried += names
            } catch {
                throw error
            }
        }
        throw .none(tried: tried, variables: variables)
    }

    package func refresh(
        rejected: Credentials
    ) async throws(CredentialsError) -> Credentials? {
        guard let index = chosen.withLock({ $0?.index }) else { return try await credentials() }
        return try await sources[index].refresh(rejected: rejected)
    }
}
