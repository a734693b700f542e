internal import SyncModel
internal import Synchronization

/// The name of a temporary file: 128 random bits as 32 lower-case hexadecimal digits.
///
/// It cannot be guessed, and is never a path.
struct PartialName: Sendable, Hashable {
    private static let length = 32
    let text: String

    /// Nil for every other text.
    init?(_ text: String) {
        guard text.utf8.count == Self.length, text.utf8.allSatisfy(\.isSmallHexadecimal) else {
            return nil
        }
        self.text = text
    }

    private init(bits: (UInt64, UInt64)) {
        func digit(_ value: UInt64, _ place: Int) -> UInt8 {
            let digit = UInt8(truncatingIfNeeded: value >> UInt64(60 - 4 * place)) & 15
            return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
        }
        text = unsafe String(unsafeUninitializedCapacity: Self.length) { buffer in
            for place in 0..<16 {
                unsafe buffer[place] = digit(bits.0, place)
                unsafe buffer[16 + place] = digit(bits.1, place)
            }
            return Self.length
        }
    }

    static func random() -> PartialName { random(1)[0] }

    /// At most 16, for the price of one call of the system.
    static func random(_ count: Int) -> [PartialName] {
        let bits = SystemCalls.randomNumbers(2 * count)
        return (0..<count).map { PartialName(bits: (bits[2 * $0], bits[2 * $0 + 1])) }
    }

    var bytes: PathBytes { PathBytes(text.utf8) }
}

/// The names of the temporary files of one single file, derived from its own name: whatever a
/// process leaves that is killed, the next transfer of the file finds.
///
/// Several, so that a file that starts over has another one than before.
package struct PartialSeries: Sendable {
    private static let count = 16
    private let digits: String

    /// - Parameter digits: At least 31 hexadecimal digits that stand for the file's name.
    package init(digits: String) {
        self.digits = String(digits.prefix(31))
    }

    var names: [PartialName] {
        (0..<Self.count).compactMap { PartialName(digits + String($0, radix: 16)) }
    }

    /// In the order in which they are to be tried, the one after `old` first.
    func names(after old: String?) -> [PartialName] {
        let names = names
        let start = names.firstIndex { $0.text == old }.map { $0 + 1 } ?? 0
        return Array(names[start...] + names[..<start])
    }
}

/// The names of many temporary files.
struct PartialNames: ~Copyable, Sendable {
    private let drawn = Mutex([PartialName]())

    func next() -> PartialName {
        drawn.withLock { drawn in
            if drawn.isEmpty { drawn = PartialName.random(16) }
            return drawn.removeLast()
        }
    }
}
