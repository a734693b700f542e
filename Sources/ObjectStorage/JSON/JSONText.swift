internal import SyncModel

/// A value of a JSON text.
package enum JSONText: Sendable, Hashable {
    case null
    case bool(Bool)
    /// As it is written, so that no digit is lost.
    case number(String)
    case string(String)
    case array([JSONText])
    case object([Member])

    package struct Member: Sendable, Hashable {
        package let name: String
        package let value: JSONText

        package init(name: String, value: JSONText) {
            self.name = name
            self.value = value
        }
    }

    /// Files and answers that hold credentials are small.
    static let maximumCredentialsSize = 1 << 20
    static let maximumDepth = 16

    /// Reads one value and the blanks around it, strictly by RFC 8259.
    package init(
        parsing bytes: [UInt8],
        maximumSize: Int = JSONText.maximumCredentialsSize
    ) throws(JSONFailure) {
        guard bytes.count <= maximumSize else { throw .tooLong(limit: maximumSize) }
        guard isValidUTF8(bytes) else { throw .notUTF8 }
        var reader = JSONReader(bytes)
        self = try reader.document()
    }

    /// The last member of this name; nil if this is no object or has none.
    package subscript(name: String) -> JSONText? {
        guard case .object(let members) = self else { return nil }
        // By bytes: Swift's equality takes the Kelvin sign for a K.
        return members.last { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// The text of an object's member; nil if there is none or it is null.
    ///
    /// A member of another type is an error: nothing else is guessed from it.
    package func string(_ name: String) throws(JSONFailure) -> String? {
        guard case .object = self else { throw .notAnObject }
        return switch self[name] {
        case nil, .null: nil
        case .string(let text): text
        default: throw .unexpectedType(member: name)
        }
    }

    /// The texts of those members that there are.
    package func strings(_ names: [String]) throws(JSONFailure) -> [String: String] {
        var texts: [String: String] = [:]
        for name in names { texts[name] = try string(name) }
        return texts
    }
}

/// Why a text is not the JSON that was expected; no case holds anything of it.
package enum JSONFailure: Error, Sendable, Hashable {
    case tooLong(limit: Int)
    case tooDeep(offset: Int)
    case notUTF8
    case truncated
    case malformed(offset: Int)
    case notAnObject
    /// `member` is a name that the reader asked for, not one that was read.
    case unexpectedType(member: String)

    /// Continues the sentence "it is not JSON: …".
    package var message: String {
        switch self {
        case .tooLong(let limit): "it is larger than \(limit) bytes"
        case .tooDeep(let offset):
            "it is nested deeper than \(JSONText.maximumDepth) levels at byte \(offset)"
        case .notUTF8: "it is not UTF-8"
        case .truncated: "it ends too early"
        case .malformed(let offset): "byte \(offset) is unexpected"
        case .notAnObject: "it is not an object"
        case .unexpectedType(let member): "'\(member)' is of another type"
        }
    }
}
