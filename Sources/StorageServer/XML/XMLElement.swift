internal import CExpat

/// An element of a request's document, read whole: request bodies are at most a few megabytes.
final class XMLElement {
    let name: String
    private(set) var children: [XMLElement] = []
    fileprivate(set) var bytes: [UInt8] = []

    fileprivate init(name: String) {
        self.name = name
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    func first(_ name: String) -> XMLElement? {
        children.first { $0.name == name }
    }

    func all(_ name: String) -> [XMLElement] {
        children.filter { $0.name == name }
    }

    fileprivate func append(_ child: XMLElement) {
        children.append(child)
    }

    /// Parses `document`; nil if it is not well-formed, deeper than 16 elements, or declares a
    /// document type.
    ///
    /// Official clients write control characters of keys as `&#1;`, which XML 1.0 forbids and the
    /// service accepts: they pass the parser as code points of a private plane.
    static func parse(_ document: [UInt8]) -> XMLElement? {
        let builder = TreeBuilder()
        guard let parser = unsafe XML_ParserCreate("UTF-8") else { return nil }
        defer { unsafe XML_ParserFree(parser) }
        unsafe XML_SetUserData(parser, Unmanaged.passUnretained(builder).toOpaque())
        unsafe XML_SetElementHandler(
            parser,
            { data, name, _ in
                guard let data = unsafe data, let name = unsafe name else { return }
                unsafe TreeBuilder.from(data).open(String(cString: name))
            },
            { data, _ in
                guard let data = unsafe data else { return }
                unsafe TreeBuilder.from(data).close()
            }
        )
        unsafe XML_SetCharacterDataHandler(parser) { data, text, length in
            guard let data = unsafe data, let text = unsafe text else { return }
            let raw = unsafe UnsafeRawBufferPointer(start: text, count: Int(length))
            unsafe TreeBuilder.from(data).add([UInt8](raw))
        }
        unsafe XML_SetStartDoctypeDeclHandler(parser) { data, _, _, _, _ in
            guard let data = unsafe data else { return }
            unsafe TreeBuilder.from(data).isRefused = true
        }
        let input = hidingControlReferences(document)
        let status = unsafe input.withUnsafeBytes { buffer in
            unsafe XML_Parse(
                parser,
                buffer.baseAddress?.assumingMemoryBound(to: CChar.self),
                Int32(buffer.count),
                1
            )
        }
        return status == XML_STATUS_OK && !builder.isRefused ? builder.root : nil
    }
}

/// Builds the tree from the parser's events.
private final class TreeBuilder {
    private(set) var root: XMLElement?
    private var stack: [XMLElement] = []
    var isRefused = false

    static func from(_ data: UnsafeMutableRawPointer) -> TreeBuilder {
        unsafe Unmanaged<TreeBuilder>.fromOpaque(data).takeUnretainedValue()
    }

    func open(_ name: String) {
        if stack.count >= 16 { isRefused = true }
        let element = XMLElement(name: name)
        if let parent = stack.last {
            if !isRefused { parent.append(element) }
        } else {
            root = element
        }
        stack.append(element)
    }

    func close() {
        guard let element = stack.popLast() else { return }
        element.bytes = restoringControlCharacters(element.bytes)
    }

    func add(_ bytes: [UInt8]) {
        stack.last?.bytes.append(contentsOf: bytes)
    }
}

/// Where forbidden references wait for the end of parsing: U+10F800 plus the control character.
private let firstStandIn: UInt32 = 0x10_F800

private func hidingControlReferences(_ document: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(document.count)
    var index = 0
    while index < document.count {
        guard document[index] == UInt8(ascii: "&"),
            let (value, length) = controlReference(document, at: index),
            let scalar = Unicode.Scalar(firstStandIn + value)
        else {
            result.append(document[index])
            index += 1
            continue
        }
        result.append(contentsOf: String(Character(scalar)).utf8)
        index += length
    }
    return result
}

/// Reads `&#N;` or `&#xN;` of a control character that XML 1.0 forbids.
private func controlReference(_ bytes: [UInt8], at start: Int) -> (UInt32, Int)? {
    let window = bytes[start..<min(start + 8, bytes.count)]
    guard window.count >= 4, window[start + 1] == UInt8(ascii: "#"),
        let end = window.firstIndex(of: UInt8(ascii: ";"))
    else { return nil }
    let digits = String(decoding: window[(start + 2)..<end], as: UTF8.self)
    let isHexadecimal = digits.hasPrefix("x") || digits.hasPrefix("X")
    let number = isHexadecimal ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    guard let number, number < 32, ![9, 10, 13].contains(number) else { return nil }
    return (number, end - start + 1)
}

private func restoringControlCharacters(_ bytes: [UInt8]) -> [UInt8] {
    // The stand-ins are the only scalars of F4 8F A0 in these documents.
    guard bytes.contains(0xF4) else { return bytes }
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
        if index + 3 < bytes.count, bytes[index] == 0xF4, bytes[index + 1] == 0x8F,
            bytes[index + 2] == 0xA0, bytes[index + 3] & 0xE0 == 0x80
        {
            result.append(bytes[index + 3] & 0x1F)
            index += 4
        } else {
            result.append(bytes[index])
            index += 1
        }
    }
    return result
}
