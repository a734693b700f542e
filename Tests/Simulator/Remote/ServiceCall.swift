internal import ObjectStorage
internal import SyncModel

/// One request as the service understands it.
struct ServiceCall {
    enum Operation: String, Sendable {
        case listObjects, head, get, put, delete, deleteMany
        case initiate, uploadPart, listParts, complete, abort, listUploads
        case copy, uploadPartCopy, getSymlink
        case other
    }

    let operation: Operation
    let key: ObjectKey
    /// Names and decoded values.
    let query: [String: [UInt8]]
    /// Names in lower case.
    let headers: [String: String]

    /// The names of the service's own headers begin with it.
    let headerPrefix: String

    init(_ request: HTTPRequest, headerPrefix: String) {
        self.headerPrefix = headerPrefix
        var rest = request.url.utf8[...]
        if let scheme = request.url.firstRange(of: "://") {
            rest = request.url.utf8[scheme.upperBound...]
        }
        rest = rest.drop { $0 != UInt8(ascii: "/") }.dropFirst()
        let path = rest.prefix { $0 != UInt8(ascii: "?") }
        key = ObjectKey(percentDecode([UInt8](path)) ?? [UInt8](path))
        query = Self.query(rest.dropFirst(path.count + 1))
        var headers: [String: String] = [:]
        for (name, value) in request.headers { headers[name.lowercased()] = value }
        self.headers = headers
        let hasSource = headers[headerPrefix + "copy-source"] != nil
        operation = Self.operation(request.method, key, query, hasSource: hasSource)
    }

    private static func query(_ text: Substring.UTF8View.SubSequence) -> [String: [UInt8]] {
        var query: [String: [UInt8]] = [:]
        for pair in text.split(separator: UInt8(ascii: "&")) {
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            let value = [UInt8](pair.dropFirst(name.count + 1))
            let decodedName = percentDecode([UInt8](name)) ?? [UInt8](name)
            query[String(decoding: decodedName, as: UTF8.self)] = percentDecode(value) ?? value
        }
        return query
    }

    private static func operation(
        _ method: HTTPMethod,
        _ key: ObjectKey,
        _ query: [String: [UInt8]],
        hasSource: Bool
    ) -> Operation {
        let isOfUpload = query["uploadId"] != nil
        return switch method {
        case .get where key.isEmpty && query["list-type"] != nil: .listObjects
        case .get where key.isEmpty && query["uploads"] != nil: .listUploads
        case .get where isOfUpload: .listParts
        case .get where query["symlink"] != nil: .getSymlink
        case .get where !key.isEmpty: .get
        case .head: .head
        case .put where isOfUpload: hasSource ? .uploadPartCopy : .uploadPart
        case .put: hasSource ? .copy : .put
        case .post where query["delete"] != nil: .deleteMany
        case .post where query["uploads"] != nil: .initiate
        case .post where isOfUpload: .complete
        case .delete where isOfUpload: .abort
        case .delete: .delete
        default: .other
        }
    }

    func header(_ name: String) -> String? { headers[headerPrefix + name] }

    func text(_ name: String) -> String? {
        query[name].map { String(decoding: $0, as: UTF8.self) }
    }

    /// The object's own metadata, by their names without the prefix.
    var userMetadata: [String: String] {
        let prefix = headerPrefix + "meta-"
        var metadata: [String: String] = [:]
        for (name, value) in headers where name.hasPrefix(prefix) {
            metadata[String(name.dropFirst(prefix.count))] = value
        }
        return metadata
    }

    /// The first byte that a read asks for.
    var start: Int {
        let text = headers["range"]?.split(separator: "=").last?.split(separator: "-").first
        return text.flatMap { Int($0) } ?? 0
    }

    /// True if it can change what the bucket holds.
    var changes: Bool {
        switch operation {
        case .put, .delete, .deleteMany, .initiate, .uploadPart, .complete, .abort, .copy,
            .uploadPartCopy:
            true
        case .listObjects, .head, .get, .getSymlink, .listParts, .listUploads, .other: false
        }
    }
}

/// What the service answers.
struct ServiceAnswer {
    var status: Int
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []

    static func error(_ status: Int, _ code: String, hasBody: Bool = true) -> ServiceAnswer {
        let text =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>\(code)</Code>"
            + "<Message>so it was decided</Message><RequestId>1</RequestId></Error>"
        return ServiceAnswer(
            status: status,
            headers: [("content-type", "application/xml")],
            body: hasBody ? [UInt8](text.utf8) : []
        )
    }

    static func document(_ text: String) -> ServiceAnswer {
        ServiceAnswer(
            status: 200,
            headers: [("content-type", "application/xml")],
            body: [UInt8](text.utf8)
        )
    }
}
