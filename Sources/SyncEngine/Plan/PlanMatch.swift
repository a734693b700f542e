internal import SyncModel
internal import SyncPlanner

/// Brings the items of a run and the lines of a saved plan together.
///
/// Both come in the order of a plan: by key, but for names that wait for what lies beneath them. An
/// item or line is therefore certain to have no partner once the other side has passed its key and
/// all keys that begin with it; until then it is held. At one moment those that are held begin
/// with each other: never more than a key has bytes.
struct PlanMatch {
    enum Step: Sendable, Hashable {
        case matched(PlannedItem, PlanLine)
        /// The run has something for a key that the plan does not.
        case unplanned(PlannedItem)
        /// The plan has a key that the run did not come to.
        case missed(PlanLine)
    }

    private var items: [PlannedItem] = []
    private var lines: [PlanLine] = []
    /// The greatest keys so far.
    private var lastItem: ObjectKey?
    private var lastLine: ObjectKey?
    private var hasAllLines = false

    /// True if a line must be added before an item of this key.
    func needsLine(before key: ObjectKey) -> Bool {
        !hasAllLines && lastLine.map { $0 < key } ?? true
    }

    /// True if no line is of this key, or comes to be.
    func hasNoLine(of key: ObjectKey) -> Bool {
        guard !lines.contains(where: { $0.key == key }) else { return false }
        return hasAllLines || lastLine.map { key < $0 && !$0.hasPrefix(key) } ?? false
    }

    /// Takes the next item; ``needsLine(before:)`` is false.
    mutating func add(_ item: PlannedItem) -> [Step] {
        let key = item.entry.key
        if lastItem.map({ $0 < key }) ?? true { lastItem = key }
        var steps: [Step] = []
        if let index = lines.firstIndex(where: { $0.key == key }) {
            steps.append(.matched(item, lines.remove(at: index)))
        } else if hasNoLine(of: key) {
            steps.append(.unplanned(item))
        } else {
            items.append(item)
        }
        guard let lastItem else { return steps }
        return missed { $0 < lastItem && !lastItem.hasPrefix($0) } + steps
    }

    /// Takes the next line; nil after the last one.
    mutating func add(_ line: PlanLine?) -> [Step] {
        guard let line else {
            hasAllLines = true
            return unplanned { _ in true }
        }
        let key = line.key
        if lastLine.map({ $0 < key }) ?? true { lastLine = key }
        var steps: [Step] = []
        if let index = items.firstIndex(where: { $0.entry.key == key }) {
            steps.append(.matched(items.remove(at: index), line))
        } else {
            lines.append(line)
        }
        guard let lastLine else { return steps }
        return unplanned { $0 < lastLine && !lastLine.hasPrefix($0) } + steps
    }

    /// Says that no item follows; all lines are here.
    mutating func finish() -> [Step] { missed { _ in true } }

    private mutating func missed(where isPast: (ObjectKey) -> Bool) -> [Step] {
        let past = lines.filter { isPast($0.key) }
        if !past.isEmpty { lines.removeAll { isPast($0.key) } }
        return past.map { .missed($0) }
    }

    private mutating func unplanned(where isPast: (ObjectKey) -> Bool) -> [Step] {
        let past = items.filter { isPast($0.entry.key) }
        if !past.isEmpty { items.removeAll { isPast($0.entry.key) } }
        return past.map { .unplanned($0) }
    }
}
