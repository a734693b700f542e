/// The names that the decoders know; all others are ``unknown``.
enum XMLElement: String, Sendable, CaseIterable {
    case unknown = ""
    case assumeRoleWithWebIdentityResponse = "AssumeRoleWithWebIdentityResponse"
    case checksumAlgorithm = "ChecksumAlgorithm"
    case checksumCRC32C = "ChecksumCRC32C"
    case code = "Code"
    case commonPrefixes = "CommonPrefixes"
    case completeMultipartUploadResult = "CompleteMultipartUploadResult"
    case contents = "Contents"
    case copyObjectResult = "CopyObjectResult"
    case copyPartResult = "CopyPartResult"
    case deleted = "Deleted"
    case deleteMarker = "DeleteMarker"
    case deleteResult = "DeleteResult"
    case encodingType = "EncodingType"
    case error = "Error"
    case errorResponse = "ErrorResponse"
    case etag = "ETag"
    case hashCRC64 = "HashCrc64ecma"
    case initiated = "Initiated"
    /// What rclone's server calls the next one.
    case initiateMultipartUpload = "InitiateMultipartUpload"
    case initiateMultipartUploadResult = "InitiateMultipartUploadResult"
    case isLatest = "IsLatest"
    case isRestoreInProgress = "IsRestoreInProgress"
    case isTruncated = "IsTruncated"
    case key = "Key"
    case keyCount = "KeyCount"
    case lastModified = "LastModified"
    case listBucketResult = "ListBucketResult"
    case listMultipartUploadsResult = "ListMultipartUploadsResult"
    case listPartsResult = "ListPartsResult"
    case listVersionsResult = "ListVersionsResult"
    case message = "Message"
    case name = "Name"
    case nextContinuationToken = "NextContinuationToken"
    case nextKeyMarker = "NextKeyMarker"
    case nextPartNumberMarker = "NextPartNumberMarker"
    case nextUploadIDMarker = "NextUploadIdMarker"
    case nextVersionIDMarker = "NextVersionIdMarker"
    case part = "Part"
    case partNumber = "PartNumber"
    case prefix = "Prefix"
    case restoreInfo = "RestoreInfo"
    case restoreStatus = "RestoreStatus"
    case size = "Size"
    case storageClass = "StorageClass"
    case type = "Type"
    case upload = "Upload"
    case uploadID = "UploadId"
    case value = "Value"
    case version = "Version"
    case versionID = "VersionId"

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
