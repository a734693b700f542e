/// Where the file of a key lies that no file of that name can have: beneath one directory at the
/// top of the mirrored one, under the percent-encoded key.
///
/// The key follows from the path alone, so that a manifest that was lost takes nothing of it along.
/// Letters that some disks fold are encoded, too. What is longer than a file name may be is cut,
/// and all pieces but the last are directories, whose names end in "%": no other piece does.
package enum EscapedName {
    /// At the top of the mirrored directory.
    package static let directoryName = ".osssync-names"
    /// The longest piece in bytes.
    static let pieceLength = 240

    /// The path beneath the mirrored directory.
    package static func path(of key: ObjectKey) -> [UInt8] {
        var path = [UInt8](directoryName.utf8)
        path.append(slash)
        path.reserveCapacity(path.count + key.bytes.count * 3)
        var length = 0
        for (index, byte) in key.bytes.enumerated() {
            if length + 3 > pieceLength {
                path.append(contentsOf: [percent, slash])
                length = 0
            }
            let isAtEnd = length == 0 || index == key.bytes.count - 1
            if isPlain(byte) || (byte == UInt8(ascii: ".") && !isAtEnd) {
                path.append(byte)
                length += 1
            } else {
                path.append(escaping: byte)
                length += 3
            }
        }
        return path
    }

    /// The key of a path beneath the mirrored directory; nil for a path that is no key's.
    package static func key(ofPath path: some Collection<UInt8>) -> ObjectKey? {
        guard path.starts(with: directoryName.utf8) else { return nil }
        let rest = path.dropFirst(directoryName.utf8.count)
        guard rest.first == slash else { return nil }
        var bytes: [UInt8] = []
        var characters = rest.dropFirst().makeIterator()
        while let character = characters.next() {
            guard character == percent else {
                bytes.append(character)
                continue
            }
            guard let first = characters.next() else { return nil }
            if first == slash { continue }
            guard let second = characters.next(), let high = value(first), let low = value(second)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        let key = ObjectKey(bytes)
        // Another spelling of it would be a second file of the same key.
        guard !key.isEmpty, isValidUTF8(bytes), self.path(of: key).elementsEqual(path) else {
            return nil
        }
        return key
    }

    /// True for the directory of escaped names and for all that it can hold.
    package static func holds(path: some Collection<UInt8>) -> Bool {
        let rest = path.dropFirst(directoryName.utf8.count)
        return path.starts(with: directoryName.utf8) && (rest.isEmpty || rest.first == slash)
    }

    private static let slash = UInt8(ascii: "/")
    private static let percent = UInt8(ascii: "%")
    private static let digits = [UInt8]("0123456789ABCDEF".utf8)

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte.isSmallLetter || byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        digits.firstIndex(of: digit).map { UInt8($0) }
    }
}
