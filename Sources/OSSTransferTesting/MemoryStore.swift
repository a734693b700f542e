internal import OSSBucket
internal import OSSTransfer
internal import ObjectStorage
internal import SyncModel
internal import Synchronization

/// What a store of OSS's dialect answers, from memory.
final class MemoryStore: Sendable {
    static let bucket = "memory"

    struct Object {
        var bytes: [UInt8]
        var etag: String
        var crc64: UInt64
        var modified: Timestamp
        /// Those that are returned with the object, by names in lower case.
        var headers: [(name: String, value: String)]
    }

    struct Upload {
        let key: ObjectKey
        let headers: [(name: String, value: String)]
        let begun: Timestamp
        var parts: [Int: Object] = [:]
    }

    struct State {
        var objects: [ObjectKey: Object] = [:]
        var uploads: [String: Upload] = [:]
        var writes = 0
        var failures = (count: 0, status: 0, code: "")
    }

    private let state = Mutex(State())

    var keys: [ObjectKey] { state.withLock { $0.objects.keys.sorted() } }

    func content(_ key: ObjectKey) -> [UInt8]? { state.withLock { $0.objects[key]?.bytes } }

    func set(_ key: ObjectKey, _ bytes: [UInt8]?) {
        state.withLock { state in
            state.objects[key] = bytes.map { Self.object($0, [], &state) }
        }
    }

    func failNextRequests(_ count: Int, status: Int, code: String) {
        state.withLock { $0.failures = (count, status, code) }
    }

    func answer(_ request: MemoryTransport.Request) -> MemoryTransport.Answer {
        let address = MemoryAddress(request.url, bucket: Self.bucket)
        return state.withLock { state in
            if state.failures.count > 0 {
                state.failures.count -= 1
                return Self.failure(state.failures.status, state.failures.code)
            }
            guard let key = address.key else { return Self.ofBucket(request, address, &state) }
            if let id = address["uploadId"] {
                return Self.ofUpload(id, key, request, address, &state)
            }
            switch request.method {
            case .put: return Self.put(key, request, &state)
            case .get, .head: return Self.read(key, request, state)
            case .delete:
                state.objects[key] = nil
                return MemoryTransport.Answer(status: 204)
            case .post where address["uploads"] != nil:
                return Self.begin(key, request, &state)
            case .post: return Self.failure(501, "NotImplemented")
            }
        }
    }

    static func failure(_ status: Int, _ code: String) -> MemoryTransport.Answer {
        document(
            "<Error><Code>\(code)</Code><Message>\(code)</Message><RequestId>0</RequestId></Error>",
            status: status
        )
    }

    static func document(_ text: String, status: Int = 200) -> MemoryTransport.Answer {
        MemoryTransport.Answer(
            status: status,
            headers: [("content-type", "application/xml"), ("x-oss-request-id", "0")],
            body: [UInt8]("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\(text)".utf8)
        )
    }

    static func object(
        _ bytes: [UInt8],
        _ headers: [(name: String, value: String)],
        _ state: inout State
    ) -> Object {
        state.writes += 1
        var checksum = CRC64()
        unsafe checksum.update(bytes.span.bytes)
        let digits = String(state.writes, radix: 16, uppercase: true)
        return Object(
            bytes: bytes,
            etag: String(repeating: "0", count: 32 - digits.count) + digits,
            crc64: checksum.value,
            modified: Timestamp(seconds: SystemClocks.now().seconds),
            headers: headers
        )
    }

    /// The headers of a request that the store keeps with the object.
    static func kept(
        _ request: MemoryTransport.Request
    ) -> [(name: String, value: String)] {
        request.headers.map { ($0.name.lowercased(), $0.value) }.filter { name, _ in
            name.hasPrefix("x-oss-meta-") || name == "x-oss-storage-class"
                || name == "content-type" || StorageDialect.contentHeaders.contains(name)
        }
    }
}

// MARK: - One object

extension MemoryStore {
    static func put(
        _ key: ObjectKey,
        _ request: MemoryTransport.Request,
        _ state: inout State
    ) -> MemoryTransport.Answer {
        if request["x-oss-forbid-overwrite"] == "true", state.objects[key] != nil {
            return failure(409, "FileAlreadyExists")
        }
        guard let source = request["x-oss-copy-source"] else {
            let made = object(request.body, kept(request), &state)
            state.objects[key] = made
            return MemoryTransport.Answer(status: 200, headers: described(made))
        }
        let path = percentDecode([UInt8](source.utf8)) ?? []
        let from = ObjectKey(Array(path.dropFirst(bucket.utf8.count + 2)))
        guard let copied = state.objects[from] else { return failure(404, "NoSuchKey") }
        if let etag = request["x-oss-copy-source-if-match"], unquoted(etag) != copied.etag {
            return failure(412, "PreconditionFailed")
        }
        let made = object(copied.bytes, copied.headers, &state)
        state.objects[key] = made
        var answer = document(
            "<CopyObjectResult><LastModified>\(extended(made.modified))</LastModified>"
                + "<ETag>\"\(made.etag)\"</ETag></CopyObjectResult>"
        )
        answer.headers += described(made)
        return answer
    }

    static func read(
        _ key: ObjectKey,
        _ request: MemoryTransport.Request,
        _ state: borrowing State
    ) -> MemoryTransport.Answer {
        guard let object = state.objects[key] else { return failure(404, "NoSuchKey") }
        if let tag = request["if-match"], unquoted(tag) != object.etag {
            return failure(412, "PreconditionFailed")
        }
        if let tag = request["if-none-match"], unquoted(tag) == object.etag {
            return MemoryTransport.Answer(status: 304)
        }
        var headers = described(object) + object.headers
        headers.append(("last-modified", CivilTime(object.modified).httpText))
        headers.append(("x-oss-object-type", "Normal"))
        headers.append(("accept-ranges", "bytes"))
        if !object.headers.contains(where: { $0.name == "x-oss-storage-class" }) {
            headers.append(("x-oss-storage-class", "Standard"))
        }
        guard let wanted = request["range"] else {
            return MemoryTransport.Answer(status: 200, headers: headers, body: object.bytes)
        }
        let size = Int64(object.bytes.count)
        guard let range = range(wanted, of: size) else { return failure(416, "InvalidRange") }
        let part = Array(object.bytes[Int(range.lowerBound)..<Int(range.upperBound)])
        let place = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
        headers.append(("content-range", place))
        return MemoryTransport.Answer(status: 206, headers: headers, body: part)
    }

    /// Nil if the object has no byte of it.
    private static func range(_ text: String, of size: Int64) -> Range<Int64>? {
        guard let form = try? ObjectRange(parsing: text).form() else { return nil }
        let found: Range<Int64>
        switch form {
        case .bounded(let bytes):
            found = bytes.offset..<max(bytes.offset, min(bytes.offset + bytes.length, size))
        case .from(let offset): found = offset..<max(offset, size)
        case .last(let count): found = max(0, size - count)..<size
        }
        return found.isEmpty || found.lowerBound >= size ? nil : found
    }

    static func described(_ object: Object) -> [(name: String, value: String)] {
        [
            ("etag", "\"\(object.etag)\""), ("x-oss-hash-crc64ecma", String(object.crc64)),
            ("x-oss-request-id", "0"),
        ]
    }

    static func unquoted(_ tag: String) -> String { ETag(wire: tag).text }
}
