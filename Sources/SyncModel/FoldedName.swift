/// A name as file systems compare it that take several spellings for one name.
///
/// They ignore the case of letters, also of those that are two letters in capitals, and some ignore
/// how letters are composed, characters that are not shown, or dots and blanks at the end. No file
/// system does all of that: names that differ here are certainly two, names that do not may be one.
package struct FoldedName: Hashable, Sendable {
    /// Texts are compared regardless of normalization.
    private let text: String

    package init(_ name: some Collection<UInt8>) {
        var text = String(decoding: name, as: UTF8.self)
        if !name.allSatisfy({ $0 < 0x80 }) {
            let shown = text.unicodeScalars.filter { !$0.properties.isDefaultIgnorableCodePoint }
            // Some letters are two only in capitals, and a few only have small ones.
            text = String(String.UnicodeScalarView(shown)).lowercased().uppercased()
        }
        text = text.lowercased()
        while let last = text.utf8.last, last == UInt8(ascii: ".") || last == UInt8(ascii: " ") {
            text.unicodeScalars.removeLast()
        }
        self.text = text
    }

    package var bytes: [UInt8] { [UInt8](text.utf8) }

    /// True if a file system may take `name` for `other`, which has small ASCII letters and one of
    /// them is a "y".
    package static func mayBeOne(_ name: ArraySlice<UInt8>, _ other: String) -> Bool {
        // Nearly all names differ in their first character, which no ASCII letter hides.
        guard name.count >= other.utf8.count, let first = name.first,
            first >= 0x80 || first.withoutCase == other.utf8.first
        else { return false }
        return mayBeASCII(name) && FoldedName(name).text == other
    }

    /// False for most names that are not ASCII; nothing else folds to a "y" than its capital.
    static func mayBeASCII(_ name: some Collection<UInt8>) -> Bool {
        name.allSatisfy { $0 < 0x80 } || name.contains { $0 | 0x20 == UInt8(ascii: "y") }
    }
}
