internal import OSSSync

/// A value in a JSON line.
protocol JSONField {
    func append(to text: inout String)
}

/// One JSON object on one line: members in the order of the literal, without those that are nil.
struct JSONLine: JSONField, Sendable, ExpressibleByDictionaryLiteral {
    /// The members.
    private var text = ""

    init(dictionaryLiteral members: (StaticString, (any JSONField)?)...) {
        for (name, value) in members {
            guard let value else { continue }
            if !text.isEmpty { text += "," }
            text += "\"\(name)\":"
            value.append(to: &text)
        }
    }

    /// Adds the members of another object.
    mutating func add(_ other: JSONLine) {
        if !text.isEmpty, !other.text.isEmpty { text += "," }
        text += other.text
    }

    /// The object, the time first, and the end of the line.
    func line(at time: String) -> String {
        var line: JSONLine = ["time": time]
        line.add(self)
        return "{\(line.text)}\n"
    }

    func append(to text: inout String) { text += "{\(self.text)}" }
}

/// A key as it is, for JSON has escapes of its own.
///
/// Bytes that are not UTF-8 cannot be in such a text: of a key that has some, the form that
/// terminals are shown is the next member, which is unambiguous.
struct JSONKey: JSONField {
    private let key: String
    private let shown: String

    init(_ key: String, _ shown: String) {
        self.key = key
        self.shown = shown
    }

    func append(to text: inout String) {
        key.append(to: &text)
        guard String(terminalSafe: key) != shown else { return }
        text += ",\"key_escaped\":"
        shown.append(to: &text)
    }
}

extension JSONField where Self: FixedWidthInteger {
    func append(to text: inout String) { text += String(self) }
}

extension Int: JSONField {}
extension Int32: JSONField {}
extension Int64: JSONField {}

extension Bool: JSONField {
    func append(to text: inout String) { text += self ? "true" : "false" }
}

extension Double: JSONField {
    /// Three digits after the point are enough for seconds; a value that is no number is null.
    func append(to text: inout String) {
        text += isFinite ? decimalText(self, fractionDigits: 3) : "null"
    }
}

extension String: JSONField {
    func append(to text: inout String) { text += String(jsonQuoted: self) }
}

extension Array: JSONField where Element: JSONField {
    func append(to text: inout String) {
        text += "["
        for (index, value) in enumerated() {
            if index > 0 { text += "," }
            value.append(to: &text)
        }
        text += "]"
    }

    /// The list for a member that is left out of an object if it is empty.
    var ifAny: Self? { isEmpty ? nil : self }
}

/// `1.250` for 1.25 and three digits; halves are rounded away from zero.
func decimalText(_ value: Double, fractionDigits: Int) -> String {
    var scale = 1.0
    for _ in 0..<fractionDigits { scale *= 10 }
    let scaled = (value.magnitude * scale).rounded()
    guard scaled < 9e15 else { return value < 0 ? "-9e15" : "9e15" }
    let units = Int64(scaled)
    let sign = value < 0 && units > 0 ? "-" : ""
    guard fractionDigits > 0 else { return sign + String(units) }
    let fraction = String(units % Int64(scale))
    return sign + String(units / Int64(scale)) + "."
        + String(repeating: "0", count: fractionDigits - fraction.count) + fraction
}
