package import ObjectTransfer

/// What a setting may be at most and at least; everything else is an error where it is set, and
/// never a crash or a wait without end later.
package enum SettingBounds {
    /// Times that something is waited for.
    package static let wait = Duration.milliseconds(1)...Duration.seconds(86_400)
    /// Times that may be none.
    package static let pause = Duration.zero...Duration.seconds(86_400)

    package static func check<Value: Comparable>(
        _ value: Value,
        _ name: String,
        _ bounds: ClosedRange<Value>
    ) throws(TransferError) {
        guard !bounds.contains(value) else { return }
        throw TransferError(
            code: .configuration,
            message: "\(name) is \(value), but must be between \(bounds.lowerBound) and "
                + "\(bounds.upperBound)"
        )
    }
}

extension ConnectionSettings {
    /// - Throws: `TransferError` of code `configuration` for what no connection can have.
    func check() throws(TransferError) {
        try SettingBounds.check(connectTimeout, "connectTimeout", SettingBounds.wait)
        try SettingBounds.check(stallTimeout, "stallTimeout", SettingBounds.wait)
        try SettingBounds.check(retries, "retries", 0...1_000)
        try SettingBounds.check(longestRetryPause, "longestRetryPause", SettingBounds.pause)
        try SettingBounds.check(connectionLimit, "connectionLimit", 1...1_024)
        #if SystemLibraries
        if let bandwidthLimit {
            try SettingBounds.check(bandwidthLimit, "bandwidthLimit", 1...Int64.max)
        }
        guard bandwidthLimit == nil || sharedLimits?.bandwidth == nil else {
            throw TransferError(
                code: .configuration,
                message: "bandwidthLimit and the bandwidth of sharedLimits are both set: use one"
            )
        }
        #endif
    }
}

extension ConnectionSettings.ReconnectPolicy {
    /// - Throws: `TransferError` of code `configuration` for what no policy can have.
    func check() throws(TransferError) {
        try SettingBounds.check(firstPause, "firstPause", SettingBounds.pause)
        try SettingBounds.check(longestPause, "longestPause", SettingBounds.pause)
        try SettingBounds.check(attempts, "attempts", 0...Int.max)
    }
}
