/// One start or end tag.
struct XMLEvent {
    enum Kind {
        case open
        case close
    }

    let kind: Kind
    let element: XMLElement
    let parent: XMLElement
    /// 1 for the root.
    let depth: Int
    /// True at the end of an element without elements inside.
    let isLeaf: Bool
    /// The place in the collector's bytes of the name of an unknown element; empty for a known one.
    let name: Range<Int>
    /// The place of the text at the end of a leaf.
    let text: Range<Int>
}

/// Collects what the parser's callbacks report, flat, so that no callback allocates for itself,
/// fails or calls back.
struct XMLEventCollector {
    private struct OpenElement {
        let element: XMLElement
        /// Empty for a known element.
        let name: String
        var hasElements = false
    }

    private let limits: XMLLimits
    private(set) var events: [XMLEvent] = []
    private(set) var bytes: [UInt8] = []
    private var stack: [OpenElement] = []
    /// Where the text of the innermost element begins.
    private var textStart = 0
    /// The first thing that was refused.
    private(set) var failure: XMLFailure?

    init(limits: XMLLimits) {
        self.limits = limits
        stack.reserveCapacity(limits.depth)
    }

    /// Forgets the events; the text of an element that is still open stays.
    mutating func removeEvents() {
        events.removeAll(keepingCapacity: true)
        bytes.removeSubrange(..<textStart)
        textStart = 0
    }

    mutating func fail(_ failure: XMLFailure) {
        if self.failure == nil { self.failure = failure }
    }

    mutating func open(_ name: String) {
        guard stack.count < limits.depth else { return fail(.tooDeep(limit: limits.depth)) }
        // Text between elements says nothing.
        bytes.removeLast(bytes.count - textStart)
        let element = XMLElement(name: name)
        let opened = OpenElement(element: element, name: element == .unknown ? name : "")
        let place = append(opened.name)
        let parent = stack.last?.element ?? .unknown
        if !stack.isEmpty { stack[stack.count - 1].hasElements = true }
        stack.append(opened)
        events.append(
            XMLEvent(
                kind: .open,
                element: element,
                parent: parent,
                depth: stack.count,
                isLeaf: false,
                name: place,
                text: textStart..<textStart
            )
        )
    }

    mutating func append(_ text: UnsafeRawBufferPointer) {
        unsafe bytes.append(contentsOf: text)
        guard bytes.count - textStart > limits.textBytes, let last = stack.last else { return }
        let name = last.element == .unknown ? last.name : last.element.rawValue
        fail(.textTooLong(element: name, limit: limits.textBytes))
    }

    mutating func close() {
        guard let closed = stack.popLast() else { return }
        if closed.hasElements { bytes.removeLast(bytes.count - textStart) }
        let text = textStart..<bytes.count
        let place = append(closed.name)
        events.append(
            XMLEvent(
                kind: .close,
                element: closed.element,
                parent: stack.last?.element ?? .unknown,
                depth: stack.count + 1,
                isLeaf: !closed.hasElements,
                name: place,
                text: text
            )
        )
    }

    /// Puts a name behind all text so far, and what follows behind the name.
    private mutating func append(_ name: String) -> Range<Int> {
        let start = bytes.count
        if !name.isEmpty { bytes += name.utf8 }
        textStart = bytes.count
        return start..<textStart
    }
}
