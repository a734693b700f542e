internal import SyncModel

/// The name of an old version that is kept beside the new one: `report.conflict-….pdf` for
/// `report.pdf`.
struct ConflictName: Sendable, Hashable {
    let bytes: [UInt8]

    /// - Parameters:
    ///   - original: The name of the file.
    ///   - suffix: What goes before the extension; "/" and NUL in it become "_".
    ///   - attempt: From 0; later ones add a number.
    init(original: ArraySlice<UInt8>, suffix: String, attempt: Int) {
        let dot = UInt8(ascii: ".")
        // A leading dot begins a hidden name and no extension; a long tail is no extension either.
        let lastDot = original.lastIndex(of: dot)
        let split =
            lastDot.map { index in
                index > original.startIndex && original.endIndex - index <= 16
                    ? index : original.endIndex
            } ?? original.endIndex
        let tail = original[split...]
        let number = attempt == 0 ? "" : "-\(attempt + 1)"
        let inserted =
            Self.cut(suffix.utf8[...], to: 100).map { byte in
                byte == 0 || byte == UInt8(ascii: "/") ? UInt8(ascii: "_") : byte
            } + number.utf8
        let room = RelativePath.maximumComponentLength - tail.count - inserted.count
        bytes = Self.cut(original[..<split], to: room) + inserted + tail
    }

    /// At most `length` bytes, and no half scalar at the end: the name must stay valid UTF-8 to be
    /// mirrored.
    private static func cut(_ bytes: some BidirectionalCollection<UInt8>, to length: Int) -> [UInt8]
    {
        guard bytes.count > length else { return [UInt8](bytes) }
        var kept = [UInt8](bytes.prefix(length))
        let next = bytes[bytes.index(bytes.startIndex, offsetBy: length)]
        guard next & 0xC0 == 0x80 else { return kept }
        while let last = kept.popLast(), last & 0xC0 == 0x80 {}
        return kept
    }

    /// The path of a version that is kept beside the file of `path`.
    static func path(
        beside path: RelativePath,
        suffix: String,
        attempt: Int
    ) throws(UnsafeKey) -> RelativePath {
        // Of an escaped file, the key has the name that goes on.
        let whole = path.isEscaped ? path.key.bytes : path.bytes
        let start = whole.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        let name = ConflictName(original: whole[start...], suffix: suffix, attempt: attempt)
        let key = ObjectKey(whole[..<start] + name.bytes)
        return try RelativePath(key: key, links: .skip, names: path.isEscaped ? .escape : .skip)
    }
}
