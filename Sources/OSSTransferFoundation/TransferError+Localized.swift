public import Foundation
public import OSSTransfer

extension TransferError: LocalizedError {
    /// What failed, on what, and what to do; the same as `TransferError.message`.
    public var errorDescription: String? { message }
}
