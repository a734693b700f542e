package import SyncModel

/// A value with a form in JSON.
package protocol JSONValue {
    /// Nil if `json` is not what ``json`` returns.
    init?(json: JSONText)
    var json: JSONText { get }
}

/// A value with members, each of which is declared once, for reading and for writing.
///
///     static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
///         Self(name: try fields("name", value?.name), size: try fields("size", value?.size))
///     }
///
/// Members that are not declared are ignored when they are read.
package protocol JSONObject: JSONValue {
    /// True for an array of the members without their names.
    static var isRow: Bool { get }

    /// Makes the value of what `fields` returns for each member: those of `value` while it is
    /// written, those of a text, with `value` nil, while one is read.
    static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self
}

extension JSONObject {
    package static var isRow: Bool { false }

    package init?(json: JSONText) {
        var fields = JSONFields(reading: json)
        guard let value = try? Self.code(&fields, nil) else { return nil }
        self = value
    }

    package var json: JSONText {
        var fields = JSONFields(isRow: Self.isRow)
        // Of a value that is there, every member is.
        _ = try? Self.code(&fields, self)
        return fields.json
    }
}

/// The members of a JSON object, or the elements of an array, on their way in or out.
package struct JSONFields {
    /// What is read; nil while a value is written.
    private let source: JSONText?
    private let isRow: Bool
    /// Those that were written.
    private var members: [JSONText.Member] = []
    /// Elements of the source that were read.
    private var index = 0

    fileprivate init(reading source: JSONText) {
        self.source = source
        isRow = false
    }

    fileprivate init(isRow: Bool) {
        source = nil
        self.isRow = isRow
    }

    fileprivate var json: JSONText { isRow ? .array(members.map(\.value)) : .object(members) }

    /// A member that is always there.
    package mutating func callAsFunction<Value: JSONValue>(
        _ name: StaticString,
        _ value: Value?
    ) throws(JSONFailure) -> Value {
        guard let value = try optional(name, value) else {
            throw .unexpectedType(member: String(describing: name))
        }
        return value
    }

    /// A member that an object has not, and that is null in an array, if it is nil.
    package mutating func optional<Value: JSONValue>(
        _ name: StaticString,
        _ value: Value?
    ) throws(JSONFailure) -> Value? {
        let name = String(describing: name)
        guard let source else {
            if value != nil || isRow {
                members.append(JSONText.Member(name: name, value: value?.json ?? .null))
            }
            return value
        }
        guard let found = next(name, in: source), found != .null else { return nil }
        guard let value = Value(json: found) else { throw .unexpectedType(member: name) }
        return value
    }

    private mutating func next(_ name: String, in source: JSONText) -> JSONText? {
        guard case .array(let elements) = source else { return source[name] }
        defer { index += 1 }
        return index < elements.count ? elements[index] : nil
    }
}

// MARK: - Values

extension Bool: JSONValue {
    package init?(json: JSONText) {
        guard case .bool(let value) = json else { return nil }
        self = value
    }

    package var json: JSONText { .bool(self) }
}

extension String: JSONValue {
    package init?(json: JSONText) {
        guard case .string(let text) = json else { return nil }
        self = text
    }

    package var json: JSONText { .string(self) }
}

extension Int64: JSONValue {
    package init?(json: JSONText) {
        guard case .number(let digits) = json else { return nil }
        self.init(digits)
    }

    package var json: JSONText { .number(String(self)) }
}

extension Int: JSONValue {
    package init?(json: JSONText) {
        guard let value = Int64(json: json) else { return nil }
        self.init(exactly: value)
    }

    package var json: JSONText { Int64(self).json }
}

/// A text: not every reader of JSON keeps 64 bits of a number.
extension UInt64: JSONValue {
    package init?(json: JSONText) { self.init(String(json: json) ?? "") }

    package var json: JSONText { .string(String(self)) }
}

extension Array: JSONValue where Element: JSONValue {
    package init?(json: JSONText) {
        guard case .array(let elements) = json else { return nil }
        self = elements.compactMap(Element.init(json:))
        guard count == elements.count else { return nil }
    }

    package var json: JSONText { .array(map(\.json)) }
}

extension JSONValue where Self: RawRepresentable, RawValue == String {
    package init?(json: JSONText) { self.init(rawValue: String(json: json) ?? "") }

    package var json: JSONText { .string(rawValue) }
}

/// Bytes as a text: as they are if they are safe to print, else with `%XX` for all but printable
/// ASCII.
package struct PercentText: JSONValue, Sendable, Hashable {
    package let bytes: [UInt8]

    package init(_ bytes: some Sequence<UInt8>) { self.bytes = [UInt8](bytes) }

    package init?(json: JSONText) {
        guard let text = String(json: json), let bytes = percentDecode([UInt8](text.utf8)) else {
            return nil
        }
        self.bytes = bytes
    }

    package var json: JSONText {
        let isSafe = !bytes.contains { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "\"") }
        if isSafe, displayText(bytes).utf8.elementsEqual(bytes) {
            return .string(String(decoding: bytes, as: UTF8.self))
        }
        var text: [UInt8] = []
        for byte in bytes {
            let isPlain = (0x20...0x7E).contains(byte) && !"%\"\\".utf8.contains(byte)
            if isPlain { text.append(byte) } else { text.append(escaping: byte) }
        }
        return .string(String(decoding: text, as: UTF8.self))
    }
}

extension ObjectKey: JSONValue {
    package init?(json: JSONText) {
        guard let text = PercentText(json: json) else { return nil }
        self.init(text.bytes)
    }

    package var json: JSONText { PercentText(bytes).json }
}

extension CRC64: JSONValue {
    package init?(json: JSONText) {
        guard let value = UInt64(json: json) else { return nil }
        self.init(value: value)
    }

    package var json: JSONText { value.json }
}
