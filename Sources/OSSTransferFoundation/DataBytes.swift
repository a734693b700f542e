public import Foundation
public import OSSBucket
public import OSSTransfer

extension BucketClient {
    /// Writes an object from memory; as `BucketClient.put(_:to:options:)`.
    ///
    /// - Throws: `TransferError`.
    @discardableResult
    public func put(
        _ data: Data,
        to key: String,
        options: PutOptions = .none
    ) async throws(TransferError) -> PutReceipt {
        try await put([UInt8](data), to: key, options: options)
    }

    /// Makes a signed URL; as `BucketClient.presignedURL(_:key:lifetime:)`.
    ///
    /// - Throws: `TransferError`.
    public func signedURL(
        _ method: Method,
        key: String,
        lifetime: Duration
    ) async throws(TransferError) -> URL {
        let text = try await presignedURL(method, key: key, lifetime: lifetime)
        guard let url = URL(string: text) else {
            throw TransferError(code: .configuration, message: "the key makes no URL")
        }
        return url
    }
}

extension UploadTarget {
    /// Sends bytes from memory; as `UploadTarget.write(_:options:onNotice:onProgress:)`.
    ///
    /// - Throws: `TransferError`.
    @discardableResult
    public func write(
        _ data: Data,
        options: UploadOptions = UploadOptions(),
        onNotice: @escaping @Sendable (TransferNotice) -> Void = { _ in },
        onProgress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws(TransferError) -> UploadedObject {
        try await write([UInt8](data), options: options, onNotice: onNotice, onProgress: onProgress)
    }
}

extension ObjectContent {
    /// The bytes that were asked for.
    public var data: Data { Data(bytes) }
}
