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

    /// Carries out the operation; the errors are answers too.
    func perform() throws -> Answer {
        switch operation {
        case .listBuckets: try listBuckets()
        case .putBucket: try putBucket()
        case .deleteBucket: try deleteBucket()
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
        guard Base64.decode(header) == digest else { throw ServiceError.invalidDigest(header) }
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

    var wantsEncodedKeys: Bool { request.parameter("encoding-type") == "url" }

    /// A key, prefix or token as this request wants it in XML.
    func encodedForXML(_ bytes: [UInt8]) -> [UInt8] {
        wantsEncodedKeys ? [UInt8](percentEncoded(bytes, keepingSlash: false).utf8) : bytes
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

    /// A whole number of a query parameter within bounds.
    func number(_ name: String, default standard: Int, in bounds: ClosedRange<Int>) throws -> Int {
        guard let text = request.parameter(name), !text.isEmpty else { return standard }
        guard let value = parseDecimal(text.utf8), bounds.contains(Int(value)) else {
            throw ServiceError.invalidArgument(
                "Argument \(name) must be an integer between \(bounds.lowerBound) and "
                    + "\(bounds.upperBound).",
                name: name,
                value: text
            )
        }
        return Int(value)
    }
}
