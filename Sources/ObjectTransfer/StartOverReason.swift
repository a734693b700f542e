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

extension StartOverReason: CustomStringConvertible, CustomDebugStringConvertible {
    /// The reason, as a part of a sentence.
    public var description: String {
        switch self {
        case .objectChanged: "the object was replaced"
        case .partialUnusable: "the partial file is gone, or is not what it was"
        case .damaged(let bytes): "\(bytes) bytes of the partial file are not what they were"
        case .foreignCheckpoint: "the checkpoint is of another transfer, or damaged"
        case .fileChanged: "the file is not the one that was being uploaded"
        case .uploadVanished: "the store no longer knows the unfinished upload"
        case .wrongContent: "what came is not the content that the store states"
        }
    }

    /// The same.
    public var debugDescription: String { description }
}
