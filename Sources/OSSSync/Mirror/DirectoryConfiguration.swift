internal import ObjectStorage
internal import SyncEngine

/// The lines of `DIR/.osssync/config`: the link, and defaults of the user's choice.
///
/// The file belongs to the state of the directory, which is its user's alone; no key of a bucket
/// reaches it. What its names mean is the caller's business, but for the link in `[mirror]`.
package struct DirectoryConfiguration: Sendable, Hashable {
    /// A line `key = value`.
    package struct Entry: Sendable, Hashable {
        /// As it is written.
        package let key: String
        /// Without quotes.
        package let value: String
        /// From 1.
        package let line: Int
        /// True for what the link reads itself, such as `remote` in `[mirror]`.
        package let isOfLink: Bool
    }

    /// A section with its lines.
    package struct Section: Sendable, Hashable {
        /// Empty for what stands before the first section.
        package let name: String
        /// From 1.
        package let line: Int
        /// In the order of the file.
        package let entries: [Entry]
    }

    /// The path of the file.
    package let path: String
    /// In the order of the file.
    package let sections: [Section]

    /// Reads the file of a directory; nil if there is none.
    ///
    /// - Throws: `TransferError`: `configuration` if it cannot be parsed, `localState` if the state
    ///   of the directory is not its user's alone.
    package init?(directory: String, stateDirectory: String?) throws(TransferError) {
        let path = Self.path(directory: directory, stateDirectory: stateDirectory)
        let content = try MirrorLink.read(directory: directory, stateDirectory: stateDirectory)
        guard let content else { return nil }
        try self.init(content, path: path)
    }

    init(_ content: [UInt8], path: String) throws(TransferError) {
        self.path = path
        let document = try LinkFile.document(content, path: path)
        let keys = Set(LinkFile.keys.map(INIDocument.normalized))
        sections = document.sections.map { section in
            Section(
                name: section.name,
                line: section.line,
                entries: section.entries.map { entry in
                    Entry(
                        key: entry.key,
                        value: entry.value,
                        line: entry.line,
                        isOfLink: section.name == LinkFile.section
                            && keys.contains(INIDocument.normalized(entry.key))
                    )
                }
            )
        }
    }

    static func path(directory: String, stateDirectory: String?) -> String {
        (stateDirectory ?? directory + "/.osssync") + "/config"
    }
}
