internal import SyncModel

enum Method: String, Sendable {
    case get = "GET"
    case head = "HEAD"
    case put = "PUT"
    case post = "POST"
    case delete = "DELETE"
    case options = "OPTIONS"
}

struct QueryItem: Sendable {
    let name: String
    let value: String
}

/// A request as it came: the target undecoded for the signature, and what it addresses.
struct Request: Sendable {
    let method: Method
    /// The path and query as sent.
    let target: String
    let dialect: Dialect
    /// Decoded; in the order of the target.
    let query: [QueryItem]
    /// Names in lower case, in the order of arrival.
    let headers: [(name: String, value: String)]
    /// The decoded path, without the leading slash of virtual-host addressing's bucket.
    let bucket: String?
    /// Nil for the bucket or the service itself.
    let key: ObjectKey?

    init(method: Method, target: String, headers: [(name: String, value: String)]) {
        self.method = method
        self.target = target
        self.headers = headers
        let bytes = [UInt8](target.utf8)
        let question = bytes.firstIndex(of: UInt8(ascii: "?"))
        let path = percentDecoded(bytes[..<(question ?? bytes.endIndex)], plusIsSpace: false)
        query = question.map { Self.parseQuery(bytes[($0 + 1)...]) } ?? []
        dialect = Dialect(query: query, headers: headers)

        var key = path.first == UInt8(ascii: "/") ? Array(path.dropFirst()) : path
        let host = headers.first { $0.name == "host" }?.value ?? ""
        if let bucket = Self.virtualBucket(host: host) {
            self.bucket = bucket
        } else if key.isEmpty {
            bucket = nil
        } else {
            let slash = key.firstIndex(of: UInt8(ascii: "/")) ?? key.endIndex
            bucket = String(decoding: key[..<slash], as: UTF8.self)
            key = Array(key[slash...].dropFirst())
        }
        self.key = key.isEmpty ? nil : ObjectKey(key)
    }

    private static func parseQuery(_ bytes: ArraySlice<UInt8>) -> [QueryItem] {
        bytes.split(separator: UInt8(ascii: "&")).map { pair in
            let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            return QueryItem(
                name: String(
                    decoding: percentDecoded(pair[..<equals], plusIsSpace: true),
                    as: UTF8.self
                ),
                value: String(
                    decoding: percentDecoded(pair[equals...].dropFirst(), plusIsSpace: true),
                    as: UTF8.self
                )
            )
        }
    }

    /// The bucket that the host names, nil where the path names it: an address, a single label, or
    /// a service host of the real store.
    static func virtualBucket(host: String) -> String? {
        guard !host.hasPrefix("[") else { return nil }
        let name = host.split(separator: ":", omittingEmptySubsequences: false).first ?? ""
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count >= 2, !labels.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isNumber) })
        else { return nil }
        if labels.count == 2, labels[1] != "localhost" { return nil }
        if labels[0].hasPrefix("oss-") || labels[0] == "s3" || labels[1] == "oss" { return nil }
        return String(labels[0])
    }

    /// The first value of a header, by its name in lower case.
    func header(_ name: String) -> String? {
        headers.first { $0.name == name }?.value
    }

    /// The first value of a header of the service's own, such as `copy-source`.
    func serviceHeader(_ name: String) -> String? {
        header(dialect.headerPrefix + name)
    }

    /// The first value of a query parameter; empty if it has none.
    func parameter(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }

    func hasParameter(_ name: String) -> Bool {
        query.contains { $0.name == name }
    }

    /// Query parameters that say what is asked for, without those of signatures.
    var subresources: [QueryItem] {
        query.filter { $0.name != "x-id" && !$0.name.hasPrefix("X-Amz-") }
    }

    /// The announced length of the body; nil if there is none or it is chunked.
    var contentLength: Int64? {
        header("content-length").flatMap { parseDecimal($0.utf8) }
    }
}
