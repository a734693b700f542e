internal import ObjectStorage
internal import SyncModel

/// A small text file of osssync's state: a heading, a line for each value, and a checksum.
///
/// What was cut short or altered is told from what was written: a single wrong byte in a key range
/// or a count could cost files.
struct StateRecord: Sendable, Hashable {
    /// What the file is, with the version of its form.
    let heading: String
    /// Names, which have no spaces, with values, which may have any bytes; names may repeat.
    private(set) var values: [(name: String, value: [UInt8])] = []

    init(_ heading: String) {
        self.heading = heading
    }

    /// Nil for what was never written so.
    init?(_ heading: String, content: [UInt8]) {
        self.heading = heading
        var lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // The last one has its end as well.
        guard lines.popLast()?.isEmpty == true, lines.popLast() != nil,
            lines.first.map({ $0.elementsEqual(heading.utf8) }) == true
        else { return nil }
        for line in lines.dropFirst() {
            guard let end = line.firstIndex(of: UInt8(ascii: " ")),
                let value = percentDecode([UInt8](line[(end + 1)...]))
            else { return nil }
            values.append((String(decoding: line[..<end], as: UTF8.self), value))
        }
        guard self.content == content else { return nil }
    }

    var content: [UInt8] {
        var text = [UInt8](heading.utf8) + [UInt8(ascii: "\n")]
        for (name, value) in values {
            text += [UInt8](name.utf8) + [UInt8(ascii: " ")]
            Self.append(value, to: &text)
            text.append(UInt8(ascii: "\n"))
        }
        return text + [UInt8]("check \(CRC64(of: text).value)\n".utf8)
    }

    mutating func add(_ name: String, _ value: [UInt8]) { values.append((name, value)) }

    mutating func add(_ name: String, _ value: String) { add(name, [UInt8](value.utf8)) }

    mutating func add(_ name: String, _ value: Int) { add(name, String(value)) }

    mutating func add(_ name: String, _ value: Bool) { add(name, value ? "yes" : "no") }

    /// Every value of the name, in the order they were added.
    func all(_ name: String) -> [[UInt8]] {
        values.filter { $0.name == name }.map(\.value)
    }

    func bytes(_ name: String) -> [UInt8]? {
        values.first { $0.name == name }?.value
    }

    func text(_ name: String) -> String? {
        bytes(name).map { String(decoding: $0, as: UTF8.self) }
    }

    func number(_ name: String) -> Int? { text(name).flatMap { Int($0) } }

    func flag(_ name: String) -> Bool? {
        switch text(name) {
        case "yes": true
        case "no": false
        default: nil
        }
    }

    static func == (left: StateRecord, right: StateRecord) -> Bool {
        left.content == right.content
    }

    func hash(into hasher: inout Hasher) { hasher.combine(content) }

    // Keys and patterns can hold line ends.
    private static func append(_ value: [UInt8], to text: inout [UInt8]) {
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in value {
            if byte <= 0x20 || byte == 0x7F || byte == UInt8(ascii: "%") {
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            } else {
                text.append(byte)
            }
        }
    }
}
