#if SystemLibraries
internal import CExpat
internal import SyncModel

/// Reads a document piece by piece into the events of an ``XMLEventCollector``.
///
/// Safe, because the parser and its callbacks' context never leave this type, live as long as it
/// does, and are used by its one owner only.
@safe struct XMLReader: ~Copyable {
    private let parser: OpaquePointer
    private let context: UnsafeMutablePointer<XMLCallbackContext>
    private let limits: XMLLimits
    private var fed = 0

    init(limits: XMLLimits) {
        // Given here, an encoding overrules what the document declares; a declaration of another
        // one is refused below.
        guard let parser = unsafe XML_ParserCreate("UTF-8") else {
            preconditionFailure("out of memory")
        }
        unsafe self.parser = parser
        self.limits = limits
        unsafe context = .allocate(capacity: 1)
        unsafe context.initialize(to: XMLCallbackContext(parser: parser, limits: limits))
        unsafe XML_SetUserData(parser, context)
        unsafe XML_SetElementHandler(
            parser,
            { data, name, _ in
                let name = unsafe name.map { unsafe String(cString: $0) } ?? ""
                unsafe collect(data) { $0.open(name) }
            },
            { data, _ in unsafe collect(data) { $0.close() } }
        )
        unsafe XML_SetCharacterDataHandler(parser) { data, text, length in
            let text = unsafe UnsafeRawBufferPointer(start: text, count: Int(length))
            unsafe collect(data) { unsafe $0.append(text) }
        }
        unsafe XML_SetStartDoctypeDeclHandler(parser) { data, _, _, _, _ in
            unsafe collect(data) { $0.fail(.doctype) }
        }
        unsafe XML_SetXmlDeclHandler(parser) { data, _, encoding, _ in
            guard let name = unsafe encoding.map({ unsafe String(cString: $0) }) else { return }
            guard name.lowercased() != "utf-8", name.lowercased() != "us-ascii" else { return }
            unsafe collect(data) { $0.fail(.encoding(name)) }
        }
    }

    deinit {
        unsafe XML_ParserFree(parser)
        unsafe context.deinitialize(count: 1)
        unsafe context.deallocate()
    }

    /// Parses `chunk`; its events stay until ``drain(_:)``.
    mutating func feed(_ chunk: UnsafeRawBufferPointer) throws(XMLFailure) {
        var chunk = unsafe chunk[...]
        if fed == 0 {
            // S3 sends blanks while it is still working on the result.
            while let first = unsafe chunk.first, first <= 0x20 { unsafe chunk.removeFirst() }
        }
        let rest = unsafe UnsafeRawBufferPointer(rebasing: chunk)
        guard let base = rest.baseAddress, unsafe !rest.isEmpty else { return }
        fed += rest.count
        guard fed <= limits.documentBytes else {
            throw .tooLarge(limit: limits.documentBytes)
        }
        let status = unsafe XML_Parse(
            parser,
            base.assumingMemoryBound(to: CChar.self),
            Int32(rest.count),
            0
        )
        if let failure = unsafe context.pointee.collector.failure { throw failure }
        guard status == XML_STATUS_OK else { throw currentFailure() }
    }

    /// Throws unless the root has ended.
    mutating func finish() throws(XMLFailure) {
        let status = unsafe XML_Parse(parser, nil, 0, 1)
        if let failure = unsafe context.pointee.collector.failure { throw failure }
        guard status == XML_STATUS_OK else { throw .truncated }
    }

    /// Gives every event so far to `body`, with the bytes that its ranges are places in.
    mutating func drain(
        _ body: (_ event: XMLEvent, _ bytes: [UInt8]) throws(XMLFailure) -> Void
    ) throws(XMLFailure) {
        let bytes = unsafe context.pointee.collector.bytes
        let events = unsafe context.pointee.collector.events
        for index in events.indices { try body(events[index], bytes) }
        unsafe context.pointee.collector.removeEvents()
    }

    private func currentFailure() -> XMLFailure {
        let code = unsafe XML_GetErrorCode(parser)
        let reason = unsafe XML_ErrorString(code).map { unsafe String(cString: $0) } ?? "unknown"
        let line = unsafe XML_GetCurrentLineNumber(parser)
        return .malformed(reason: reason, line: Int(line))
    }
}

/// What a parser's callbacks are given.
///
/// A value behind a pointer and not a class: there are dozens of callbacks for each object of a
/// listing, and a class's reference counts and exclusivity checks took two fifths of the time of
/// reading it.
///
/// Safe, because only callbacks of this parser use it, while the reader that owns both is alive.
@safe private struct XMLCallbackContext {
    let parser: OpaquePointer
    var collector: XMLEventCollector

    init(parser: OpaquePointer, limits: XMLLimits) {
        unsafe self.parser = parser
        collector = XMLEventCollector(limits: limits)
    }
}

/// Gives a callback's event to the collector, and stops the parser as soon as that refuses.
private func collect(
    _ data: UnsafeMutableRawPointer?,
    _ body: (inout XMLEventCollector) -> Void
) {
    guard let data = unsafe data else { preconditionFailure("expat keeps its user data") }
    let context = unsafe data.assumingMemoryBound(to: XMLCallbackContext.self)
    // Expat may still report what it had begun when it was stopped.
    guard unsafe context.pointee.collector.failure == nil else { return }
    unsafe body(&context.pointee.collector)
    if unsafe context.pointee.collector.failure != nil {
        unsafe XML_StopParser(context.pointee.parser, 0)
    }
}
#endif
