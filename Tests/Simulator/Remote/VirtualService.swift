internal import ObjectStorage
internal import SyncModel

/// What a request did to the bucket, or learnt of it.
enum ServiceEffect {
    case wrote(ObjectKey, previous: VirtualBucket.Object?)
    case deleted(ObjectKey, previous: VirtualBucket.Object?)
    case began(VirtualBucket.Upload)
    case aborted(VirtualBucket.Upload)
    case read(ObjectKey)
}

/// Answers requests as the services do, from a bucket.
struct VirtualService {
    let dialect: StorageDialect
    let bucketName: String
    /// Objects on one page of a listing, whatever is asked for.
    let pageSize: Int
    var bucket = VirtualBucket()
    /// What it does otherwise than the services.
    var quirks = StoreQuirks()
    /// The service's clock.
    var now = Timestamp(seconds: 0)
    private(set) var effects: [ServiceEffect] = []

    var isOSS: Bool { dialect.headerPrefix == "x-oss-" }

    init(dialect: StorageDialect, bucketName: String, pageSize: Int) {
        self.dialect = dialect
        self.bucketName = bucketName
        self.pageSize = pageSize
    }

    /// What the requests since the last call did.
    mutating func takeEffects() -> [ServiceEffect] {
        defer { effects = [] }
        return effects
    }

    mutating func note(_ effect: ServiceEffect) { effects.append(effect) }

    mutating func answer(_ call: ServiceCall, body: [UInt8]) -> ServiceAnswer {
        if let refusal = quirks.refusal(of: call) { return refusal }
        if writes(call), !hasRoom(for: call.key) { return .error(409, "ParentOrChildIsObject") }
        return switch call.operation {
        case .listObjects: document(page(call))
        case .head: head(call)
        case .get: get(call)
        case .getSymlink: getSymlink(call)
        case .put: put(call, body)
        case .copy: copy(call)
        case .delete: delete(call)
        case .deleteMany: deleteMany(body)
        case .initiate: initiate(call)
        case .uploadPart: uploadPart(call, body)
        case .uploadPartCopy: uploadPartCopy(call)
        case .listParts: listParts(call)
        case .complete: complete(call, body)
        case .abort: abort(call)
        case .listUploads: listUploads(call)
        case .other: .error(400, "InvalidRequest")
        }
    }
}

// MARK: - Objects

extension VirtualService {
    private mutating func head(_ call: ServiceCall) -> ServiceAnswer {
        guard let object = bucket.resolved(call.key) else {
            return .error(404, "", hasBody: false)
        }
        note(.read(call.key))
        var answer = ServiceAnswer(status: 200, headers: headers(of: object, at: call.key))
        let size = quirks.tellsEmptyHeads ? 0 : object.stored.count
        answer.headers.append(("content-length", String(size)))
        return answer
    }

    private mutating func get(_ call: ServiceCall) -> ServiceAnswer {
        guard let object = bucket.resolved(call.key) else { return .error(404, "NoSuchKey") }
        if let expected = call.headers["if-match"], ETag(wire: expected).text != object.etag {
            return .error(412, "PreconditionFailed")
        }
        if object.storageClass != "Standard" { return .error(403, "InvalidObjectState") }
        note(.read(call.key))
        var answer = ServiceAnswer(status: 200, headers: headers(of: object, at: call.key))
        answer.body = object.stored
        guard let text = call.headers["range"] else { return withLength(answer) }
        guard let range = Self.range(text), range.lowerBound < object.stored.count else {
            return .error(416, "InvalidRange")
        }
        let end = min(range.upperBound, object.stored.count)
        answer.status = 206
        answer.body = [UInt8](object.stored[range.lowerBound..<end])
        let value = "bytes \(range.lowerBound)-\(end - 1)/\(object.stored.count)"
        answer.headers.append(("content-range", value))
        return withLength(answer)
    }

    /// What a link leads to; the target itself is not read.
    private func getSymlink(_ call: ServiceCall) -> ServiceAnswer {
        guard let object = bucket.objects[call.key] else { return .error(404, "NoSuchKey") }
        guard let target = object.target else { return .error(400, "NotSymlink") }
        let text = percentEncode(target.bytes, keepsSlash: false)
        let headers = [(name: "x-oss-symlink-target", value: text), ("etag", "\"\(object.etag)\"")]
        return withLength(ServiceAnswer(status: 200, headers: headers))
    }

    private func withLength(_ answer: ServiceAnswer) -> ServiceAnswer {
        var answer = answer
        answer.headers.append(("content-length", String(answer.body.count)))
        return answer
    }

    /// `bytes=2-5` as 2..<6.
    private static func range(_ text: String) -> Range<Int>? {
        let numbers = text.split(separator: "=").last?.split(separator: "-").compactMap {
            Int($0)
        }
        guard let numbers, numbers.count == 2, numbers[0] <= numbers[1] else { return nil }
        return numbers[0]..<(numbers[1] + 1)
    }

    private func headers(
        of object: VirtualBucket.Object,
        at key: ObjectKey
    ) -> [(name: String, value: String)] {
        let prefix = dialect.headerPrefix
        var headers = [
            (name: "etag", value: "\"\(object.etag)\""),
            (name: "last-modified", value: CivilTime(object.modified).httpText),
            (name: prefix + "storage-class", value: object.storageClass),
            (name: prefix + "request-id", value: "1"),
        ]
        if isOSS {
            headers.append((prefix + "hash-crc64ecma", String(object.crc64.value)))
            let isLink = bucket.objects[key]?.target != nil
            headers.append((prefix + "object-type", isLink ? "Symlink" : "Normal"))
        }
        for (name, value) in object.metadata.sorted(by: { $0.key < $1.key }) {
            headers.append((prefix + "meta-" + name, value))
        }
        return headers
    }

    /// The error of a condition that does not hold; nil if all do.
    private func refusal(_ call: ServiceCall, _ key: ObjectKey) -> ServiceAnswer? {
        let found = bucket.objects[key]
        if call.header("forbid-overwrite") == "true", found != nil {
            return .error(409, "FileAlreadyExists")
        }
        if call.headers["if-none-match"] == "*", found != nil {
            return .error(412, "PreconditionFailed")
        }
        guard let expected = call.headers["if-match"] else { return nil }
        guard let found else { return .error(404, "NoSuchKey") }
        return ETag(wire: expected).text == found.etag ? nil : .error(412, "PreconditionFailed")
    }

    private mutating func put(_ call: ServiceCall, _ body: [UInt8]) -> ServiceAnswer {
        if let refusal = refusal(call, call.key) { return refusal }
        let previous = bucket.objects[call.key]
        bucket.put(
            call.key,
            bytes: body,
            metadata: call.userMetadata,
            now: now,
            author: .tool
        )
        note(.wrote(call.key, previous: previous))
        return made(call.key)
    }

    private func made(_ key: ObjectKey) -> ServiceAnswer {
        guard let object = bucket.objects[key] else { return .error(500, "InternalError") }
        var answer = ServiceAnswer(status: 200)
        answer.headers = [("etag", "\"\(object.etag)\"")]
        if isOSS {
            answer.headers.append(("x-oss-hash-crc64ecma", String(object.crc64.value)))
        }
        return answer
    }

    private mutating func copy(_ call: ServiceCall) -> ServiceAnswer {
        guard let source = source(of: call) else { return .error(404, "NoSuchKey") }
        if let refusal = sourceRefusal(call, source) ?? refusal(call, call.key) { return refusal }
        let previous = bucket.objects[call.key]
        let replaces = call.header("metadata-directive") == "REPLACE"
        bucket.put(
            call.key,
            bytes: source.stored,
            metadata: replaces ? call.userMetadata : source.metadata,
            now: now,
            author: .tool
        )
        note(.wrote(call.key, previous: previous))
        guard let object = bucket.objects[call.key] else { return .error(500, "InternalError") }
        return copied("CopyObjectResult", object.etag, object.crc64)
    }

    private func copied(_ root: String, _ etag: String, _ crc64: CRC64) -> ServiceAnswer {
        let time = CivilTime(now).extendedText(milliseconds: 0)
        var answer = ServiceAnswer.document(
            "<\(root)><ETag>\"\(etag)\"</ETag><LastModified>\(time)</LastModified></\(root)>"
        )
        if isOSS { answer.headers.append(("x-oss-hash-crc64ecma", String(crc64.value))) }
        return answer
    }

    private func source(of call: ServiceCall) -> VirtualBucket.Object? {
        guard let text = call.header("copy-source"), let bytes = percentDecode([UInt8](text.utf8))
        else { return nil }
        let path = bytes.first == UInt8(ascii: "/") ? bytes.dropFirst() : bytes[...]
        return bucket.resolved(ObjectKey(path.dropFirst(bucketName.utf8.count + 1)))
    }

    private func sourceRefusal(
        _ call: ServiceCall,
        _ source: VirtualBucket.Object
    ) -> ServiceAnswer? {
        if source.storageClass != "Standard" { return .error(403, "InvalidObjectState") }
        guard let expected = call.header("copy-source-if-match") else { return nil }
        let isSame = ETag(wire: expected).text == source.etag
        return isSame ? nil : .error(412, "PreconditionFailed")
    }

    private mutating func delete(_ call: ServiceCall) -> ServiceAnswer {
        let previous = bucket.objects[call.key]
        bucket.delete(call.key)
        note(.deleted(call.key, previous: previous))
        return ServiceAnswer(status: 204)
    }

    private mutating func deleteMany(_ body: [UInt8]) -> ServiceAnswer {
        var text = "<DeleteResult><EncodingType>url</EncodingType>"
        for element in MarkupReader.values(of: "Key", in: body) {
            let key = ObjectKey(element)
            let previous = bucket.objects[key]
            bucket.delete(key)
            note(.deleted(key, previous: previous))
            text += "<Deleted><Key>\(Self.encoded(key))</Key></Deleted>"
        }
        return .document(text + "</DeleteResult>")
    }

    static func encoded(_ key: ObjectKey) -> String {
        percentEncode(key.bytes, keepsSlash: true)
    }
}

// MARK: - Uploads in parts

extension VirtualService {
    private mutating func initiate(_ call: ServiceCall) -> ServiceAnswer {
        let id = bucket.initiate(
            call.key,
            metadata: call.userMetadata,
            now: now,
            author: .tool
        )
        if let upload = bucket.uploads[id] { note(.began(upload)) }
        let root = "InitiateMultipartUploadResult"
        return .document(
            "<\(root)><Bucket>\(bucketName)</Bucket><EncodingType>url</EncodingType>"
                + "<Key>\(Self.encoded(call.key))</Key><UploadId>\(id)</UploadId></\(root)>"
        )
    }

    private func upload(of call: ServiceCall) -> VirtualBucket.Upload? {
        guard let upload = bucket.uploads[call.text("uploadId") ?? ""], upload.key == call.key
        else { return nil }
        return upload
    }

    private mutating func uploadPart(_ call: ServiceCall, _ body: [UInt8]) -> ServiceAnswer {
        guard let upload = upload(of: call) else { return .error(404, "NoSuchUpload") }
        let number = Int(call.text("partNumber") ?? "") ?? 0
        let part = bucket.setPart(number, of: upload.id, bytes: body)
        var answer = ServiceAnswer(status: 200, headers: [("etag", "\"\(part.etag)\"")])
        if isOSS {
            answer.headers.append(("x-oss-hash-crc64ecma", String(part.crc64.value)))
        }
        return answer
    }

    private mutating func uploadPartCopy(_ call: ServiceCall) -> ServiceAnswer {
        guard let upload = upload(of: call) else { return .error(404, "NoSuchUpload") }
        guard let source = source(of: call) else { return .error(404, "NoSuchKey") }
        if let refusal = sourceRefusal(call, source) { return refusal }
        var bytes = source.stored
        if let text = call.header("copy-source-range") {
            guard let range = Self.range(text), range.upperBound <= bytes.count else {
                return .error(416, "InvalidRange")
            }
            bytes = [UInt8](bytes[range])
        }
        let number = Int(call.text("partNumber") ?? "") ?? 0
        let part = bucket.setPart(number, of: upload.id, bytes: quirks.kept(bytes))
        guard isOSS else { return copied("CopyPartResult", part.etag, part.crc64) }
        // The answer says what was asked for; the list of parts says what there is.
        let asked = hexadecimalText(Digest.md5(bytes)).uppercased()
        return copied("CopyPartResult", asked, CRC64(of: bytes))
    }

    private func listParts(_ call: ServiceCall) -> ServiceAnswer {
        guard let upload = upload(of: call) else { return .error(404, "NoSuchUpload") }
        let after = Int(call.text("part-number-marker") ?? "") ?? 0
        let numbers = upload.parts.keys.sorted().filter { $0 > after }
        let page = numbers.prefix(max(1, pageSize))
        var text = "<ListPartsResult><IsTruncated>\(page.count < numbers.count)</IsTruncated>"
        if let last = page.last {
            text += "<NextPartNumberMarker>\(last)</NextPartNumberMarker>"
        }
        for number in page {
            guard let part = upload.parts[number] else { continue }
            text +=
                "<Part><PartNumber>\(number)</PartNumber><ETag>\"\(part.etag)\"</ETag>"
                + "<Size>\(part.bytes.count)</Size>"
            if isOSS { text += "<HashCrc64ecma>\(part.crc64.value)</HashCrc64ecma>" }
            text += "</Part>"
        }
        return .document(text + "</ListPartsResult>")
    }

    private mutating func complete(_ call: ServiceCall, _ body: [UInt8]) -> ServiceAnswer {
        guard let upload = upload(of: call) else { return .error(404, "NoSuchUpload") }
        if let refusal = refusal(call, call.key) { return refusal }
        let numbers = MarkupReader.values(of: "PartNumber", in: body).compactMap {
            Int(String(decoding: $0, as: UTF8.self))
        }
        let tags = MarkupReader.values(of: "ETag", in: body).map {
            ETag(wire: String(decoding: $0, as: UTF8.self)).text
        }
        guard !numbers.isEmpty, numbers.count == tags.count else {
            return .error(400, "MalformedXML")
        }
        for (number, tag) in zip(numbers, tags) where upload.parts[number]?.etag != tag {
            return .error(400, "InvalidPart")
        }
        let previous = bucket.objects[call.key]
        bucket.complete(upload.id, numbers: numbers, now: now)
        note(.wrote(call.key, previous: previous))
        let root = "CompleteMultipartUploadResult"
        var answer = ServiceAnswer.document(
            "<\(root)><EncodingType>url</EncodingType><Key>\(Self.encoded(call.key))</Key>"
                + "<ETag>\"\(bucket.objects[call.key]?.etag ?? "")\"</ETag></\(root)>"
        )
        answer.headers += made(call.key).headers.filter { $0.name != "etag" }
        return answer
    }

    private mutating func abort(_ call: ServiceCall) -> ServiceAnswer {
        guard let upload = upload(of: call) else { return .error(404, "NoSuchUpload") }
        bucket.abort(upload.id)
        note(.aborted(upload))
        return ServiceAnswer(status: 204)
    }

    private func listUploads(_ call: ServiceCall) -> ServiceAnswer {
        let prefix = ObjectKey(call.query["prefix"] ?? [])
        let found = bucket.uploads.values.filter { $0.key.hasPrefix(prefix) }
            .sorted { $0.key == $1.key ? $0.id < $1.id : $0.key < $1.key }
        var text =
            "<ListMultipartUploadsResult><EncodingType>url</EncodingType>"
            + "<IsTruncated>false</IsTruncated>"
        for upload in found {
            let time = CivilTime(upload.initiated).extendedText(milliseconds: 0)
            text +=
                "<Upload><Key>\(Self.encoded(upload.key))</Key><UploadId>\(upload.id)"
                + "</UploadId><Initiated>\(time)</Initiated></Upload>"
        }
        return .document(text + "</ListMultipartUploadsResult>")
    }
}
