/// The name of a temporary file: 128 random bits as 32 lower-case hexadecimal digits.
///
/// It cannot be guessed, and is never a path.
struct PartialName: Sendable, Hashable {
    private static let length = 32
    let text: String

    /// Nil for every other text.
    init?(_ text: String) {
        let digits = text.utf8.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
        }
        guard text.utf8.count == Self.length, digits else { return nil }
        self.text = text
    }

    private init(bits: (UInt64, UInt64)) {
        func padded(_ value: UInt64) -> String {
            let text = String(value, radix: 16)
            return String(repeating: "0", count: 16 - text.utf8.count) + text
        }
        text = padded(bits.0) + padded(bits.1)
    }

    static func random() -> PartialName {
        PartialName(bits: SystemCalls.randomNumbers())
    }

    var bytes: PathBytes { PathBytes(text.utf8) }
}
