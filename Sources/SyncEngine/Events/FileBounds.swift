internal import SyncModel
internal import SyncPlanner

/// The sizes and ages that files and objects must have to be included; nil means no limit.
///
/// Both sides of an item are judged by the same rule: if one of them is outside the bounds, the
/// item is left out, and neither transferred nor deleted. The age of a file is the time since its
/// modification, that of an object the time since it was written. Directories have no bounds.
public struct FileBounds: Sendable, Hashable {
    /// The smallest size, in bytes.
    public var minimumSize: Int64?
    /// The largest size, in bytes.
    public var maximumSize: Int64?
    /// Younger ones are left out.
    public var minimumAge: Duration?
    /// Older ones are left out.
    public var maximumAge: Duration?

    /// Leaves nothing out.
    public init() {}

    /// True if nothing can be left out.
    public var isEmpty: Bool { self == FileBounds() }

    /// The bounds as a line, for comparison with those of another run.
    var text: [UInt8] {
        guard !isEmpty else { return [] }
        let sizes = [minimumSize, maximumSize].map { $0.map { String($0) } ?? "" }
        let ages = [minimumAge, maximumAge].map { $0.map { String($0.components.seconds) } ?? "" }
        return [UInt8]("=\((sizes + ages).joined(separator: ","))\n".utf8)
    }

    /// True if the bounds may leave out a file of this size, whatever its age is.
    func mayExclude(size: Int64) -> Bool {
        minimumAge != nil || maximumAge != nil || isOutside(size)
    }

    /// True if one side of the item is outside the bounds at the time `now`.
    func excludes(_ entry: JoinedEntry, at now: Timestamp) -> Bool {
        guard !isEmpty, !entry.key.isDirectoryMarker else { return false }
        if let file = entry.local?.identity {
            if isOutside(file.size) || isOutside(file.modified, now) { return true }
        }
        guard let object = entry.remote else { return false }
        return isOutside(object.size) || object.lastModified.map { isOutside($0, now) } ?? false
    }

    private func isOutside(_ size: Int64) -> Bool {
        minimumSize.map { size < $0 } ?? false || maximumSize.map { size > $0 } ?? false
    }

    private func isOutside(_ modified: Timestamp, _ now: Timestamp) -> Bool {
        minimumAge.map { modified > now - $0 } ?? false
            || maximumAge.map { modified < now - $0 } ?? false
    }
}
