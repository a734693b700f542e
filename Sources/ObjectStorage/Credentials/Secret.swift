/// A password or token: no description, dump or error shows it.
package struct Secret: Sendable, Hashable {
    private let bytes: [UInt8]

    package init(_ text: String) {
        bytes = [UInt8](text.utf8)
    }

    /// The secret itself, for signing and for the headers that carry it.
    package var revealedBytes: [UInt8] { bytes }

    /// The secret as text, for the headers that carry it.
    package var revealedText: String { String(decoding: bytes, as: UTF8.self) }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "(secret)" }
    package var debugDescription: String { "(secret)" }
    package var customMirror: Mirror { Mirror(self, children: [] as [Mirror.Child]) }
}
