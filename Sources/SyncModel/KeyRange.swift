/// The keys from one key on, before another one, in byte order.
package struct KeyRange: Sendable, Hashable {
    /// The smallest key that can be in it; empty for no bound.
    package let lower: ObjectKey
    /// The smallest key after it; nil for no bound.
    package let upper: ObjectKey?

    package init(from lower: ObjectKey, before upper: ObjectKey?) {
        self.lower = lower
        self.upper = upper
    }

    /// Every key.
    package static let all = KeyRange(from: "", before: nil)

    /// One key.
    package init(_ key: ObjectKey) {
        self.init(from: key, before: key.next)
    }

    /// Every key that begins with `prefix`.
    package init(prefix: ObjectKey) {
        self.init(from: prefix, before: Self.end(ofPrefix: prefix))
    }

    /// The keys after `after` (nil: from the first), up to and including `through` (nil: to the
    /// last): the form that a listing is cut in.
    package init(after: ObjectKey?, through: ObjectKey?) {
        self.init(from: after?.next ?? "", before: through?.next)
    }

    /// True if no key can be in it.
    package var isEmpty: Bool { upper.map { $0 <= lower } ?? false }

    /// True if only one key can be in it.
    package var isSingle: Bool { upper == lower.next }

    package func contains(_ key: ObjectKey) -> Bool { lower <= key && !isPassed(by: key) }

    /// True if `key` and what follows it lie behind the range.
    package func isPassed(by key: ObjectKey) -> Bool { upper.map { $0 <= key } ?? false }

    /// True if every key that begins with `prefix` is in it.
    package func covers(prefix: ObjectKey) -> Bool {
        guard lower <= prefix else { return false }
        guard let upper else { return true }
        return Self.end(ofPrefix: prefix).map { $0 <= upper } ?? false
    }

    /// True if a key that begins with `prefix` can be in it.
    package func meets(prefix: ObjectKey) -> Bool {
        !isPassed(by: prefix) && (lower <= prefix || lower.hasPrefix(prefix))
    }

    /// The range in parts, cut behind each of `splits` that lies in it; they ascend.
    package func cut(behind splits: [ObjectKey]) -> [KeyRange] {
        var parts: [KeyRange] = []
        var start = lower
        for split in splits where start <= split && !isPassed(by: split.next) {
            parts.append(KeyRange(from: start, before: split.next))
            start = split.next
        }
        return parts + [KeyRange(from: start, before: upper)]
    }

    /// What all its keys begin with, as long as it can be and valid UTF-8 if the bounds are.
    package var commonPrefix: ObjectKey {
        guard let upper, !isEmpty else { return "" }
        if isSingle { return lower }
        if let last = upper.bytes.last, last > 0 {
            let prefix = ObjectKey(upper.bytes.dropLast() + [last - 1])
            if lower.hasPrefix(prefix) { return prefix }
        }
        let count = zip(lower.bytes, upper.bytes).prefix { $0 == $1 }.count
        return ObjectKey(lower.bytes.prefix(count)).endingWithCharacter
    }

    /// The key after which a listing begins that has all keys of the range which begin with
    /// `prefix`; nil if it begins with the first of them.
    ///
    /// That listing may have some keys before the range.
    package func startAfter(within prefix: ObjectKey) -> ObjectKey? {
        guard prefix < lower else { return nil }
        let key = ObjectKey(lower.bytes.dropLast())
        // The key after another one is that one with a NUL.
        if lower.bytes.last == 0 { return key }
        let start = key.endingWithCharacter
        return prefix < start ? start : nil
    }

    /// The smallest key behind all that begin with `prefix`; nil if there is none.
    private static func end(ofPrefix prefix: ObjectKey) -> ObjectKey? {
        var bytes = prefix.bytes
        while let last = bytes.popLast() {
            if last < 0xFF { return ObjectKey(bytes + [last + 1]) }
        }
        return nil
    }
}

/// Some of the keys: ranges in ascending order, of which no two have a key in common.
package struct KeyRanges: Sendable, Hashable {
    package let ranges: [KeyRange]

    /// The keys of any of `ranges`, in any order; those that overlap become one.
    package init(_ ranges: [KeyRange]) {
        let sorted = ranges.filter { !$0.isEmpty }.sorted { $0.lower < $1.lower }
        var merged: [KeyRange] = []
        for range in sorted {
            guard let last = merged.last, !last.isPassed(by: range.lower) else {
                merged.append(range)
                continue
            }
            guard last.isBefore(endOf: range) else { continue }
            merged[merged.count - 1] = KeyRange(from: last.lower, before: range.upper)
        }
        self.ranges = merged
    }

    /// Every key.
    package static let all = KeyRanges([.all])

    package var isAll: Bool { ranges == [.all] }

    package func contains(_ key: ObjectKey) -> Bool {
        index(notPassedBy: key).map { ranges[$0].lower <= key } ?? false
    }

    /// True if every key that begins with `prefix` is in one of them.
    package func cover(prefix: ObjectKey) -> Bool {
        index(notPassedBy: prefix).map { ranges[$0].covers(prefix: prefix) } ?? false
    }

    /// True if a key that begins with `prefix`, such as a directory's, can be in one of them.
    package func meets(prefix: ObjectKey) -> Bool {
        index(notPassedBy: prefix).map { ranges[$0].meets(prefix: prefix) } ?? false
    }

    /// The first range that does not end before `key`; it need not contain it.
    package func index(notPassedBy key: ObjectKey) -> Int? {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].isPassed(by: key) { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count ? low : nil
    }
}

extension KeyRange {
    /// True if `other` goes on where this range has ended.
    fileprivate func isBefore(endOf other: KeyRange) -> Bool {
        guard let upper else { return false }
        return other.upper.map { upper < $0 } ?? true
    }
}

extension ObjectKey {
    /// The smallest key after this one.
    package var next: ObjectKey { ObjectKey(bytes + [0]) }

    /// The key without the beginning of a character at its end.
    package var endingWithCharacter: ObjectKey {
        guard !isValidUTF8(bytes) else { return self }
        for length in stride(from: bytes.count - 1, through: max(0, bytes.count - 3), by: -1) {
            let beginning = [UInt8](bytes[..<length])
            if isValidUTF8(beginning) { return ObjectKey(beginning) }
        }
        return self
    }
}
