package import SyncModel

/// What is known of one path, and what each direction would do with it.
package struct Explanation: Sendable, Hashable {
    /// The path beneath the mirror's directory; that of a directory ends in "/".
    package var key: String
    /// The path in a form that is safe to print.
    package var displayKey: String
    /// What both sides last had in common; nil if it was never mirrored.
    package var recorded: Version?
    /// The file or directory; nil if there is none.
    package var local: Version?
    /// The object; nil if there is none.
    package var remote: Version?
    /// What else is in its place or above it, safe to print.
    package var issues: [String]
    /// What each direction would do.
    package var outlooks: [SyncDirection: Outlook]

    /// What one side has.
    package struct Version: Sendable, Hashable {
        /// Bytes; nil for a directory.
        package var size: Int64?
        /// When it was modified or written; nil if that is not known.
        package var time: StoreTime?
        /// The tag of the object, safe to print; nil for a file.
        package var etag: String?
        /// The CRC-64 of the content, if it is known.
        package var crc64: UInt64?
        /// How it is compared with what is recorded; nil where nothing is recorded.
        package var change: Change?
        /// True for a record whose file was found to have other content, which nobody wrote.
        package var isDamaged = false
    }

    /// How a side is compared with what is recorded.
    package enum Change: String, Sendable, Hashable {
        /// As recorded.
        case same
        /// Time or inode are others; only the content can tell.
        case touched
        /// Another version.
        case changed
    }

    /// What a direction would do.
    package struct Outlook: Sendable, Hashable {
        /// What would be done; nil for nothing.
        package var action: ItemAction?
        /// Why, safe to print.
        package var reason: String
        /// The filter rule that decides, and where it is written, safe to print; nil if none does.
        package var rule: String?
        /// True if a filter leaves the path out, which `--delete=excluded` deletes.
        package var isExcluded: Bool
        /// Bytes of an upload that the store may copy from the version before, at most.
        package var bytesCopied: Int64 = 0
    }
}
