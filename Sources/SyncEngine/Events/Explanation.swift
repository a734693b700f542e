public import SyncModel

/// What is known of one path, and what each direction would do with it.
public struct Explanation: Sendable, Hashable {
    /// The path beneath the mirror's directory; that of a directory ends in "/".
    public var key: String
    /// The path in a form that is safe to print.
    public var displayKey: String
    /// What both sides last had in common; nil if it was never mirrored.
    public var recorded: Version?
    /// The file or directory; nil if there is none.
    public var local: Version?
    /// The object; nil if there is none.
    public var remote: Version?
    /// What else is in its place or above it, safe to print.
    public var issues: [String]
    /// What each direction would do.
    public var outlooks: [SyncDirection: Outlook]

    /// What one side has.
    public struct Version: Sendable, Hashable {
        /// Bytes; nil for a directory.
        public var size: Int64?
        /// When it was modified or written; nil if that is not known.
        public var time: StoreTime?
        /// The tag of the object, safe to print; nil for a file.
        public var etag: String?
        /// The CRC-64 of the content, if it is known.
        public var crc64: UInt64?
        /// How it is compared with what is recorded; nil where nothing is recorded.
        public var change: Change?
    }

    /// How a side is compared with what is recorded.
    @nonexhaustive
    public enum Change: String, Sendable, Hashable {
        /// As recorded.
        case same
        /// Time or inode are others; only the content can tell.
        case touched
        /// Another version.
        case changed
    }

    /// What a direction would do.
    public struct Outlook: Sendable, Hashable {
        /// What would be done; nil for nothing.
        public var action: ItemAction?
        /// Why, safe to print.
        public var reason: String
        /// The filter rule that decides, and where it is written, safe to print; nil if none does.
        public var rule: String?
        /// True if a filter leaves the path out, which `--delete=excluded` deletes.
        public var isExcluded: Bool
    }
}
