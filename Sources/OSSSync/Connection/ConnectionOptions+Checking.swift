internal import OSSTransfer
internal import ObjectTransfer

extension ConnectionOptions {
    /// - Throws: `TransferError` of code `configuration` for what no connection can have.
    func check() throws(TransferError) {
        if let timeout { try SettingBounds.check(timeout, "timeout", SettingBounds.wait) }
        if let retries { try SettingBounds.check(retries, "retries", 0...1_000) }
        if let retryWait { try SettingBounds.check(retryWait, "retryWait", SettingBounds.pause) }
    }
}
