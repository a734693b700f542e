/// What a request asks for; the names are those of the service's documentation, of the request log
/// and of fault scripts.
enum Operation: String, Sendable, CaseIterable {
    case listBuckets = "ListBuckets"
    case putBucket = "PutBucket"
    case deleteBucket = "DeleteBucket"
    case headBucket = "HeadBucket"
    case getBucketInfo = "GetBucketInfo"
    case getBucketLocation = "GetBucketLocation"
    case getBucketVersioning = "GetBucketVersioning"
    case putBucketVersioning = "PutBucketVersioning"
    case listObjects = "ListObjects"
    case listObjectsV2 = "ListObjectsV2"
    case listObjectVersions = "ListObjectVersions"
    case listMultipartUploads = "ListMultipartUploads"
    case deleteMultipleObjects = "DeleteMultipleObjects"
    case putObject = "PutObject"
    case copyObject = "CopyObject"
    case appendObject = "AppendObject"
    case getObject = "GetObject"
    case headObject = "HeadObject"
    case getObjectAttributes = "GetObjectAttributes"
    case getObjectMeta = "GetObjectMeta"
    case deleteObject = "DeleteObject"
    case putSymlink = "PutSymlink"
    case getSymlink = "GetSymlink"
    case restoreObject = "RestoreObject"
    case getObjectTagging = "GetObjectTagging"
    case putObjectTagging = "PutObjectTagging"
    case deleteObjectTagging = "DeleteObjectTagging"
    case initiateMultipartUpload = "InitiateMultipartUpload"
    case uploadPart = "UploadPart"
    case uploadPartCopy = "UploadPartCopy"
    case completeMultipartUpload = "CompleteMultipartUpload"
    case abortMultipartUpload = "AbortMultipartUpload"
    case listParts = "ListParts"
    case unknown = "Unknown"
}

extension Operation {
    init(_ request: Request) {
        if request.key != nil {
            self = Self.forObject(request)
        } else if request.bucket != nil {
            self = Self.forBucket(request)
        } else {
            self = request.method == .get ? .listBuckets : .unknown
        }
    }

    private static func forBucket(_ request: Request) -> Operation {
        switch request.method {
        case .get:
            if request.hasParameter("bucketInfo") { return .getBucketInfo }
            if request.hasParameter("location") { return .getBucketLocation }
            if request.hasParameter("versioning") { return .getBucketVersioning }
            if request.hasParameter("versions") { return .listObjectVersions }
            if request.hasParameter("uploads") { return .listMultipartUploads }
            let others = [
                "acl", "stat", "policy", "lifecycle", "tagging", "logging", "cors", "encryption",
                "object-lock", "policyStatus", "publicAccessBlock", "notification", "website",
                "replication", "requestPayment", "ownershipControls", "accelerate",
            ]
            if others.contains(where: request.hasParameter) { return .unknown }
            return request.parameter("list-type") == "2" ? .listObjectsV2 : .listObjects
        case .put:
            if request.hasParameter("versioning") { return .putBucketVersioning }
            return request.subresources.isEmpty ? .putBucket : .unknown
        case .post: return request.hasParameter("delete") ? .deleteMultipleObjects : .unknown
        case .delete: return request.subresources.isEmpty ? .deleteBucket : .unknown
        case .head: return request.dialect == .s3 ? .headBucket : .unknown
        case .options: return .unknown
        }
    }

    private static func forObject(_ request: Request) -> Operation {
        if request.dialect == .s3, onlyOther.contains(where: request.hasParameter) {
            return .unknown
        }
        switch request.method {
        case .get:
            if request.hasParameter("uploadId") { return .listParts }
            if request.hasParameter("symlink") { return .getSymlink }
            if request.hasParameter("tagging") { return .getObjectTagging }
            if request.dialect == .s3, request.hasParameter("attributes") {
                return .getObjectAttributes
            }
            return request.hasParameter("acl") ? .unknown : .getObject
        case .head: return request.hasParameter("objectMeta") ? .getObjectMeta : .headObject
        case .put:
            let copies = request.serviceHeader("copy-source") != nil
            if request.hasParameter("partNumber") { return copies ? .uploadPartCopy : .uploadPart }
            if request.hasParameter("symlink") { return .putSymlink }
            if request.hasParameter("tagging") { return .putObjectTagging }
            if request.hasParameter("acl") { return .unknown }
            return copies ? .copyObject : .putObject
        case .post:
            if request.hasParameter("uploads") { return .initiateMultipartUpload }
            if request.hasParameter("uploadId") { return .completeMultipartUpload }
            if request.hasParameter("append") { return .appendObject }
            return request.hasParameter("restore") ? .restoreObject : .unknown
        case .delete:
            if request.hasParameter("uploadId") { return .abortMultipartUpload }
            return request.hasParameter("tagging") ? .deleteObjectTagging : .deleteObject
        case .options: return .unknown
        }
    }

    /// What S3 does not have, and what it has that this server does not.
    private static let onlyOther = [
        "append", "symlink", "objectMeta", "legal-hold", "retention", "torrent",
        "select", "renameObject",
    ]

    /// True if the answer is a listing of keys.
    var listsKeys: Bool {
        switch self {
        case .listObjects, .listObjectsV2, .listObjectVersions, .listMultipartUploads: true
        default: false
        }
    }

    /// True if the body is the content of an object or part, and goes to a file.
    var storesBody: Bool {
        switch self {
        case .putObject, .uploadPart, .appendObject: true
        default: false
        }
    }
}
