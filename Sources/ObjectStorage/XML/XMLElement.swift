/// The names that the decoders know; all others are ``unknown``.
enum XMLElement: String, Sendable, CaseIterable {
    case unknown = ""
    case accessControlList = "AccessControlList"
    case bucket = "Bucket"
    case bucketInfo = "BucketInfo"
    case code = "Code"
    case commonPrefixes = "CommonPrefixes"
    case completeMultipartUploadResult = "CompleteMultipartUploadResult"
    case contents = "Contents"
    case copyObjectResult = "CopyObjectResult"
    case copyPartResult = "CopyPartResult"
    case creationDate = "CreationDate"
    case dataRedundancyType = "DataRedundancyType"
    case deleted = "Deleted"
    case deleteMarker = "DeleteMarker"
    case deleteMarkerVersionID = "DeleteMarkerVersionId"
    case deleteResult = "DeleteResult"
    case delimiter = "Delimiter"
    case encodingType = "EncodingType"
    case error = "Error"
    case etag = "ETag"
    case extranetEndpoint = "ExtranetEndpoint"
    case grant = "Grant"
    case hashCRC64 = "HashCrc64ecma"
    case id = "ID"
    case initiated = "Initiated"
    /// What rclone's server calls the next one.
    case initiateMultipartUpload = "InitiateMultipartUpload"
    case initiateMultipartUploadResult = "InitiateMultipartUploadResult"
    case intranetEndpoint = "IntranetEndpoint"
    case isLatest = "IsLatest"
    case isRestoreInProgress = "IsRestoreInProgress"
    case isTruncated = "IsTruncated"
    case key = "Key"
    case keyCount = "KeyCount"
    case keyMarker = "KeyMarker"
    case lastModified = "LastModified"
    case listBucketResult = "ListBucketResult"
    case listMultipartUploadsResult = "ListMultipartUploadsResult"
    case listPartsResult = "ListPartsResult"
    case listVersionsResult = "ListVersionsResult"
    case location = "Location"
    case locationConstraint = "LocationConstraint"
    case marker = "Marker"
    case maxKeys = "MaxKeys"
    case maxParts = "MaxParts"
    case maxUploads = "MaxUploads"
    case message = "Message"
    case name = "Name"
    case nextContinuationToken = "NextContinuationToken"
    case nextKeyMarker = "NextKeyMarker"
    case nextMarker = "NextMarker"
    case nextPartNumberMarker = "NextPartNumberMarker"
    case nextUploadIDMarker = "NextUploadIdMarker"
    case nextVersionIDMarker = "NextVersionIdMarker"
    case owner = "Owner"
    case part = "Part"
    case partNumber = "PartNumber"
    case partNumberMarker = "PartNumberMarker"
    case prefix = "Prefix"
    case restoreInfo = "RestoreInfo"
    case restoreStatus = "RestoreStatus"
    case size = "Size"
    case startAfter = "StartAfter"
    case status = "Status"
    case storageClass = "StorageClass"
    case tag = "Tag"
    case tagging = "Tagging"
    case tagSet = "TagSet"
    case type = "Type"
    case upload = "Upload"
    case uploadID = "UploadId"
    case value = "Value"
    case version = "Version"
    case versionID = "VersionId"
    case versioning = "Versioning"
    case versioningConfiguration = "VersioningConfiguration"

    private static let byName = Dictionary(
        uniqueKeysWithValues: allCases.filter { $0 != .unknown }.map { ($0.rawValue, $0) }
    )

    /// Ignores a namespace's prefix.
    init(name: String) {
        if let element = Self.byName[name] {
            self = element
        } else if let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) {
            self = Self.byName[String(name[name.utf8.index(after: colon)...])] ?? .unknown
        } else {
            self = .unknown
        }
    }
}
