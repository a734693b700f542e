internal import ObjectStorage
internal import SyncModel

/// Decides which page of which range of keys is listed next, and where a long range is cut.
///
/// 1. The ranges are in key order, and each is listed page by page: the first ones first, so that
///    the reader, who reads them in order, waits as little as possible.
/// 2. A range that has more pages than expected is cut where `KeySpelling` guesses that the rest
///    of its keys are. A wrong guess makes a range that is empty or long: it costs a request, never
///    a key, because each key belongs to one range.
/// 3. A page that reaches into the next range, which was not begun, makes one range of both; so
///    does the last page of a listing, if that range was guessed.
///
/// The number of pages that are held, and of ranges that are cut, is bounded: see ``Limits``.
struct ListingRanges {
    /// What is listed ahead of the reader.
    struct Limits: Sendable {
        /// Requests at once.
        var width: Int
        /// Pages that a row of ranges has requested or holds for the reader; twice as many in all,
        /// and two more of the reader's own range.
        var pages: Int
    }

    /// A request to make, and what its answer belongs to.
    struct Step: Sendable {
        let number: Int
        var cursor: ListingCursor
        /// Pages that the answer will probably count as.
        let weight: Int
    }

    enum Next: Sendable {
        case list(Step)
        /// Once a page has arrived or was read.
        case later
        /// Everything is listed, or cannot be.
        case never
    }

    enum Taken: Sendable {
        case page([RemoteObject])
        case later
        case end
    }

    private enum State {
        case waiting
        case requested
        case idle(ListingCursor)
        case ended
        case failed(any Error)
    }

    private struct Page {
        let objects: [RemoteObject]
        /// Pages that it counts as: with long keys it takes as much memory as several.
        let weight: Int

        init(_ objects: [RemoteObject]) {
            self.objects = objects
            weight = 1 + objects.reduce(0) { $0 + $1.key.bytes.count } / ListingRanges.pageBytes
        }
    }

    private struct Part {
        let number: Int
        /// Of the ranges that the listing began with; those of one are listed by one prefix.
        let origin: Int
        var keys: KeyRange
        /// Pages that are likely; one for a range of unknown length.
        var expected: Int
        var state = State.waiting
        /// Pages that were listed.
        var listed = 0
        /// The last key of them, also if it is behind the range.
        var last: ObjectKey?
        /// Those that were not read.
        var unread: [Page] = []
        var isGuessed = false

        var isOver: Bool {
            switch state {
            case .ended, .failed: true
            case .waiting, .requested, .idle: false
            }
        }

        var isWaiting: Bool {
            if case .waiting = state { true } else { false }
        }

        /// Pages that it has or, once it is begun, will probably have at once.
        var promised: Int {
            if isWaiting { return 0 }
            return unread.reduce(0) { $0 + $1.weight } + (isOver ? 0 : max(1, expected - listed))
        }
    }

    /// Bytes of keys for which a page counts once.
    private static let pageBytes = 128 << 10
    /// Pages of a range that was guessed: longer ones would wait for long, each costs a request.
    private static let guessedPages = 4
    /// A range is cut when it has so many more pages than expected.
    private static let surplus = 2
    /// Pages that one range may hold.
    private static let pagesOfOne = 8
    /// Ranges that one is cut into; those that were not begun cost nothing.
    private static let piecesOfOne = 64
    /// No more ranges are cut while there are so many.
    private static let mostParts = 512
    /// Pages that may be listed in vain: one of so many, and these once that many pages are listed
    /// that a short listing is over.
    private static let freePages = 16
    private static let pagesPerFree = 4
    private static let pagesPerWasted = 6

    private let prefixes: [ObjectKey]
    private let limits: Limits
    private var parts: [Part] = []
    /// Parts that are not over.
    private var open = 0
    /// Pages that are requested or unread, by their weights.
    private var held = 0
    /// The weight of the last page.
    private var usualWeight = 1
    private var listed = 0
    /// Pages that were listed in vain, in thousandths: guessed ranges end within a page.
    private var wasted = 0
    private var spelling: KeySpelling
    private var nextNumber = 0

    /// Keys are those of the store.
    ///
    /// - Parameters:
    ///   - ranges: In ascending order.
    ///   - prefixes: What the keys of each range begin with.
    ///   - splits: Keys to cut the ranges behind, ascending.
    ///   - pagesPerSplit: Pages that are likely between two of them.
    ///   - constant: Bytes with which all keys begin.
    ///   - limits: What is listed ahead.
    init(
        _ ranges: [KeyRange],
        prefixes: [ObjectKey],
        splits: [ObjectKey],
        pagesPerSplit: Int,
        constant: Int,
        limits: Limits
    ) {
        self.prefixes = prefixes
        self.limits = limits
        spelling = KeySpelling(constant: constant)
        for (origin, range) in ranges.enumerated() {
            let pieces = range.cut(behind: splits)
            let expected = pieces.count > 1 ? pagesPerSplit : 1
            for piece in pieces { parts.append(part(piece, of: origin, expected: expected)) }
        }
        open = parts.count
    }

    private mutating func part(_ keys: KeyRange, of origin: Int, expected: Int) -> Part {
        nextNumber += 1
        return Part(number: nextNumber, origin: origin, keys: keys, expected: expected)
    }

    /// The request that is made next.
    mutating func next() -> Next {
        guard open > 0 else { return .never }
        // Pages of the ranges in front, and those that they will probably have.
        var before = 0
        for index in parts.indices {
            let part = parts[index]
            if index > 0 || part.unread.count > 1 {
                guard held < limits.pages * 2, before < limits.pages else { break }
            }
            defer { before += part.promised }
            guard part.unread.count < Self.pagesOfOne else { continue }
            let cursor: ListingCursor
            switch part.state {
            case .waiting:
                guard index == 0 || mayBegin(part, behind: before) else { continue }
                cursor = ListingCursor(part.keys, prefix: prefixes[part.origin])
            case .idle(let idle): cursor = idle
            case .requested, .ended, .failed: continue
            }
            parts[index].state = .requested
            held += usualWeight
            return .list(Step(number: part.number, cursor: cursor, weight: usualWeight))
        }
        return .later
    }

    /// False if what is begun will fill the room for pages, or too many guesses could be wrong.
    private func mayBegin(_ part: Part, behind before: Int) -> Bool {
        guard before + part.expected <= limits.pages else { return false }
        guard part.isGuessed else { return true }
        // Each could be behind the last key, which none of them knows before all are answered.
        let guesses = parts.count { $0.isGuessed && !$0.isWaiting && !$0.isOver }
        let free = min(Self.freePages, 2 + listed / Self.pagesPerFree)
        let allowed = free + listed / Self.pagesPerWasted
        return guesses < max(1, listed - 2) && wasted < allowed * 1_000
    }

    /// The keys that a page is used for that ends with `last`; nil if it is no longer needed.
    mutating func range(of step: Step, reaching last: ObjectKey?) -> KeyRange? {
        guard let index = index(of: step) else { return nil }
        // Where the store has no more keys, there is nothing in what was guessed.
        let isEnd = !step.cursor.hasMore
        while index + 1 < parts.count {
            let next = parts[index + 1]
            let isReached = last.map { parts[index].keys.isPassed(by: $0) } ?? false
            guard next.isWaiting, next.origin == parts[index].origin,
                isReached || isEnd && next.isGuessed
            else { break }
            parts[index].keys = KeyRange(from: parts[index].keys.lower, before: next.keys.upper)
            // Where a guess was wrong, nothing is known of what follows.
            let expected = parts[index].expected + next.expected
            parts[index].expected = next.isGuessed ? parts[index].listed + 1 : expected
            parts.remove(at: index + 1)
            open -= 1
        }
        return parts[index].keys
    }

    /// A page was listed: `keys` are all it has, `objects` those of the range; `step` is what
    /// continues it.
    mutating func accept(_ objects: [RemoteObject], _ keys: [ObjectKey], for step: Step) {
        held -= step.weight
        guard let index = index(of: step) else { return }
        listed += 1
        parts[index].listed += 1
        if !objects.isEmpty {
            let page = Page(objects)
            parts[index].unread.append(page)
            (held, usualWeight) = (held + page.weight, page.weight)
        }
        if limits.width > 1, open < Self.mostParts {
            spelling.learn(keys, behind: parts[index].last)
            parts[index].last = keys.last ?? parts[index].last
        }
        if parts[index].isGuessed {
            wasted += keys.isEmpty ? 1_000 : (keys.count - objects.count) * 1_000 / keys.count
        }
        let range = parts[index].keys
        let isPassed = keys.last.map { range.isPassed(by: $0.next) } ?? false
        guard step.cursor.hasMore, !isPassed else {
            parts[index].state = .ended
            open -= 1
            return dropRead()
        }
        parts[index].state = .idle(step.cursor)
        if parts[index].listed >= parts[index].expected + Self.surplus { cut(index, behind: keys) }
    }

    /// A range could not be listed to its end: the listing ends there.
    ///
    /// The ranges before it are still listed, those behind it are not.
    mutating func fail(_ step: Step, _ error: any Error) {
        held -= step.weight
        guard let index = index(of: step) else { return }
        abandon(from: index, error)
    }

    /// Nothing more is listed.
    mutating func stop(_ error: any Error) {
        if let index = parts.firstIndex(where: { !$0.isOver }) { abandon(from: index, error) }
    }

    private mutating func abandon(from index: Int, _ error: any Error) {
        for part in parts[index...] {
            if !part.isOver { open -= 1 }
            guard part.number != parts[index].number else { continue }
            held -= part.unread.reduce(0) { $0 + $1.weight }
        }
        parts[index].state = .failed(error)
        parts.removeSubrange((index + 1)...)
    }

    /// The next objects in key order.
    ///
    /// - Throws: Why there are no more of them.
    mutating func take() throws -> Taken {
        guard let first = parts.first else { return .end }
        guard !first.unread.isEmpty else {
            if case .failed(let error) = first.state { throw error }
            return .later
        }
        held -= first.unread[0].weight
        defer { dropRead() }
        return .page(parts[0].unread.removeFirst().objects)
    }

    /// The first range is one that still has something: it may be listed whatever others hold.
    private mutating func dropRead() {
        let count = parts.prefix { part in
            if case .ended = part.state { part.unread.isEmpty } else { false }
        }.count
        parts.removeFirst(count)
    }

    private func index(of step: Step) -> Int? {
        parts.firstIndex { $0.number == step.number }
    }

    /// Cuts what a range has behind its last page, which has `keys`.
    private mutating func cut(_ index: Int, behind keys: [ObjectKey]) {
        guard limits.width > 1, open < Self.mostParts, let last = keys.last else { return }
        let part = parts[index]
        let guesses = spelling.guesses(
            behind: keys,
            before: part.keys.upper,
            pages: Self.guessedPages,
            count: Self.piecesOfOne
        )
        let rest = KeyRange(from: last.next, before: part.keys.upper).cut(behind: guesses)
        guard rest.count > 1 else { return }
        parts[index].keys = KeyRange(from: part.keys.lower, before: rest[0].upper)
        parts[index].expected = part.listed + Self.guessedPages
        let pieces = rest.dropFirst().enumerated().map { number, keys in
            // What is behind the last guess can be anything.
            let expected = number == rest.count - 2 ? 1 : Self.guessedPages
            var piece = self.part(keys, of: part.origin, expected: expected)
            piece.isGuessed = true
            return piece
        }
        parts.insert(contentsOf: pieces, at: index + 1)
        open += pieces.count
    }
}
