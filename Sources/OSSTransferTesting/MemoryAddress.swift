internal import ObjectStorage
internal import SyncModel

/// What a request's URL says.
struct MemoryAddress {
    /// Nil for the bucket itself.
    let key: ObjectKey?
    private let query: [String: [UInt8]]

    init(_ url: String, bucket: String) {
        let origin = Endpoint.memory.origin(bucket: nil) + "/" + bucket
        let rest = [UInt8](url.utf8.dropFirst(origin.utf8.count))
        let mark = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        let path = percentDecode(Array(rest[..<mark].drop { $0 == UInt8(ascii: "/") })) ?? []
        key = path.isEmpty ? nil : ObjectKey(path)
        var query: [String: [UInt8]] = [:]
        for field in rest[mark...].dropFirst().split(separator: UInt8(ascii: "&")) {
            let equals = field.firstIndex(of: UInt8(ascii: "=")) ?? field.endIndex
            let name = String(decoding: field[..<equals], as: UTF8.self)
            query[name] = percentDecode(Array(field[equals...].dropFirst())) ?? []
        }
        self.query = query
    }

    subscript(name: String) -> String? {
        query[name].map { String(decoding: $0, as: UTF8.self) }
    }

    /// A parameter that is a key or the beginning of one.
    func key(_ name: String) -> ObjectKey? { query[name].map { ObjectKey($0) } }

    /// What stands in each element of this name.
    static func contents(of name: String, in text: String) -> [Substring] {
        var found: [Substring] = []
        var rest = text.utf8[...]
        while let start = rest.firstIndex(ofBytes: "<\(name)>".utf8) {
            rest = rest[start...].dropFirst(name.utf8.count + 2)
            guard let end = rest.firstIndex(ofBytes: "</\(name)>".utf8) else { break }
            found.append(Substring(rest[..<end]))
            rest = rest[end...]
        }
        return found
    }

    /// Text of XML, of which only what the client writes is known.
    static func unescaped(_ text: Substring) -> String {
        var result = ""
        var rest = text
        while let start = rest.firstIndex(of: "&"), let end = rest[start...].firstIndex(of: ";") {
            result += rest[..<start]
            let name = rest[rest.index(after: start)..<end]
            switch name {
            case "amp": result += "&"
            case "lt": result += "<"
            case "gt": result += ">"
            case "quot": result += "\""
            case "apos": result += "'"
            default:
                let digits = name.dropFirst(name.hasPrefix("#x") ? 2 : 1)
                let value = UInt32(digits, radix: name.hasPrefix("#x") ? 16 : 10)
                result.unicodeScalars.append(value.flatMap { Unicode.Scalar($0) } ?? "\u{FFFD}")
            }
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }
}
