internal import SyncModel
internal import Synchronization

/// The texts and the key that all requests of one second, or one day, share.
struct SigningScope: Sendable {
    let seconds: Int64
    let day: Int64
    let region: String
    let secret: Secret
    /// `20260102T030405Z`.
    let timeText: String
    /// `Fri, 02 Jan 2026 03:04:05 GMT`.
    let httpText: String
    /// `20260102/REGION/SERVICE/TERMINATOR`.
    let text: String
    let key: [UInt8]

    private static let secondsPerDay: Int64 = 86_400

    init(
        parameters: V4Parameters,
        region: String,
        secret: Secret,
        time: Timestamp,
        reusing last: SigningScope?
    ) {
        let civil = CivilTime(time)
        let date = civil.basicDateText
        seconds = time.seconds
        day = time.seconds / Self.secondsPerDay
        self.region = region
        self.secret = secret
        timeText = civil.basicText
        httpText = civil.httpText
        if let last, last.day == day, last.region == region, last.secret == secret {
            text = last.text
            key = last.key
            return
        }
        text = "\(date)/\(region)/\(parameters.service)/\(parameters.terminator)"
        var key = [UInt8](parameters.keyPrefix.utf8) + secret.revealedBytes
        for word in [date, region, parameters.service, parameters.terminator] {
            key = Digest.hmacSHA256(key: key, [UInt8](word.utf8))
        }
        self.key = key
    }

    func covers(_ time: Timestamp, _ region: String, _ secret: Secret) -> Bool {
        time.seconds == seconds && region == self.region && secret == self.secret
    }
}

/// Keeps the last scope: four HMACs and the texts of a time are made once, not for each request.
final class SigningScopeCache: Sendable {
    private let last = Mutex<SigningScope?>(nil)

    func scope(
        parameters: V4Parameters,
        region: String,
        secret: Secret,
        time: Timestamp
    ) -> SigningScope {
        last.withLock { last in
            if let known = last, known.covers(time, region, secret) { return known }
            let made = SigningScope(
                parameters: parameters,
                region: region,
                secret: secret,
                time: time,
                reusing: last
            )
            last = made
            return made
        }
    }
}
