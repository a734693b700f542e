public import Foundation
public import OSSTransfer
public import SyncModel

extension StoreTime {
    /// Makes the instant of a date; what is beyond the range is its end.
    public init(_ date: Date) {
        let time = date.timeIntervalSince1970
        let seconds = time.rounded(.down)
        guard let whole = Int64(exactly: seconds) else {
            self.init(secondsSince1970: seconds < 0 ? .min : .max)
            return
        }
        let nanoseconds = ((time - seconds) * 1_000_000_000).rounded(.down)
        self.init(
            secondsSince1970: whole,
            nanoseconds: min(Int32(exactly: nanoseconds) ?? 0, 999_999_999)
        )
    }

    /// The same instant.
    public var date: Date {
        Date(timeIntervalSince1970: Double(secondsSince1970) + Double(nanoseconds) / 1_000_000_000)
    }
}

extension AccessKey {
    /// Makes a temporary key that expires at a date.
    public init(id: String, secret: String, securityToken: String?, expiration: Date) {
        self.init(
            id: id,
            secret: secret,
            securityToken: securityToken,
            expiration: StoreTime(expiration)
        )
    }
}
