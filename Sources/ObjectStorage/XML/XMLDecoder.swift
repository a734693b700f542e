/// The end of an element, with its text if it is a leaf.
struct XMLField {
    let element: XMLElement
    let parent: XMLElement
    /// 1 for the root.
    let depth: Int
    let isLeaf: Bool
    /// What the places are in.
    let source: [UInt8]
    /// The place of the name of an unknown element.
    let namePlace: Range<Int>
    let textPlace: Range<Int>

    var bytes: ArraySlice<UInt8> { source[textPlace] }
    var text: String { String(decoding: bytes, as: UTF8.self) }
    var name: String {
        element == .unknown
            ? String(decoding: source[namePlace], as: UTF8.self) : element.rawValue
    }
}

/// Makes a value of one kind of document, element by element.
protocol XMLDecoder {
    associatedtype Value

    var root: XMLElement { get }
    mutating func open(_ element: XMLElement, parent: XMLElement) throws(XMLFailure)
    mutating func close(_ field: XMLField) throws(XMLFailure)
    func value() throws(XMLFailure) -> Value
}

extension XMLDecoder {
    mutating func open(_ element: XMLElement, parent: XMLElement) throws(XMLFailure) {}
}

/// Decodes a document that comes in pieces; not valid before ``finish()`` has returned.
struct XMLStream<Decoder: XMLDecoder>: ~Copyable {
    private var reader: XMLReader
    private var decoder: Decoder

    init(_ decoder: Decoder, limits: XMLLimits) {
        self.decoder = decoder
        reader = XMLReader(limits: limits)
    }

    mutating func feed(_ chunk: UnsafeRawBufferPointer) throws(XMLFailure) {
        try unsafe reader.feed(chunk)
        try deliver()
    }

    consuming func finish() throws(XMLFailure) -> Decoder.Value {
        try reader.finish()
        try deliver()
        return try decoder.value()
    }

    private mutating func deliver() throws(XMLFailure) {
        try reader.drain { (event, bytes) throws(XMLFailure) in
            if event.depth == 1, event.element != decoder.root {
                let name = String(decoding: bytes[event.name], as: UTF8.self)
                throw .wrongRoot(
                    found: event.element == .unknown ? name : event.element.rawValue,
                    expected: decoder.root.rawValue
                )
            }
            switch event.kind {
            case .open: try decoder.open(event.element, parent: event.parent)
            case .close:
                try decoder.close(
                    XMLField(
                        element: event.element,
                        parent: event.parent,
                        depth: event.depth,
                        isLeaf: event.isLeaf,
                        source: bytes,
                        namePlace: event.name,
                        textPlace: event.text
                    )
                )
            }
        }
    }
}

/// Decodes a whole document; an error document in its place is thrown as such.
///
/// Blank space before the document is passed over: S3 sends it while it still works.
func decodeXML<Decoder: XMLDecoder>(
    _ bytes: [UInt8],
    _ decoder: Decoder,
    limits: XMLLimits = .result
) throws(XMLFailure) -> Decoder.Value {
    var bytes = bytes
    let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
    if let first = bytes.first, blanks.contains(first) {
        bytes = Array(bytes.drop { blanks.contains($0) })
    }
    do {
        return try decodeInChunks(bytes, decoder, limits: limits)
    } catch .wrongRoot(let found, _) where found == XMLElement.error.rawValue {
        guard let document = ServiceErrorDocument(body: bytes) else { throw .truncated }
        throw .errorDocument(document)
    }
}

/// Chunks bound what is collected between two deliveries.
private func decodeInChunks<Decoder: XMLDecoder>(
    _ bytes: [UInt8],
    _ decoder: Decoder,
    limits: XMLLimits
) throws(XMLFailure) -> Decoder.Value {
    let chunkSize = 64 << 10
    var stream = XMLStream(decoder, limits: limits)
    var failure: XMLFailure?
    unsafe bytes.withUnsafeBytes { whole in
        var offset = 0
        while offset < whole.count, failure == nil {
            let end = min(offset + chunkSize, whole.count)
            do throws(XMLFailure) {
                try unsafe stream.feed(UnsafeRawBufferPointer(rebasing: whole[offset..<end]))
            } catch {
                failure = error
            }
            offset = end
        }
    }
    if let failure { throw failure }
    return try stream.finish()
}
