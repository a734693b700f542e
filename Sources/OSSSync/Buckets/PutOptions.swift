internal import ObjectStorage
internal import SyncEngine
internal import SyncModel

/// What is written with an object.
public struct PutOptions: Sendable, Hashable {
    /// The object's type; nil leaves it to the key's ending or, where that says nothing, to the
    /// store.
    public var contentType: String?
    /// The user's metadata, by names without `x-oss-meta-`.
    ///
    /// Names are letters, digits and hyphens, which the store turns to lower case; values are
    /// printable ASCII and not empty. OSS takes 8 KiB in all.
    public var metadata: [String: String]
    /// The store's name of a storage class; nil for the bucket's own.
    public var storageClass: String?
    /// Refuses to replace an object: `SyncError` of code `alreadyExists`.
    public var forbidsOverwrite: Bool
    /// A request that OSS makes to another server once the object is stored; S3 has none.
    public var callback: UploadCallback?

    /// Makes options; those left out are the store's own choice.
    public init(
        contentType: String? = nil,
        metadata: [String: String] = [:],
        storageClass: String? = nil,
        forbidsOverwrite: Bool = false,
        callback: UploadCallback? = nil
    ) {
        self.contentType = contentType
        self.metadata = metadata
        self.storageClass = storageClass
        self.forbidsOverwrite = forbidsOverwrite
        self.callback = callback
    }

    /// No options.
    public static let none = PutOptions()

    /// In the order of their names, so that requests are alike.
    var sortedMetadata: [(name: String, value: String)] {
        metadata.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            .map { (name: $0.key, value: $0.value) }
    }

    func request(_ key: String) -> PutRequest {
        var request = PutRequest(
            key: ObjectKey(key),
            contentType: contentType,
            userMetadata: sortedMetadata,
            storageClass: storageClass.map { StorageClass(name: $0) },
            forbidsOverwrite: forbidsOverwrite,
            callback: callback?.wire
        )
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
    public let callback: CallbackReply?
    /// The service's id of the request, for its support.
    public let requestID: String?

    init(_ result: PutResult) {
        etag = result.etag.text
        crc64 = (result.crc64 ?? result.sentChecksum)?.value
        versionID = result.versionID?.text
        callback = CallbackReply(body: result.callbackBody, failure: result.callbackFailure)
        requestID = result.requestID
    }
}
