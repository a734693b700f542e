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
        let split = Self.split(original)
        let tail = original[split...]
        let number = attempt == 0 ? "" : "-\(attempt + 1)"
        let inserted =
            Self.cut(suffix.utf8[...], to: 100).map { byte in
                byte == 0 || byte == UInt8(ascii: "/") ? UInt8(ascii: "_") : byte
            } + number.utf8
        let room = RelativePath.maximumComponentLength - tail.count - inserted.count
        bytes = Self.cut(original[..<split], to: room) + inserted + tail
    }

    /// Where the extension begins.
    private static func split(_ original: ArraySlice<UInt8>) -> Int {
        // A leading dot begins a hidden name and no extension; a long tail is no extension either.
        guard let index = original.lastIndex(of: UInt8(ascii: ".")) else {
            return original.endIndex
        }
        return index > original.startIndex && original.endIndex - index <= 16
            ? index : original.endIndex
    }

    /// True for a name that `original` may have got with a suffix of this kind, at another time.
    static func isName(
        _ name: [UInt8],
        of original: ArraySlice<UInt8>,
        suffix: String
    ) -> Bool {
        let split = split(original)
        // The kind is what comes before the time.
        let kind = suffix.utf8.prefix { $0 != UInt8(ascii: "-") }
        let (start, tail) = (original[..<split] + kind + "-".utf8, original[split...])
        return name.count > start.count + tail.count && name.starts(with: start)
            && name.suffix(tail.count).elementsEqual(tail)
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
        let slash = UInt8(ascii: "/")
        let start = whole.lastIndex(of: slash).map { $0 + 1 } ?? 0
        let name = ConflictName(original: whole[start...], suffix: suffix, attempt: attempt)
        let key = ObjectKey(whole[..<start] + name.bytes)
        guard path.isEscaped else { return try RelativePath(key: key) }
        // It stays with the others: a directory of that key may be a file.
        let kept =
            RelativePath.isEscaped(key)
            ? key : ObjectKey(whole[..<start] + [slash] + name.bytes)
        return try RelativePath(key: kept, links: .skip, names: .escape)
    }
}
