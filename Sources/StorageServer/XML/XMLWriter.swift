/// Writes a document of the protocol: no attributes but a namespace at the root.
struct XMLWriter {
    private var bytes: [UInt8] = [UInt8](#"<?xml version="1.0" encoding="UTF-8"?>"#.utf8)
    private let root: String
    private let hasNamespace: Bool

    init(root: String, namespace: String? = nil) {
        self.root = root
        hasNamespace = namespace != nil
        let attribute = namespace.map { " xmlns=\"\($0)\"" } ?? ""
        bytes.append(contentsOf: "\n<\(root)\(attribute)>".utf8)
    }

    mutating func element(_ name: String, _ text: String) {
        open(name)
        append(text.utf8)
        close(name)
    }

    /// Control characters go out as they are, as OSS does, or as references, as S3 does: clients
    /// ask for `encoding-type=url`.
    mutating func element(_ name: String, _ text: [UInt8]) {
        open(name)
        append(text)
        close(name)
    }

    /// An element with elements inside.
    mutating func group(_ name: String, _ content: (inout XMLWriter) -> Void) {
        open(name)
        content(&self)
        close(name)
    }

    private mutating func open(_ name: String) {
        bytes.append(UInt8(ascii: "<"))
        bytes.append(contentsOf: name.utf8)
        bytes.append(UInt8(ascii: ">"))
    }

    private mutating func close(_ name: String) {
        bytes.append(contentsOf: "</".utf8)
        bytes.append(contentsOf: name.utf8)
        bytes.append(UInt8(ascii: ">"))
    }

    private mutating func append(_ text: some Collection<UInt8>) {
        for byte in text {
            switch byte {
            case UInt8(ascii: "&"): bytes.append(contentsOf: "&amp;".utf8)
            case UInt8(ascii: "<"): bytes.append(contentsOf: "&lt;".utf8)
            case UInt8(ascii: ">"): bytes.append(contentsOf: "&gt;".utf8)
            case 0..<32 where hasNamespace && byte != 9 && byte != 10:
                bytes.append(contentsOf: "&#\(byte);".utf8)
            default: bytes.append(byte)
            }
        }
    }

    func finish() -> [UInt8] {
        bytes + [UInt8]("</\(root)>\n".utf8)
    }
}
