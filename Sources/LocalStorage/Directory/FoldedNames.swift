package import SyncModel

// File systems that take `A` and `a`, or an accented letter and the letter followed by its accent,
// for one name.

extension MirrorDirectory {
    /// Why `path` cannot be made though the walk did not find it: its name is one with another that
    /// is there; nil if it is free, or if there is a file of just this name by now.
    package func nameCollision(_ path: RelativePath) throws(LocalError) -> LocalError? {
        guard case .file = try identity(of: path),
            let other = try parent(of: path).nameFound(by: path.name)
        else { return nil }
        return .nameTaken(path, by: displayText(other))
    }
}

extension OpenDirectory {
    /// The entry that `name`, which leads to one, leads to where the file system takes two names
    /// for one; nil if it is `name` itself.
    func nameFound(by name: some Collection<UInt8>) -> ArraySlice<UInt8>? {
        // Reading the directory for each name that is taken would cost the square of its size.
        guard mayFold(name), let names = try? DirectoryNames(of: self) else { return nil }
        let folded = String(decoding: name, as: UTF8.self).lowercased()
        var other: ArraySlice<UInt8>?
        for element in names.elements {
            let found = names.bytes(of: element)
            if found.elementsEqual(name) { return nil }
            // Texts are compared regardless of normalization.
            if String(decoding: found, as: UTF8.self).lowercased() == folded { other = found }
        }
        return other
    }

    /// False if `name` is certainly the entry that it leads to: in ASCII only the case can fold,
    /// and then the name leads to the same entry with each letter in its other case.
    private func mayFold(_ name: some Collection<UInt8>) -> Bool {
        guard name.allSatisfy({ $0 < 0x80 }) else { return true }
        let turned = name.map { byte -> UInt8 in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
                byte ^ 0x20
            default: byte
            }
        }
        guard !turned.elementsEqual(name) else { return false }
        guard let found = try? status(of: PathBytes(name)),
            let other = try? status(of: PathBytes(turned))
        else { return false }
        return found.isSameObject(as: other)
    }
}
