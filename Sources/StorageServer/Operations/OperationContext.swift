internal import SyncModel

/// The body of a request, all of it received.
enum ReceivedBody {
    case bytes([UInt8])
    case blob(StoredBlob)
}

/// One request, authenticated and received, about to be carried out.
struct OperationContext {
    let core: ServerCore
    let request: Request
    let operation: Operation
    let body: ReceivedBody
    let faults: ActiveFaults
    /// What came with the body and was found right.
    let checksum: Checksum?
    /// True if the key had an object when the request began.
    let existedAtStart: Bool

    /// Carries out the operation; the errors are answers too.
    func perform() throws -> Answer {
        switch operation {
        case .listBuckets: try listBuckets()
        case .putBucket: try putBucket()
        case .deleteBucket: try deleteBucket()
        case .headBucket: try headBucket()
        case .getBucketInfo: try getBucketInfo()
        case .getBucketLocation: try getBucketLocation()
        case .getBucketVersioning: try getBucketVersioning()
        case .putBucketVersioning: try putBucketVersioning()
        case .listObjects: try listObjects()
        case .listObjectsV2: try listObjectsV2()
        case .listObjectVersions: try listObjectVersions()
        case .listMultipartUploads: try listMultipartUploads()
        case .deleteMultipleObjects: try deleteMultipleObjects()
        case .putObject: try putObject()
        case .copyObject: try copyObject()
        case .appendObject: try appendObject()
        case .getObject, .headObject: try getObject()
        case .getObjectMeta: try getObjectMeta()
        case .getObjectAttributes: try getObjectAttributes()
        case .deleteObject: try deleteObject()
        case .putSymlink: try putSymlink()
        case .getSymlink: try getSymlink()
        case .restoreObject: try restoreObject()
        case .getObjectTagging: try getObjectTagging()
        case .putObjectTagging: try putObjectTagging()
        case .deleteObjectTagging: try deleteObjectTagging()
        case .initiateMultipartUpload: try initiateMultipartUpload()
        case .uploadPart: try uploadPart()
        case .uploadPartCopy: try uploadPartCopy()
        case .completeMultipartUpload: try completeMultipartUpload()
        case .abortMultipartUpload: try abortMultipartUpload()
        case .listParts: try listParts()
        case .unknown:
            throw ServiceError.notImplemented(
                operation: request.method.rawValue + " " + request.target
            )
        }
    }

    // MARK: - What the request addresses

    var key: ObjectKey { request.key ?? ObjectKey([]) }

    var dialect: Dialect { request.dialect }

    var keyText: String { String(decoding: key.bytes, as: UTF8.self) }

    var bucketName: String { request.bucket ?? "" }

    func bucket(_ transaction: Transaction) throws -> BucketRecord {
        guard let bucket = try transaction.bucket(bucketName) else {
            throw ServiceError.noSuchBucket(bucketName)
        }
        return bucket
    }

    /// The key of a request that writes; names the store does not accept are refused.
    func checkedKey() throws -> ObjectKey {
        let bytes = key.bytes
        if dialect == .s3 {
            guard bytes.count <= dialect.maximumKeyLength else {
                throw ServiceError.keyTooLong(bytes.count)
            }
            guard isValidUTF8(bytes) else {
                throw ServiceError(400, "InvalidURI", "Couldn't parse the specified URI.")
            }
            return key
        }
        guard (1...1_023).contains(bytes.count) else {
            throw ServiceError(
                400,
                "InvalidObjectName",
                "The Length of Object name must be less than 1024.",
                details: [("ObjectName", keyText)]
            )
        }
        guard isValidUTF8(bytes), bytes[0] != UInt8(ascii: "/"), bytes[0] != UInt8(ascii: "\\")
        else {
            throw ServiceError(
                400,
                "InvalidObjectName",
                "The specified object is not valid.",
                details: [("ObjectName", keyText)]
            )
        }
        return key
    }

    // MARK: - Bodies

    /// The body of a request that stores content.
    func receivedBlob() throws -> StoredBlob {
        guard case .blob(let blob) = body else {
            throw ServiceError.internalError("The body was not stored.")
        }
        return blob
    }

    var bodyBytes: [UInt8] {
        if case .bytes(let bytes) = body { bytes } else { [] }
    }

    /// Compares the body with the Content-MD5 header, if there is one.
    func checkContentMD5() throws {
        guard let header = request.header("content-md5") else { return }
        let digest =
            switch body {
            case .bytes(let bytes): Digests.md5(bytes)
            case .blob(let blob): blob.md5
            }
        guard let given = Base64.decode(header), given.count == digest.count else {
            throw ServiceError.invalidDigest(header)
        }
        guard given == digest else {
            guard dialect == .s3 else { throw ServiceError.invalidDigest(header) }
            throw ServiceError(
                400,
                "BadDigest",
                "The Content-MD5 you specified did not match what we received."
            )
        }
    }

    func bodyDocument(ec: String) throws -> XMLElement {
        guard let document = XMLElement.parse(bodyBytes) else {
            throw ServiceError.malformedXML("The document could not be parsed.", ec: ec)
        }
        return document
    }

    // MARK: - Values of the wire

    /// The service's documents have milliseconds, and they are always zero; the classic SDK reads
    /// nothing else.
    func xmlTime(_ milliseconds: Int64) -> String {
        CivilTime(Timestamp(seconds: milliseconds / 1_000)).extendedText(milliseconds: 0)
    }

    /// A document with its service's namespace.
    func document(_ root: String) -> XMLWriter {
        XMLWriter(root: root, namespace: dialect.namespace)
    }

    func quoted(_ etag: String) -> String { "\"" + dialect.etag(etag) + "\"" }

    /// S3 encodes keys in listings only.
    var wantsEncodedKeys: Bool {
        guard request.parameter("encoding-type") == "url" else { return false }
        return dialect == .oss || operation.listsKeys
    }

    /// A key or prefix as this request wants it in XML.
    func encodedForXML(_ bytes: [UInt8]) -> [UInt8] {
        guard wantsEncodedKeys else { return bytes }
        switch dialect {
        case .oss: return [UInt8](percentEncoded(bytes, keepingSlash: false).utf8)
        case .s3: return formEncoded(bytes)
        }
    }

    /// A continuation token; S3 leaves it alone.
    func encodedToken(_ token: String) -> [UInt8] {
        dialect == .oss ? encodedForXML([UInt8](token.utf8)) : [UInt8](token.utf8)
    }

    /// An element that S3 leaves out when it is empty.
    func optionalElement(_ name: String, _ text: [UInt8], in xml: inout XMLWriter) {
        guard dialect == .oss || !text.isEmpty else { return }
        xml.element(name, text)
    }

    func checkEncodingType() throws {
        guard let type = request.parameter("encoding-type"), type != "url", type != "" else {
            return
        }
        throw ServiceError.invalidArgument(
            "Invalid Encoding Method specified in Request.",
            name: "encoding-type",
            value: type
        )
    }

    /// A whole number of a query parameter within bounds; S3 lowers what is too high.
    func number(_ name: String, default standard: Int, in bounds: ClosedRange<Int>) throws -> Int {
        guard let text = request.parameter(name), !text.isEmpty else { return standard }
        let given = parseDecimal(text.utf8).map { Int(clamping: $0) }
        let value = dialect == .s3 ? given.map { min($0, bounds.upperBound) } : given
        guard let value, bounds.contains(value) else {
            throw ServiceError.invalidArgument(
                "Argument \(name) must be an integer between \(bounds.lowerBound) and "
                    + "\(bounds.upperBound).",
                name: name,
                value: text
            )
        }
        return value
    }
}
