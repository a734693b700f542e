import ObjectStorage
import SyncModel
import SyncTestSupport

@testable import SyncEngine

/// A bucket that answers listings, and what a reader makes of the ranges that are listed.
struct ListingModel {
    /// In order.
    var keys: [ObjectKey]
    let pageSize: Int
    private(set) var requests = 0

    init(_ keys: some Sequence<ObjectKey>, pageSize: Int) {
        self.keys = Set(keys).sorted()
        self.pageSize = pageSize
    }

    /// Pages of one listing after the other.
    var sequentialRequests: Int { max(1, (keys.count + pageSize - 1) / pageSize) }

    mutating func answer(_ request: ListRequest) -> ListPage {
        requests += 1
        var start = request.startAfter
        if let token = request.token { start = ObjectKey(Self.bytes(token.text)) }
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            let isBefore = start.map { keys[middle] <= $0 } ?? false
            if isBefore || keys[middle] < request.prefix { low = middle + 1 } else { high = middle }
        }
        let count = min(pageSize, request.maximumKeys)
        let rest = keys[low...].prefix(count + 1).prefix { $0.hasPrefix(request.prefix) }
        let page = rest.prefix(count)
        let objects = page.map { RemoteObject(key: $0, size: 1, etag: ETag(wire: "e")) }
        let isWhole = page.count == rest.count
        return ListPage(
            objects: objects,
            commonPrefixes: [],
            next: isWhole ? nil : page.last.map { ContinuationToken(Self.text($0.bytes)) }
        )
    }

    private static func text(_ bytes: [UInt8]) -> String {
        bytes.map { String(UInt16($0) + 256, radix: 16) }.joined()
    }

    private static func bytes(_ text: String) -> [UInt8] {
        let digits = Array(text)
        return stride(from: 0, to: digits.count, by: 3).compactMap {
            UInt8(String(digits[($0 + 1)..<($0 + 3)]), radix: 16)
        }
    }
}

/// What a whole listing was.
struct ListingOutcome {
    var keys: [ObjectKey] = []
    var rounds = 0
    var mostAtOnce = 0
    /// Pages that were requested or not read.
    var mostHeld = 0
}

extension ListingModel {
    static func ranges(
        _ ranges: KeyRanges = .all,
        prefix: ObjectKey = "",
        splits: [ObjectKey] = [],
        pagesPerSplit: Int = 8,
        limits: ListingRanges.Limits
    ) -> ListingRanges {
        ListingRanges(
            ranges.ranges,
            prefixes: ranges.ranges.map { $0.upper == nil ? prefix : $0.commonPrefix },
            splits: splits,
            pagesPerSplit: pagesPerSplit,
            constant: prefix.bytes.count,
            limits: limits
        )
    }

    /// The answer to a request is accepted; how many objects of it are in the step's range.
    @discardableResult
    mutating func carryOut(
        _ step: ListingRanges.Step,
        _ ranges: inout ListingRanges
    ) throws -> Int {
        try accept(answer(step.cursor.request), for: step, &ranges)
    }

    /// How many objects of the page are in the step's range.
    @discardableResult
    func accept(
        _ page: ListPage,
        for step: ListingRanges.Step,
        _ ranges: inout ListingRanges
    ) throws -> Int {
        var step = step
        guard try step.cursor.accept(page) else { throw ListingModelError.outOfOrder }
        let keys = page.objects.map(\.key)
        let range = ranges.range(of: step, reaching: keys.last)
        let objects = page.objects.filter { range?.contains($0.key) ?? false }
        ranges.accept(objects, keys, for: step)
        return objects.count
    }

    /// Lists everything as fast as a line of some length allows: in each round, all requests are
    /// sent at once, and the reader reads what there is.
    mutating func listInRounds(
        _ ranges: inout ListingRanges,
        limits: ListingRanges.Limits
    ) throws -> ListingOutcome {
        var outcome = ListingOutcome()
        var unread = 0
        while true {
            var steps: [ListingRanges.Step] = []
            while steps.count < limits.width, case .list(let step) = ranges.next() {
                steps.append(step)
            }
            outcome.mostAtOnce = max(outcome.mostAtOnce, steps.count)
            outcome.mostHeld = max(outcome.mostHeld, steps.count + unread)
            if !steps.isEmpty { outcome.rounds += 1 }
            for step in steps where try carryOut(step, &ranges) > 0 { unread += 1 }
            reading: while true {
                switch try ranges.take() {
                case .page(let objects):
                    unread -= 1
                    outcome.keys += objects.map(\.key)
                case .later: break reading
                case .end: return outcome
                }
            }
        }
    }
}

enum ListingModelError: Error {
    case outOfOrder
}

/// Key sets as buckets have them.
enum KeyShape: String, CaseIterable, Sendable {
    case numbers, unpadded, hexadecimal, upperCase, dates, words, folders, hexadecimalFolders
    case characters, strays

    private static let vocabulary = [
        "amber", "anchor", "autumn", "basil", "bridge", "candle", "cedar", "cloud", "copper",
        "dawn",
        "delta", "dune", "ember", "fern", "field", "flint", "forest", "garden", "glass", "harbor",
        "hazel", "iris", "island", "ivory", "jade", "kelp", "lake", "lemon", "linen", "maple",
        "meadow", "mist", "moss", "night", "oak", "ocean", "olive", "orchard", "pearl", "pine",
        "quartz", "rain", "reed", "river", "sage", "sand", "shore", "silver", "snow", "spruce",
        "stone", "storm", "sun", "thyme", "tide", "valley", "violet", "willow", "winter", "zinnia",
    ]

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func hexadecimal(_ generator: inout SeededGenerator) -> String {
        let digits = String(generator.next(), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    func keys(_ count: Int, _ generator: inout SeededGenerator) -> [ObjectKey] {
        (0..<count).map { ObjectKey(key($0, of: count, &generator)) }
    }

    private func key(_ number: Int, of count: Int, _ generator: inout SeededGenerator) -> String {
        switch self {
        case .numbers: return "obj-" + Self.padded(number, 7)
        case .unpadded: return "file\(number).txt"
        case .hexadecimal: return Self.hexadecimal(&generator)
        case .upperCase: return "ID_" + Self.hexadecimal(&generator).uppercased() + ".bin"
        case .dates:
            let perDay = max(1, count / 900)
            let (day, image) = (number / perDay, number % perDay)
            let (year, month) = (2020 + day / 360, 1 + day / 30 % 12)
            let name = "/IMG_" + Self.padded(image, 4) + ".jpg"
            return "\(year)/" + Self.padded(month, 2) + "/" + Self.padded(1 + day % 30, 2) + name
        case .words:
            let names = (0..<3).map { _ in generator.pick(Self.vocabulary) }
            return names.joined(separator: "-") + "-\(number % 100).md"
        case .folders:
            let size = max(1, count / 100)
            return "data/" + Self.padded(number / size, 2) + "/obj" + Self.padded(number % size, 7)
        case .hexadecimalFolders:
            let name = Self.hexadecimal(&generator)
            return "objects/" + name.prefix(2) + "/" + name.dropFirst(2)
        case .characters:
            return generator.pick(["фото", "музыка", "документы", "résumé", "日本語"])
                + "/\(number % 977)/" + Self.padded(number, 6)
        case .strays:
            switch number {
            case 0..<20: return generator.pick(Self.vocabulary).uppercased() + "\(number).txt"
            default: return "library/" + Self.padded(number / 1_000, 3) + "/track\(number % 1_000)"
            }
        }
    }
}
