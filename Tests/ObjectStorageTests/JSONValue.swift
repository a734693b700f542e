/// Any value of a JSON file of expectations.
enum JSONValue: Decodable, Sendable, Equatable {
    case null
    case boolean(Bool)
    case number(Int64)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .list(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    subscript(name: String) -> JSONValue {
        if case .object(let members) = self { members[name] ?? .null } else { .null }
    }

    var text: String? { if case .text(let value) = self { value } else { nil } }
    var number: Int64? { if case .number(let value) = self { value } else { nil } }
    var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    var list: [JSONValue] { if case .list(let value) = self { value } else { [] } }
    var members: [String: JSONValue] { if case .object(let value) = self { value } else { [:] } }
}
