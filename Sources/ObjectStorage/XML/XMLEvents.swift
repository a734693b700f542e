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
    /// The places of the name, and at the end of a leaf of its text, in the collector's bytes.
    let name: Range<Int>
    let text: Range<Int>
}

/// Collects what the parser's callbacks report, flat, so that no callback allocates for itself,
/// fails or calls back.
final class XMLEventCollector {
    private struct OpenElement {
        let element: XMLElement
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
    func removeEvents() {
        events.removeAll(keepingCapacity: true)
        bytes.removeSubrange(..<textStart)
        textStart = 0
    }

    func fail(_ failure: XMLFailure) {
        if self.failure == nil { self.failure = failure }
    }

    func open(_ name: String) {
        guard stack.count < limits.depth else { return fail(.tooDeep(limit: limits.depth)) }
        // Text between elements says nothing.
        bytes.removeLast(bytes.count - textStart)
        let parent = stack.last?.element ?? .unknown
        if !stack.isEmpty { stack[stack.count - 1].hasElements = true }
        let element = XMLElement(name: name)
        stack.append(OpenElement(element: element, name: name))
        let start = bytes.count
        bytes += name.utf8
        textStart = bytes.count
        events.append(
            XMLEvent(
                kind: .open,
                element: element,
                parent: parent,
                depth: stack.count,
                isLeaf: false,
                name: start..<textStart,
                text: textStart..<textStart
            )
        )
    }

    func append(_ text: UnsafeRawBufferPointer) {
        unsafe bytes.append(contentsOf: text)
        guard bytes.count - textStart > limits.textBytes else { return }
        fail(.textTooLong(element: stack.last?.name ?? "", limit: limits.textBytes))
    }

    func close() {
        guard let closed = stack.popLast() else { return }
        let isLeaf = !closed.hasElements
        if !isLeaf { bytes.removeLast(bytes.count - textStart) }
        let text = textStart..<bytes.count
        let start = bytes.count
        bytes += closed.name.utf8
        textStart = bytes.count
        events.append(
            XMLEvent(
                kind: .close,
                element: closed.element,
                parent: stack.last?.element ?? .unknown,
                depth: stack.count + 1,
                isLeaf: isLeaf,
                name: start..<textStart,
                text: text
            )
        )
    }
}
