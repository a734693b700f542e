/// Why a transfer that had begun began again at its first byte, or moved a part of it again.
@nonexhaustive
public enum StartOverReason: Sendable, Hashable {
    /// The object was replaced.
    case objectChanged
    /// The partial file is gone, is shorter than it was, or belongs to another user.
    case partialUnusable
    /// So many bytes of the partial file are not what they were; only their ranges start over.
    case damaged(bytes: Int64)
    /// The checkpoint is of another object, or says what none can.
    case foreignCheckpoint
    /// The file is not the one that was being uploaded.
    case fileChanged
    /// The store no longer knows the unfinished upload.
    case uploadVanished
    /// All bytes came and are not the content that the store states.
    case wrongContent
}
