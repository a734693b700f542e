package import SyncModel

/// Keeps a source's credentials until shortly before they end, and asks it once for all callers
/// that wait at the same time.
package actor CachedCredentials: CredentialsProvider {
    private let provider: any CredentialsProvider
    private let now: @Sendable () -> Timestamp
    private var kept: Credentials?
    /// When `kept` should be replaced; nil if it never ends.
    private var renewal: Timestamp?
    private let flight = SingleFlight()
    package nonisolated var name: String { provider.name }
    package nonisolated var source: String { provider.source }

    /// Seconds before the end at which credentials are renewed.
    package static let margin: Int64 = 180
    /// Seconds without another attempt after one that failed while the old ones still served.
    private static let pause: Int64 = 10

    package init(_ source: any CredentialsProvider, now: @escaping @Sendable () -> Timestamp) {
        provider = source
        self.now = now
    }

    package func credentials() async throws(CredentialsError) -> Credentials {
        while true {
            if let kept, isFresh { return kept }
            guard flight.begin() else {
                await flight.ended()
                continue
            }
            defer { flight.end() }
            do throws(CredentialsError) {
                let found = try await provider.credentials()
                keep(found)
                return found
            } catch {
                // Old ones that still serve are better than none.
                guard let kept, let expires = kept.expires, now() < expires else { throw error }
                renewal = min(Timestamp(seconds: now().seconds + Self.pause), expires)
                return kept
            }
        }
    }

    package func refresh(
        rejected: Credentials
    ) async throws(CredentialsError) -> Credentials? {
        while true {
            // Another caller may have replaced them since `rejected` was used.
            if let kept, !kept.isSameKey(as: rejected) { return kept }
            guard flight.begin() else {
                await flight.ended()
                continue
            }
            defer { flight.end() }
            guard let found = try await provider.refresh(rejected: rejected) else { return nil }
            keep(found)
            return found
        }
    }

    private var isFresh: Bool {
        guard let renewal else { return true }
        return now() < renewal
    }

    /// Credentials that live less than twice the margin are renewed after half their life.
    private func keep(_ credentials: Credentials) {
        kept = credentials
        guard let expires = credentials.expires else {
            renewal = nil
            return
        }
        // A source may say any time.
        let rest = Int64(clamping: Int128(expires.seconds) - Int128(now().seconds))
        let wait = rest > 2 * Self.margin ? rest - Self.margin : max(rest / 2, 1)
        renewal = Timestamp(seconds: now().seconds + wait)
    }
}
