internal import SyncModel

/// Why a response is not the document that was expected.
package enum XMLFailure: Error, Sendable, Hashable {
    /// The document ends before its root does.
    case truncated
    case malformed(reason: String, line: Int)
    /// A DOCTYPE could define entities; no store sends one.
    case doctype
    case encoding(String)
    case tooLarge(limit: Int)
    case tooDeep(limit: Int)
    case textTooLong(element: String, limit: Int)
    /// Another kind of document, as from a proxy's login page.
    case wrongRoot(found: String, expected: String)
    /// The store answered with an error in place of the result, regardless of the status.
    case errorDocument(ServiceErrorDocument)
    case missing(element: String)
    case duplicate(element: String)
    case invalid(element: String, value: String)
    /// Numbers of parts that don't ascend.
    case unordered(element: String)

    package var message: String {
        switch self {
        case .truncated: "the XML document is cut off"
        case .malformed(let reason, let line): "not well-formed XML (\(reason), line \(line))"
        case .doctype: "the XML document has a DOCTYPE, which no object store sends"
        case .encoding(let name):
            "the XML document is encoded in '\(displayText(name.utf8))', not in UTF-8"
        case .tooLarge(let limit): "the XML document is larger than \(limit) bytes"
        case .tooDeep(let limit): "the XML document is nested deeper than \(limit) elements"
        case .textTooLong(let element, let limit):
            "the text of <\(displayText(element.utf8))> is longer than \(limit) bytes"
        case .wrongRoot(let found, let expected):
            "the document is a <\(displayText(found.utf8))>, not a <\(expected)>"
        case .errorDocument(let document):
            "the store answered \(displayText(document.code.utf8))"
        case .missing(let element): "the document has no <\(element)>"
        case .duplicate(let element):
            "the document has more than one <\(element)> where one belongs"
        case .invalid(let element, let value):
            "<\(element)> has the impossible value '\(displayText(value.utf8))'"
        case .unordered(let element): "the values of <\(element)> do not ascend"
        }
    }
}

extension XMLFailure {
    /// Shows the beginning of a value.
    static func invalid(_ element: XMLElement, _ value: String) -> XMLFailure {
        .invalid(
            element: element.rawValue,
            value: String(decoding: value.utf8.prefix(64), as: UTF8.self)
        )
    }
}

/// What a document must have said.
func require<Value>(_ value: Value?, _ element: XMLElement) throws(XMLFailure) -> Value {
    guard let value else { throw .missing(element: element.rawValue) }
    return value
}

/// What a document may take of memory and stack.
package struct XMLLimits: Sendable, Hashable {
    package let documentBytes: Int
    package let depth: Int
    package let textBytes: Int

    /// Of results: a page of 1,000 keys of the greatest length, encoded, has 3 MB.
    package static let result = XMLLimits(documentBytes: 8 << 20, depth: 16, textBytes: 64 << 10)
    /// Of error documents.
    package static let error = XMLLimits(documentBytes: 64 << 10, depth: 16, textBytes: 64 << 10)
    /// Of a key's text: 1,023 bytes, encoded, have 3,069.
    static let keyTextBytes = 4 << 10
}
