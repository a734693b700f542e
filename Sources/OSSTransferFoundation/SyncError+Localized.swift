public import Foundation
public import OSSTransfer

extension SyncError: LocalizedError {
    /// What failed, on what, and what to do; the same as `SyncError.message`.
    public var errorDescription: String? { message }
}
