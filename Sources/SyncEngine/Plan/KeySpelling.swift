internal import SyncModel

/// Guesses which keys follow in a listing from those that were seen.
///
/// A key is read as a number whose digits are its bytes, where each position has its own digits:
/// the bytes that were seen there, and those like them (`0` to `9` for a digit) unless the position
/// has counted through all it has. Keys that follow at the same density are sums: as far behind the
/// last key of a page as this is behind its first one, times a number of pages.
struct KeySpelling {
    /// Positions behind a change that are looked at.
    private static let depth = 16
    /// Digits that a guess has from the first one that changes within a page.
    private static let digits = 6
    private static let largestSpan: UInt64 = 1 << 40

    /// Bytes with which all keys begin.
    private let constant: Int
    /// The bytes of each position.
    private var seen: [ByteSet] = []
    /// True for positions that began again with another key in front of them: they have no bytes
    /// but those seen.
    private var isComplete: [Bool] = []

    init(constant: Int) {
        self.constant = constant
    }

    /// Learns from keys that follow each other, and the one before them.
    mutating func learn(_ keys: [ObjectKey], behind first: ObjectKey?) {
        var previous = first?.bytes ?? []
        for key in keys {
            let bytes = key.bytes
            // What comes before is known from the key before.
            let change = zip(previous, bytes).prefix { $0 == $1 }.count
            let end = previous.isEmpty ? bytes.count : min(bytes.count, change + Self.depth)
            while seen.count < end {
                seen.append(ByteSet())
                isComplete.append(false)
            }
            for position in change..<end { seen[position].insert(bytes[position]) }
            let common = min(end, previous.count)
            if change + 1 < common, Self.areAlike(previous, bytes, in: (change + 1)..<common) {
                for position in (change + 1)..<common { isComplete[position] = true }
            }
            previous = bytes
        }
    }

    /// True if both keys are written in the same way there.
    private static func areAlike(
        _ left: [UInt8],
        _ right: [UInt8],
        in positions: Range<Int>
    ) -> Bool {
        positions.allSatisfy { position in
            left[position] == right[position]
                || isLetterOrDigit(left[position]) && isLetterOrDigit(right[position])
        }
    }

    /// Also for bytes of longer characters.
    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte >= 0x80
    }

    /// Up to `count` keys behind the last of `keys`, ascending, with about so many pages like this
    /// one between them; fewer, down to none, if nothing is known of what follows.
    ///
    /// All of them are UTF-8, none is longer than the keys, and none is at or behind `upper`.
    func guesses(
        behind keys: [ObjectKey],
        before upper: ObjectKey?,
        pages: Int,
        count: Int
    ) -> [ObjectKey] {
        guard let first = keys.first?.bytes, let last = keys.last?.bytes,
            let scale = Scale(keys, self)
        else { return [] }
        let start = scale.value(of: last)
        // The order of the keys is that of the numbers.
        let (step, overflows) = (start - scale.value(of: first))
            .multipliedReportingOverflow(by: UInt64(pages))
        guard !overflows, step > 0 else { return [] }
        var guesses: [ObjectKey] = []
        var sum = start
        for _ in 0..<count {
            guard let next = Self.add(sum, step) else { break }
            sum = next
            guard let bytes = scale.bytes(of: sum, like: last, self) else { break }
            let guess = ObjectKey(bytes).endingWithCharacter
            if let upper, upper <= guess.next { break }
            guard (guesses.last ?? ObjectKey(last)) < guess, isValidUTF8(guess.bytes) else {
                continue
            }
            guesses.append(guess)
        }
        return guesses
    }

    private static func add(_ left: UInt64, _ right: UInt64) -> UInt64? {
        let (sum, overflows) = left.addingReportingOverflow(right)
        return overflows ? nil : sum
    }

    /// True for one of several letters that do not count.
    private func isInWord(_ position: Int, _ key: [UInt8]) -> Bool {
        key[position].isLetter && !isComplete[position]
    }

    /// What can be at a position, ascending, where keys like the last one of a page have `byte`.
    private func symbols(
        at position: Int,
        _ byte: UInt8,
        changes: Bool,
        isHexadecimal: Bool
    ) -> [UInt8] {
        var set = position < seen.count ? seen[position] : ByteSet()
        set.insert(byte)
        if position < seen.count, isComplete[position] { return set.bytes }
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            set.insert(UInt8(ascii: "0")...UInt8(ascii: "9"))
            if isHexadecimal { set.insert(UInt8(ascii: "a")...UInt8(ascii: "f")) }
        case UInt8(ascii: "a")...UInt8(ascii: "z") where changes || set.count > 1:
            if isHexadecimal {
                set.insert(UInt8(ascii: "a")...UInt8(ascii: "f"))
            } else {
                set.insert(UInt8(ascii: "a")...UInt8(ascii: "z"))
            }
        case UInt8(ascii: "A")...UInt8(ascii: "Z") where changes || set.count > 1:
            set.insert(UInt8(ascii: "A")...UInt8(ascii: "Z"))
        default: break
        }
        return set.bytes
    }
}

extension KeySpelling {
    /// The digits from the first position on at which the keys of one page differ.
    private struct Scale {
        /// What a position can have; nil for the end of the key.
        private typealias Symbols = [UInt8?]

        private let start: Int
        private var symbols: [Symbols] = []
        /// How many numbers there are before a position in front of `start` changes.
        private var span: UInt64 = 1
        private let isHexadecimal: Bool
        /// True for names in which letters count like digits.
        private let mixes: Bool

        /// Nil if the keys do not differ in a position that can count on.
        init?(_ keys: [ObjectKey], _ spelling: KeySpelling) {
            guard let first = keys.first?.bytes, let last = keys.last?.bytes else { return nil }
            start = zip(first, last).prefix { $0 == $1 }.count
            guard start < last.count else { return nil }
            let end = min(start + KeySpelling.digits, last.count)
            var sets = [ByteSet](repeating: ByteSet(), count: end - start)
            var ends = [Bool](repeating: false, count: end - start)
            for key in keys {
                for index in sets.indices {
                    guard start + index < key.bytes.count else {
                        ends[index] = true
                        break
                    }
                    sets[index].insert(key.bytes[start + index])
                }
            }
            isHexadecimal = sets.dropFirst().contains(where: \.isHexadecimal)
            mixes = sets.dropFirst().contains(where: \.mixesDigits)
            for index in sets.indices {
                let position = start + index
                for byte in spelling.symbols(
                    at: position,
                    last[position],
                    changes: index == 0,
                    isHexadecimal: isHexadecimal
                ) {
                    sets[index].insert(byte)
                }
            }
            for (set, hasEnd) in zip(sets, ends) {
                let digits: Symbols = (hasEnd ? [nil] : []) + set.bytes
                let (product, overflows) = span.multipliedReportingOverflow(
                    by: UInt64(digits.count)
                )
                guard !overflows, product <= KeySpelling.largestSpan else { break }
                span = product
                symbols.append(digits)
            }
        }

        /// The number of a key of the page.
        func value(of key: [UInt8]) -> UInt64 {
            var value: UInt64 = 0
            var hasEnded = false
            for (index, digits) in symbols.enumerated() {
                let position = start + index
                let byte: UInt8? = position < key.count ? key[position] : nil
                let digit = hasEnded ? 0 : digits.firstIndex(of: byte) ?? 0
                if byte == nil { hasEnded = true }
                value = value * UInt64(digits.count) + UInt64(digit)
            }
            return value
        }

        /// The key of a number, which continues behind the page; nil behind the last number.
        func bytes(of value: UInt64, like last: [UInt8], _ spelling: KeySpelling) -> [UInt8]? {
            var bytes = Array(last.prefix(start))
            var carry = value / span
            var position = start
            var isWord = false
            while carry > 0 {
                guard position > spelling.constant else { return nil }
                position -= 1
                guard KeySpelling.isLetterOrDigit(last[position]) else { continue }
                if !mixes, spelling.isInWord(position, last) {
                    // What follows a word begins with another letter.
                    while position > spelling.constant, spelling.isInWord(position - 1, last) {
                        position -= 1
                    }
                    isWord = true
                }
                let digits = spelling.symbols(
                    at: position,
                    last[position],
                    changes: false,
                    isHexadecimal: isHexadecimal
                )
                let digit = digits.firstIndex(of: last[position]) ?? 0
                let (sum, overflows) = carry.addingReportingOverflow(UInt64(digit))
                guard !overflows else { return nil }
                bytes[position] = digits[Int(sum % UInt64(digits.count))]
                carry = sum / UInt64(digits.count)
                if isWord { return carry > 0 ? nil : Array(bytes[...position]) }
            }
            var rest = value % span
            var unit = span
            for digits in symbols {
                unit /= UInt64(digits.count)
                guard let byte = digits[Int(rest / unit)] else { break }
                bytes.append(byte)
                rest %= unit
            }
            return bytes
        }
    }
}

/// Some of the 256 bytes.
struct ByteSet {
    private var words = SIMD4<UInt64>.zero

    var count: Int { (0..<4).reduce(0) { $0 + words[$1].nonzeroBitCount } }

    /// In ascending order.
    var bytes: [UInt8] { (UInt8.min...UInt8.max).filter(contains) }

    /// True for most of the digits of lower-case hexadecimal numbers, and nothing else.
    var isHexadecimal: Bool {
        let bytes = bytes
        return bytes.count > 10 && bytes.allSatisfy(\.isSmallHexadecimal)
    }

    /// True for digits and letters side by side.
    var mixesDigits: Bool {
        let digits = bytes.filter(\.isDigit)
        return digits.count > 4 && count - digits.count > 2
    }

    func contains(_ byte: UInt8) -> Bool {
        words[Int(byte >> 6)] & (1 << UInt64(byte & 63)) != 0
    }

    mutating func insert(_ byte: UInt8) {
        words[Int(byte >> 6)] |= 1 << UInt64(byte & 63)
    }

    mutating func insert(_ bytes: ClosedRange<UInt8>) {
        for byte in bytes { insert(byte) }
    }
}
