internal import SyncModel

/// Names and values packed into one array, so that sorting a request's headers or query costs no
/// allocation for each of them.
struct CanonicalFields {
    private struct Field {
        let name: Range<Int>
        let value: Range<Int>
    }

    private var bytes: [UInt8] = []
    private var fields: [Field] = []

    init(capacity: Int) {
        bytes.reserveCapacity(capacity * 40)
        fields.reserveCapacity(capacity)
    }

    /// Adds a query parameter, encoded.
    mutating func add(parameter name: String, value: String) {
        let start = bytes.count
        appendPercentEncoded(name.utf8, keepsSlash: false, to: &bytes)
        let middle = bytes.count
        appendPercentEncoded(value.utf8, keepsSlash: false, to: &bytes)
        fields.append(Field(name: start..<middle, value: middle..<bytes.count))
    }

    /// Adds a header: the name in lower case, the value without blanks at its ends and, if asked
    /// for, with every run of blanks inside reduced to one space.
    mutating func add(header name: String, value: String, collapsesBlanks: Bool) {
        let start = bytes.count
        bytes += name.utf8
        for index in start..<bytes.count { bytes[index] = bytes[index].withoutCase }
        let middle = bytes.count
        bytes += value.utf8
        var end = middle
        for index in middle..<bytes.count {
            let byte = bytes[index]
            let isBlank = byte.isBlank
            if isBlank, end == middle || collapsesBlanks && bytes[end - 1] == 0x20 { continue }
            bytes[end] = isBlank && collapsesBlanks ? 0x20 : byte
            end += 1
        }
        while end > middle, bytes[end - 1].isBlank { end -= 1 }
        bytes.removeLast(bytes.count - end)
        fields.append(Field(name: start..<middle, value: middle..<bytes.count))
    }

    /// Sorts by name, then by value, bytewise.
    mutating func sortParameters() {
        let bytes = bytes
        fields.sort { left, right in
            switch compare(left.name, right.name, in: bytes) {
            case 0: compare(left.value, right.value, in: bytes) < 0
            case let order: order < 0
            }
        }
    }

    /// Sorts by name, bytewise; several values of one name keep their order.
    mutating func sortHeaders() {
        let bytes = bytes
        fields.sort { left, right in
            switch compare(left.name, right.name, in: bytes) {
            case 0: left.name.lowerBound < right.name.lowerBound
            case let order: order < 0
            }
        }
    }

    /// Appends `name=value&…`; an empty value leaves the equals sign only where it is kept.
    func appendQuery(to text: inout [UInt8], keepsEmptyValues: Bool) {
        for (index, field) in fields.enumerated() {
            if index > 0 { text.append(UInt8(ascii: "&")) }
            text += bytes[field.name]
            guard keepsEmptyValues || !field.value.isEmpty else { continue }
            text.append(UInt8(ascii: "="))
            text += bytes[field.value]
        }
    }

    /// Appends `name:value\n…`; values of one name are joined with commas.
    func appendHeaders(to text: inout [UInt8]) {
        for (index, field) in fields.enumerated() {
            if index > 0, bytes[fields[index - 1].name].elementsEqual(bytes[field.name]) {
                text[text.count - 1] = UInt8(ascii: ",")
            } else {
                text += bytes[field.name]
                text.append(UInt8(ascii: ":"))
            }
            text += bytes[field.value]
            text.append(UInt8(ascii: "\n"))
        }
    }

    /// Appends the names joined with semicolons, each once.
    func appendNames(to text: inout [UInt8]) {
        for (index, field) in fields.enumerated() {
            if index > 0 {
                if bytes[fields[index - 1].name].elementsEqual(bytes[field.name]) { continue }
                text.append(UInt8(ascii: ";"))
            }
            text += bytes[field.name]
        }
    }
}

/// True if two header names are the same: ASCII case does not count.
func isSameHeader(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count && hasHeaderPrefix(left, right)
}

/// True if `name` begins with `prefix`: ASCII case does not count.
///
/// In place, as each header of each request is asked several times.
func hasHeaderPrefix(_ name: String, _ prefix: String) -> Bool {
    var (name, prefix) = (name, prefix)
    return name.withUTF8 { name in
        prefix.withUTF8 { prefix in
            guard name.count >= prefix.count else { return false }
            for index in 0..<prefix.count
            where unsafe name[index].withoutCase != prefix[index].withoutCase {
                return false
            }
            return true
        }
    }
}

/// Negative if `left` is first, positive if `right` is, 0 if they are equal.
private func compare(_ left: Range<Int>, _ right: Range<Int>, in bytes: [UInt8]) -> Int {
    let shared = min(left.count, right.count)
    for offset in 0..<shared {
        let a = bytes[left.lowerBound + offset]
        let b = bytes[right.lowerBound + offset]
        if a != b { return a < b ? -1 : 1 }
    }
    return left.count - right.count
}
