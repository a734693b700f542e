internal import OSSSync

/// One JSON object on one line, built field by field.
struct JSONLine: Sendable {
    private var text = "{"

    init() {}

    mutating func add(_ name: StaticString, _ value: String) {
        begin(name)
        Self.append(quoted: value, to: &text)
    }

    /// Adds a key as it is, for JSON has escapes of its own.
    ///
    /// Bytes that are not UTF-8 cannot be in such a text: of a key that has some, the form that
    /// terminals are shown (`shown`) is added, which is unambiguous.
    mutating func add(key: String, shown: String) {
        add("key", key)
        if String(terminalSafe: key) != shown { add("key_escaped", shown) }
    }

    mutating func add(_ name: StaticString, _ value: some FixedWidthInteger) {
        begin(name)
        text += String(value)
    }

    mutating func add(_ name: StaticString, _ value: Bool) {
        begin(name)
        text += value ? "true" : "false"
    }

    /// Three digits after the point are enough for seconds; a value that is no number is null.
    mutating func add(_ name: StaticString, _ value: Double) {
        begin(name)
        text += value.isFinite ? decimalText(value, fractionDigits: 3) : "null"
    }

    /// Adds nothing for nil.
    mutating func add(_ name: StaticString, ifPresent value: String?) {
        if let value { add(name, value) }
    }

    /// Adds a list of texts.
    mutating func add(_ name: StaticString, _ values: [String]) {
        begin(name)
        text += "["
        for (index, value) in values.enumerated() {
            if index > 0 { text += "," }
            Self.append(quoted: value, to: &text)
        }
        text += "]"
    }

    /// Adds a list of objects.
    mutating func add(_ name: StaticString, _ objects: [JSONLine]) {
        begin(name)
        text += "[" + objects.map(\.object).joined(separator: ",") + "]"
    }

    mutating func add(_ name: StaticString, _ value: JSONLine) {
        begin(name)
        text += value.object
    }

    private var object: String { text + "}" }

    /// The object and the end of the line.
    var line: String { object + "\n" }

    private mutating func begin(_ name: StaticString) {
        if text.utf8.count > 1 { text += "," }
        Self.append(quoted: String(describing: name), to: &text)
        text += ":"
    }

    private static func append(quoted value: String, to text: inout String) {
        text += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            // With what changes the direction of text, so that a line can be shown, too.
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{61C}", "\u{200E}", "\u{200F}",
                "\u{2028}"..."\u{202E}", "\u{2066}"..."\u{2069}", "\u{FEFF}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
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
