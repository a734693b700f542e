/// Finds elements in the small documents that requests carry.
enum MarkupReader {
    /// The texts of all elements of a name, in order, references resolved.
    static func values(of name: String, in document: [UInt8]) -> [[UInt8]] {
        let (open, close) = ([UInt8]("<\(name)>".utf8), [UInt8]("</\(name)>".utf8))
        var values: [[UInt8]] = []
        var rest = document[...]
        while let start = position(of: open, in: rest) {
            rest = rest[(start + open.count)...]
            guard let end = position(of: close, in: rest) else { break }
            values.append(resolved(rest[..<end]))
            rest = rest[(end + close.count)...]
        }
        return values
    }

    private static func position(of needle: [UInt8], in hay: ArraySlice<UInt8>) -> Int? {
        guard hay.count >= needle.count else { return nil }
        return (hay.startIndex...(hay.endIndex - needle.count)).first { start in
            hay[start] == needle[0] && hay[start..<(start + needle.count)].elementsEqual(needle)
        }
    }

    private static let names: [String: UInt8] = [
        "amp": UInt8(ascii: "&"), "lt": UInt8(ascii: "<"), "gt": UInt8(ascii: ">"),
        "quot": UInt8(ascii: "\""),
    ]

    private static func resolved(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "&"),
                let end = rest.firstIndex(of: UInt8(ascii: ";"))
            else {
                result.append(byte)
                continue
            }
            let name = String(decoding: rest[..<end], as: UTF8.self)
            if let character = names[name] ?? UInt8(name.dropFirst()) { result.append(character) }
            rest = rest[(end + 1)...]
        }
        return result
    }
}
