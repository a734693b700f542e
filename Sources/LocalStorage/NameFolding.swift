internal import SyncModel

/// Which different names are one to a file system.
package struct NameFolding: Sendable, Hashable {
    /// `A` and `a` are the same file.
    package let ignoresCase: Bool
    /// An accented letter and the letter followed by its accent are the same file.
    package let ignoresNormalization: Bool

    package init(ignoresCase: Bool, ignoresNormalization: Bool) {
        self.ignoresCase = ignoresCase
        self.ignoresNormalization = ignoresNormalization
    }
}

extension MirrorDirectory {
    /// Finds out by making two files among the temporary ones.
    ///
    /// Where names fold, two keys can mean one file. Publishing never lets one silently replace the
    /// other; knowing it before saves the transfer.
    package func nameFolding() throws(LocalError) -> NameFolding {
        let directory = try partials
        func isFound(as other: String, afterMaking name: String) throws(LocalError) -> Bool {
            let descriptor = try calls.open(
                at: directory.descriptor,
                PathBytes(name.utf8),
                flags: SystemCalls.creationFlags,
                mode: 0o600
            )
            SystemCalls.close(descriptor)
            let found = Result { () throws(LocalError) in
                try directory.status(of: PathBytes(other.utf8)) != nil
            }
            try calls.unlink(at: directory.descriptor, PathBytes(name.utf8))
            return try found.get()
        }
        let probe = "probe-\(PartialName.random().text)"
        return NameFolding(
            ignoresCase: try isFound(as: probe + "A", afterMaking: probe + "a"),
            ignoresNormalization: try isFound(
                as: probe + "e\u{301}",
                afterMaking: probe + "\u{E9}"
            )
        )
    }
}

extension OpenDirectory {
    /// The entry that `name` leads to where the file system takes two names for one; nil if it is
    /// `name` itself.
    func nameFound(by name: some Collection<UInt8>) -> ArraySlice<UInt8>? {
        guard let names = try? DirectoryNames(of: self) else { return nil }
        let folded = String(decoding: name, as: UTF8.self).lowercased()
        var other: ArraySlice<UInt8>?
        for element in names.elements {
            let found = names.bytes(of: element)
            if found.elementsEqual(name) { return nil }
            // Texts are equal whatever the normalization of either.
            if String(decoding: found, as: UTF8.self).lowercased() == folded { other = found }
        }
        return other
    }
}
