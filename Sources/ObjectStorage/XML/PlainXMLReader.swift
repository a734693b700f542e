#if !SystemLibraries
internal import SyncModel

/// Reads a document into the events of an ``XMLEventCollector``; what is fed is kept until the end.
struct XMLReader: ~Copyable {
    private let limits: XMLLimits
    private var document: [UInt8] = []
    private var collector: XMLEventCollector

    init(limits: XMLLimits) {
        self.limits = limits
        collector = XMLEventCollector(limits: limits)
    }

    /// Keeps `chunk`.
    mutating func feed(_ chunk: UnsafeRawBufferPointer) throws(XMLFailure) {
        var chunk = unsafe chunk[...]
        if document.isEmpty {
            // S3 sends blanks while it is still working on the result.
            while let first = unsafe chunk.first, first <= 0x20 { unsafe chunk.removeFirst() }
        }
        unsafe document.append(contentsOf: chunk)
        guard document.count <= limits.documentBytes else {
            throw .tooLarge(limit: limits.documentBytes)
        }
    }

    /// Parses what was fed; throws unless the root has ended.
    mutating func finish() throws(XMLFailure) {
        var parser = try PlainXMLParser(document, collector)
        try parser.parse()
        collector = parser.collector
    }

    /// Gives every event so far to `body`, with the bytes that its ranges are places in.
    mutating func drain(
        _ body: (_ event: XMLEvent, _ bytes: [UInt8]) throws(XMLFailure) -> Void
    ) throws(XMLFailure) {
        for event in collector.events { try body(event, collector.bytes) }
        collector.removeEvents()
    }
}
#endif
