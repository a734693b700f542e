internal import Synchronization

/// Where credentials come from.
///
/// The sources ask anew at every call; ``CachedCredentials`` is what keeps them.
package protocol CredentialsProvider: Sendable {
    func credentials() async throws(CredentialsError) -> Credentials
    /// Called after a store has refused `rejected`; nil if there are no other ones.
    func refresh(rejected: Credentials) async throws(CredentialsError) -> Credentials?
}

extension CredentialsProvider {
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
    private let value: Credentials

    package init(_ value: Credentials) {
        self.value = value
    }

    package func credentials() async throws(CredentialsError) -> Credentials { value }
}

/// The first source that is set up.
///
/// A source that is configured but fails is an error: continuing would mean acting as a different
/// user.
package final class CredentialsChain: CredentialsProvider {
    private let sources: [any CredentialsProvider]
    private let variables: CredentialsVariables
    /// The one that answered last.
    private let chosen = Mutex<Int?>(nil)

    /// `variables` are what the message asks the user to set if nothing is found.
    package init(_ sources: [any CredentialsProvider], variables: CredentialsVariables = .oss) {
        self.sources = sources
        self.variables = variables
    }

    package func credentials() async throws(CredentialsError) -> Credentials {
        var tried: [String] = []
        for (index, source) in sources.enumerated() {
            do throws(CredentialsError) {
                let found = try await source.credentials()
                chosen.withLock { $0 = index }
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
        guard let index = chosen.withLock({ $0 }) else { return try await credentials() }
        return try await sources[index].refresh(rejected: rejected)
    }
}
