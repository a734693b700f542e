public import Foundation
public import OSSTransfer

extension StoreTime {
    /// Makes the instant of a date, in whole seconds; what is beyond their range is its end.
    public init(_ date: Date) {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        self.init(secondsSince1970: Int64(exactly: seconds) ?? (seconds < 0 ? .min : .max))
    }

    /// The same instant.
    public var date: Date { Date(timeIntervalSince1970: Double(secondsSince1970)) }
}

extension AccessKey {
    /// Makes a temporary key that ends at a date.
    public init(id: String, secret: String, securityToken: String?, expiration: Date) {
        self.init(
            id: id,
            secret: secret,
            securityToken: securityToken,
            expirationSecondsSince1970: StoreTime(expiration).secondsSince1970
        )
    }

    /// When a temporary key ends; nil if it does not expire, or if that is unknown.
    public var expiration: Date? {
        expirationSecondsSince1970.map { StoreTime(secondsSince1970: $0).date }
    }
}
