/// Items that wait for a later part of a run, as many as there is memory for.
struct WaitingItems<Item: Sendable>: Sendable {
    private(set) var items: [Item] = []
    /// False once those that waited were taken: what comes later waits for nothing.
    private(set) var isOpen = true
    private let limit: Int
    private let closes: Bool

    /// Without `closes`, others can wait after the first ones were taken.
    init(limit: Int, closes: Bool = true) {
        self.limit = limit
        self.closes = closes
    }

    /// False if there are too many already, or it is too late.
    mutating func add(_ item: Item) -> Bool {
        guard isOpen, items.count < limit else { return false }
        items.append(item)
        return true
    }

    /// Adds one that waited already.
    mutating func putBack(_ item: Item) { items.append(item) }

    mutating func take() -> [Item] {
        if closes { isOpen = false }
        defer { items = [] }
        return items
    }
}
