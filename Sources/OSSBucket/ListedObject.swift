internal import ObjectStorage
public import SyncModel

/// What a listing says of one object.
public struct ListedObject: Sendable, Hashable {
    /// The whole key, as other calls take it.
    public var key: String { String(decoding: name.bytes, as: UTF8.self) }
    /// The whole key in a form that is safe to print; see `String.init(terminalSafe:)`.
    public var displayKey: String { name.display }
    /// Bytes.
    public let size: Int64
    /// The tag of this version, without quotes; opaque.
    public let etag: String
    /// When the object was last written; nil if the store does not say.
    public let lastModified: StoreTime?
    /// The store's name of the storage class.
    public let storageClass: String
    private let name: ObjectKey

    /// Makes an element of a listing, for tests and previews.
    public init(
        key: String,
        size: Int64,
        etag: String,
        lastModified: StoreTime? = nil,
        storageClass: String = "Standard"
    ) {
        name = ObjectKey(key)
        self.size = size
        self.etag = etag
        self.lastModified = lastModified
        self.storageClass = storageClass
    }

    init(_ object: RemoteObject) {
        name = object.key
        size = object.size
        etag = object.etag.text
        lastModified = object.lastModified.map { StoreTime($0) }
        storageClass = object.storageClass.name
    }
}

/// One entry of a listing of one level.
package enum LevelEntry: Sendable, Hashable {
    /// An object.
    case object(ListedObject)
    /// How the keys of one or more objects begin, with "/" at its end.
    case directory(key: String, displayKey: String)

    /// The object's whole key, or how the keys of the directory begin.
    package var key: String {
        switch self {
        case .object(let object): object.key
        case .directory(let key, _): key
        }
    }

    init(_ prefix: ObjectKey) {
        self = .directory(
            key: String(decoding: prefix.bytes, as: UTF8.self),
            displayKey: prefix.display
        )
    }
}

/// A version of an object, or a mark that it was deleted.
package struct ListedVersion: Sendable, Hashable {
    /// The whole key, as other calls take it.
    package var key: String { String(decoding: name.bytes, as: UTF8.self) }
    /// The whole key in a form that is safe to print.
    package var displayKey: String { name.display }
    /// By which requests name it; opaque, and `null` if it was written without versioning.
    package let versionID: String
    /// True for the one that requests without a version get.
    package let isLatest: Bool
    /// Bytes; nil for a mark of deletion.
    package let size: Int64?
    /// When it was written; nil if the store does not say.
    package let lastModified: StoreTime?
    /// The tag, without quotes; nil for a mark of deletion.
    package let etag: String?
    private let name: ObjectKey

    init(_ version: ObjectVersion) {
        name = version.key
        versionID = version.versionID.text
        isLatest = version.isLatest
        size = version.object?.size
        lastModified = version.lastModified.map { StoreTime($0) }
        etag = version.object?.etag.text
    }
}
