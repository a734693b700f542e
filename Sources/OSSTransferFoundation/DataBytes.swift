public import Foundation
public import OSSBucket
public import OSSTransfer

extension BucketClient {
    /// Writes an object from memory; as `BucketClient.put(_:to:options:)`.
    ///
    /// - Throws: `SyncError`.
    @discardableResult
    public func put(
        _ data: Data,
        to key: String,
        options: PutOptions = .none
    ) async throws(SyncError) -> PutReceipt {
        try await put([UInt8](data), to: key, options: options)
    }

    /// Makes a signed URL; as `BucketClient.presignedURL(_:key:lifetime:)`.
    ///
    /// - Throws: `SyncError`.
    public func signedURL(
        _ method: Method,
        key: String,
        lifetime: Duration
    ) async throws(SyncError) -> URL {
        let text = try await presignedURL(method, key: key, lifetime: lifetime)
        guard let url = URL(string: text) else {
            throw SyncError(code: .configuration, message: "the key makes no URL")
        }
        return url
    }
}

extension UploadTarget {
    /// Sends bytes from memory; as `UploadTarget.write(_:options:onNotice:onProgress:)`.
    ///
    /// - Throws: `SyncError`.
    @discardableResult
    public func write(
        _ data: Data,
        options: UploadOptions = UploadOptions(),
        onNotice: @escaping @Sendable (TransferNotice) -> Void = { _ in },
        onProgress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws(SyncError) -> UploadedObject {
        try await write([UInt8](data), options: options, onNotice: onNotice, onProgress: onProgress)
    }
}

extension ObjectContent {
    /// The bytes that were asked for.
    public var data: Data { Data(bytes) }
}
