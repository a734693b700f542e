public import OSSTransfer
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

/// What is written with an object, what happens to one that is there already, and who is told.
public struct PutOptions: Sendable, Hashable {
    /// What the object is written with.
    public var properties: ObjectProperties
    /// What happens if there is already an object with the key: it is replaced.
    public var ifExists: ExistingTarget
    /// A request that OSS makes to another server once the object is stored; S3 has none.
    public var callback: OSSTransfer.UploadCallback?

    /// Makes options; those left out are the store's own choice.
    public init(
        properties: ObjectProperties = .none,
        ifExists: ExistingTarget = .replace,
        callback: OSSTransfer.UploadCallback? = nil
    ) {
        self.properties = properties
        self.ifExists = ifExists
        self.callback = callback
    }

    /// No options.
    public static let none = PutOptions()

    func request(_ key: String) -> PutRequest {
        var request = PutRequest(
            key: ObjectKey(key),
            userMetadata: properties.sortedMetadata,
            forbidsOverwrite: ifExists == .fail,
            callback: callback?.wire
        )
        request.set(properties)
        request.existenceIsUnknown = true
        return request
    }
}

/// An object that was written.
public struct PutReceipt: Sendable, Hashable {
    /// The tag of the new version, without quotes; opaque.
    public let etag: String
    /// CRC-64 of the object as the store computed it, or of what was sent where it computes none.
    public let crc64: UInt64?
    /// The version in a versioned bucket.
    public let versionID: String?
    /// What became of the callback that was asked for.
    public let callback: OSSTransfer.UploadCallback.Reply?
    /// The service's id of the request, for its support.
    public let requestID: String?

    /// Makes a receipt, for tests and previews.
    public init(
        etag: String,
        crc64: UInt64? = nil,
        versionID: String? = nil,
        callback: OSSTransfer.UploadCallback.Reply? = nil,
        requestID: String? = nil
    ) {
        self.etag = etag
        self.crc64 = crc64
        self.versionID = versionID
        self.callback = callback
        self.requestID = requestID
    }

    init(_ result: PutResult) {
        etag = result.etag.text
        crc64 = (result.crc64 ?? result.sentChecksum)?.value
        versionID = result.versionID?.text
        callback = CallbackEnding(result).map { OSSTransfer.UploadCallback.Reply($0) }
        requestID = result.requestID
    }
}
