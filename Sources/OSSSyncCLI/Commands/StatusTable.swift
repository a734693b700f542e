internal import OSSSync

/// What each direction would do with the items that were found, put together by their keys.
///
/// A direction may find an item later than the others, once it is known what lies beneath it.
struct StatusTable {
    struct Item {
        let key: String
        let shown: String
        private(set) var steps: [SyncDirection: PlannedStep] = [:]

        init(_ step: PlannedStep) {
            (key, shown) = (step.key, step.displayKey)
            add(step)
        }

        mutating func add(_ step: PlannedStep) { steps[step.direction] = step }

        fileprivate func word(_ direction: SyncDirection) -> String {
            steps[direction].map(\.action.column) ?? "-"
        }

        /// The line of the item; what is long in it stands last.
        func text(_ width: Int) -> String {
            let columns = StatusTable.directions.map { padded(word($0), to: width) }
            let size = steps.values.map(\.size).max() ?? 0
            return "  " + columns.joined() + shown + (size > 0 ? " (\(sizeText(size)))" : "")
        }

        /// Why, once for all directions that say the same.
        var reasons: [String] {
            var found: [(directions: [String], reason: String)] = []
            for direction in StatusTable.directions {
                guard let reason = steps[direction]?.reason else { continue }
                if let index = found.firstIndex(where: { $0.reason == reason }) {
                    found[index].directions.append(direction.rawValue)
                } else {
                    found.append(([direction.rawValue], reason))
                }
            }
            guard found.count > 1 else { return found.map(\.reason) }
            return found.map { $0.directions.joined(separator: ", ") + ": " + $0.reason }
        }
    }

    static let directions: [SyncDirection] = [.pull, .push, .sync]
    /// Of columns whose words are not known yet.
    static let widest = 14
    private static let most = 512

    /// In the order in which they were met.
    private var items: [Item] = []
    private var indices: [String: Int] = [:]

    /// Columns wide enough for the words of all items.
    static func width(of items: [Item]) -> Int {
        let words = items.flatMap { item in directions.map { item.word($0).utf8.count } }
        return max(4, words.max() ?? 0) + 2
    }

    static func heading(_ width: Int) -> String {
        "  " + directions.map { padded($0.rawValue, to: width) }.joined() + "item"
    }

    /// Takes a step; items that are not waited for any more.
    mutating func add(_ step: PlannedStep) -> [Item] {
        if let index = indices[step.key] {
            items[index].add(step)
            return []
        }
        let over = items.count == Self.most ? take(Self.most / 2) : []
        indices[step.key] = items.count
        items.append(Item(step))
        return over
    }

    mutating func takeAll() -> [Item] { take(items.count) }

    private mutating func take(_ count: Int) -> [Item] {
        let first = Array(items.prefix(count))
        items.removeFirst(count)
        indices = [:]
        for (index, item) in items.enumerated() { indices[item.key] = index }
        return first
    }
}

extension ItemAction {
    /// What a direction would do, in one or two words.
    fileprivate var column: String {
        switch self {
        case .download, .upload, .conflict, .skip, .forget: rawValue
        case .deleteLocal: "delete here"
        case .deleteRemote: "delete there"
        case .copyLocal, .copyRemote: "rename"
        case .adopt: "compare"
        case .mode: "permissions"
        }
    }
}
