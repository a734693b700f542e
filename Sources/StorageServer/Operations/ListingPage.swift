internal import SyncModel

enum ListingEntry: Sendable {
    case object(ObjectRecord)
    case prefix([UInt8])

    var key: [UInt8] {
        switch self {
        case .object(let object): object.key.bytes
        case .prefix(let prefix): prefix
        }
    }

    /// The first key that comes after this entry.
    var following: [UInt8] {
        switch self {
        case .object(let object): object.key.bytes + [0]
        case .prefix(let prefix): successor(of: prefix)
        }
    }
}

/// A page of a listing of latest versions.
struct ListingPage: Sendable {
    /// The lowest key this page could have had.
    let start: [UInt8]
    var entries: [ListingEntry] = []
    var isTruncated = false
    /// The lowest key of the next page.
    var next: [UInt8]?

    init(
        _ transaction: Transaction,
        bucket: String,
        from lower: [UInt8],
        prefix: [UInt8],
        delimiter: [UInt8],
        limit: Int
    ) throws {
        start = lower
        guard limit > 0 else { return }
        var position = bytesPrecede(lower, prefix) ? prefix : lower
        scan: while true {
            let wanted = limit + 1 - entries.count
            let rows = try transaction.objects(bucket, from: position, limit: wanted)
            for row in rows {
                let key = row.key.bytes
                guard key.starts(with: prefix) else { break scan }
                guard entries.count < limit else {
                    isTruncated = true
                    break scan
                }
                if let group = commonPrefix(of: key, prefix: prefix, delimiter: delimiter) {
                    entries.append(.prefix(group))
                    position = successor(of: group)
                    continue scan
                }
                entries.append(.object(row))
                position = key + [0]
            }
            if rows.count < wanted { break }
        }
        if isTruncated { next = entries.last?.following ?? start }
    }

    mutating func apply(_ fault: ListingFault, prefix: [UInt8]) {
        switch fault {
        case .tokenLoop:
            isTruncated = true
            next = start
        case .missingToken:
            isTruncated = true
            next = nil
        case .outOfOrder:
            guard entries.count >= 2 else { return }
            entries.swapAt(entries.count - 1, entries.count - 2)
        case .duplicate:
            if let last = entries.last { entries.append(last) }
        case .overlap:
            if isTruncated { next = entries.last?.key }
        case .empty:
            entries = []
            isTruncated = false
            next = nil
        case .emptyTruncated:
            entries = []
            isTruncated = true
            next = start
        case .endsEarly:
            isTruncated = false
            next = nil
        case .outsidePrefix:
            entries.append(.prefix(successor(of: prefix) + [UInt8]("outside/".utf8)))
        }
    }
}

/// The part of `key` up to and including the first delimiter after the prefix; nil without one.
func commonPrefix(of key: [UInt8], prefix: [UInt8], delimiter: [UInt8]) -> [UInt8]? {
    guard !delimiter.isEmpty, key.count >= prefix.count + delimiter.count else { return nil }
    for start in prefix.count...(key.count - delimiter.count)
    where key[start..<(start + delimiter.count)].elementsEqual(delimiter) {
        return Array(key[..<(start + delimiter.count)])
    }
    return nil
}

/// The lowest bytes that are above everything that begins with `prefix`; for the empty prefix,
/// bytes above every key.
func successor(of prefix: [UInt8]) -> [UInt8] {
    var result = prefix
    while let last = result.last {
        if last < 0xFF {
            result[result.count - 1] = last + 1
            return result
        }
        result.removeLast()
    }
    return [0xFF]
}

/// Entries in key order of which some share an entry for their common prefix.
struct GroupedEntries<Item: Sendable>: Sendable {
    let prefix: [UInt8]
    let delimiter: [UInt8]
    let limit: Int
    private(set) var items: [Item] = []
    private(set) var commonPrefixes: [[UInt8]] = []
    private(set) var isTruncated = false

    init(prefix: [UInt8], delimiter: [UInt8], limit: Int) {
        self.prefix = prefix
        self.delimiter = delimiter
        self.limit = limit
    }

    /// False once no more entry fits, which makes the page truncated.
    mutating func add(_ item: Item, key: [UInt8]) -> Bool {
        guard key.starts(with: prefix) else { return true }
        let group = commonPrefix(of: key, prefix: prefix, delimiter: delimiter)
        if let group, commonPrefixes.last == group { return true }
        guard items.count + commonPrefixes.count < limit else {
            isTruncated = true
            return false
        }
        if let group { commonPrefixes.append(group) } else { items.append(item) }
        return true
    }
}
