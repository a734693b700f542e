public import OSSTransfer

/// What came of a read with conditions.
public enum ReadOutcome<Value: Sendable & Hashable>: Sendable, Hashable {
    /// The conditions hold.
    case found(Value)
    /// Status 304: the object is the one that the caller has.
    case notModified
    /// Status 412: the object is another one than the caller wants.
    case preconditionFailed
    /// Status 416: the object has no byte of the range.
    case rangeNotSatisfiable

    /// The value, if there is one.
    public var value: Value? {
        if case .found(let value) = self { value } else { nil }
    }
}

/// An object, or a range of it, in memory.
public struct ObjectContent: Sendable, Hashable {
    /// What the headers say of the whole object.
    public let info: ObjectInfo
    /// The bytes that were asked for.
    public let bytes: [UInt8]

    /// Makes content, for tests and previews.
    public init(info: ObjectInfo, bytes: [UInt8]) {
        self.info = info
        self.bytes = bytes
    }
}
