/// The keys that secrets become for a day, a region and a service: the same for many requests.
final class SigningKeys: Sendable {
    private static let limit = 64

    private let known = SleepingLock<[[String]: [UInt8]]>([:])

    /// `secret` with what its service puts before it, hashed with each step.
    func key(of secret: String, for steps: [String]) -> [UInt8] {
        let name = [secret] + steps
        if let key = known.withLock({ $0[name] }) { return key }
        let key = steps.reduce([UInt8](secret.utf8)) { key, step in
            Digests.hmacSHA256(key: key, [UInt8](step.utf8))
        }
        known.withLock { known in
            if known.count >= Self.limit { known.removeAll() }
            known[name] = key
        }
        return key
    }
}
