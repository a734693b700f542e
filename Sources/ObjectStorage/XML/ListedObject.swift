internal import SyncModel

/// The fields of one entry of a listing while they are read.
struct ListedObject {
    private(set) var key: [UInt8]?
    private(set) var versionID: VersionID?
    private(set) var isLatest: Bool?
    private(set) var lastModified: Timestamp?
    private var size: Int64?
    private var etag: ETag?
    private var kind: ObjectKind?
    private var storageClass: StorageClass?
    private var restoreState: RestoreState?

    /// Takes a leaf of the entry; what is not of interest is passed over.
    mutating func set(_ field: XMLField) throws(XMLFailure) {
        switch field.element {
        case .key: try setOnce(&key, try field.keyBytes(), .key)
        // The plan skips an object with an impossible size; the others are usable.
        case .size: try setOnce(&size, (try? field.number()) ?? Int64.max, .size)
        case .etag: try setOnce(&etag, try field.etag(), .etag)
        case .lastModified: lastModified = field.timestamp()
        case .type: kind = ObjectKind(rawValue: field.text)
        case .storageClass: storageClass = try field.optionalText().map(StorageClass.init(name:))
        case .restoreInfo: restoreState = RestoreState(headerValue: field.text)
        case .isRestoreInProgress: restoreState = try field.boolean() ? .ongoing : .restored
        case .versionID:
            try setOnce(&versionID, VersionID(try field.requiredText()), .versionID)
        case .isLatest: try setOnce(&isLatest, try field.boolean(), .isLatest)
        default: break
        }
    }

    func object(_ encoding: XMLKeyEncoding) throws(XMLFailure) -> RemoteObject {
        RemoteObject(
            key: try encoding.key(try require(key, .key), .key),
            size: try require(size, .size),
            etag: try require(etag, .etag),
            lastModified: lastModified,
            storageClass: storageClass ?? .standard,
            kind: kind ?? .normal,
            restoreState: restoreState
        )
    }
}
